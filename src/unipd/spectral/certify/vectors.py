"""Certified upper bounds around vectors already found: what makes an oracle's answer a certificate.

With orthonormal columns Q (one for each wanted eigenvalue), Theta = Q^* M Q, R = M Q - Q Theta = W T (QR), and any
mu that bounds M on the complement of Q from above, M is below the block matrix with mu I in place of its last block,

    M <= [[Theta, R^*], [R, mu I]]   (Loewner order),

so the sum of the k largest eigenvalues of the small matrix [[Theta, T^*], [T, mu I]] is above that of M: for k = 1
and a gap it exceeds Theta by about ||R||^2 / (Theta - mu) only. mu is rigorous or comes from a deflated Lanczos run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd.errors import InvalidInput, OracleError
from unipd.spectral.certify.probabilistic import Certification, Certified, bracket
from unipd.spectral.certify.rigorous import array_of, entries_of, gram_norm_upper, norm_bound, rigorous_upper
from unipd.spectral.krylov import length_of
from unipd.spectral.operators import Gram, Products, finite_bound, frobenius, rounding_allowance
from unipd.spectral.results import PROBABILISTIC, RIGOROUS

_DEFAULT = Certification()


def certify_eigenvalues(
    operator: Any, vectors: Array, kind: str, plan: Certification = _DEFAULT, tolerance: float = 0.0
) -> Certified:
    """Bracket the sum of the k largest eigenvalues of a Hermitian operator, given k orthonormal vectors.

    Parameters
    ----------
    operator
        The Hermitian matrix or operator.
    vectors
        Approximate eigenvectors as columns.
    kind
        "probabilistic" or "rigorous". Rigorous bounds need a matrix that is small enough to be made dense,
        a matrix to factorise (k = 1), or a ``norm_bound``.
    plan
        Failure probability, steps, seed and limits.
    tolerance
        Width of the bracket that is good enough.

    Returns
    -------
    Certified

    Raises
    ------
    InvalidInput
        If ``kind`` is another word.

    See Also
    --------
    certify_singular_value, Certified

    Examples
    --------
    >>> found = certify_eigenvalues(np.diag([3.0, 2.0, 1.0]), np.eye(3)[:, :1], "probabilistic")
    >>> round(found.lower, 9), round(found.upper, 9), found.bound_kind
    (3.0, 3.0, 'probabilistic')
    """
    products = Products(operator, hermitian=True)
    if kind == PROBABILISTIC:
        return _probabilistic(products, vectors, plan, lambda low, up: up - low <= tolerance)
    if kind != RIGOROUS:
        raise InvalidInput("certify", '"probabilistic" or "rigorous"', repr(kind))
    count = vectors.shape[1]
    lower = float(np.trace(_project(products, vectors)[0]).real)
    if products.shape[0] <= plan.dense_limit:
        matrix = array_of(products)
        values = scipy.linalg.eigvalsh(matrix, check_finite=False)
        upper = float(values[-count:].sum()) + count * rounding_allowance(matrix, float(np.abs(values).max()))
    elif products.explicit and count == 1:
        upper = rigorous_upper(products.operator, lower)
    else:
        upper = count * _by_norm(operator)
    return Certified(max(upper, lower), lower, 0.0, products.count, RIGOROUS)


def certify_singular_value(
    operator: Any,
    left: Array,
    right: Array,
    kind: str,
    plan: Certification = _DEFAULT,
    tolerance: float = 0.0,
) -> Certified:
    """Bracket the largest singular value, given approximate singular vectors.

    Parameters
    ----------
    operator
        The matrix or operator.
    left, right
        Approximate singular vectors, as columns.
    kind, plan, tolerance
        As in :func:`certify_eigenvalues`.

    Returns
    -------
    Certified

    Raises
    ------
    InvalidInput
        If ``kind`` is another word.

    See Also
    --------
    certify_eigenvalues, Certified

    Examples
    --------
    >>> e = np.eye(3)[:, :1]
    >>> certify_singular_value(np.diag([3.0, 2.0, 1.0]), e, e, "rigorous").upper.__round__(9)
    3.0
    """
    products = Products(operator)
    if kind == PROBABILISTIC:
        vector = right if products.shape[1] <= products.shape[0] else left
        gram = Gram(operator)
        found = _probabilistic(gram, vector, plan, lambda low, up: gram.root(up) - gram.root(low) <= tolerance)
        return replace(found, upper=finite_bound(gram.root(found.upper)), lower=gram.root(found.lower))
    if kind != RIGOROUS:
        raise InvalidInput("certify", '"probabilistic" or "rigorous"', repr(kind))
    lower = length_of(products.forward(right[:, :1])[:, 0].copy())
    small = min(products.shape) <= plan.dense_limit
    upper = gram_norm_upper(entries_of(products)) if small else _by_norm(operator)
    return Certified(max(upper, lower), lower, 0.0, products.count, RIGOROUS)


def _probabilistic(
    products: Products | Gram, vectors: Array, plan: Certification, close: Callable[[float, float], bool]
) -> Certified:
    """Bound M on the complement by a deflated run, and join it with what Q knows."""
    before = products.count
    inside, coupling = _project(products, vectors)
    lower = float(np.trace(inside).real)
    size = frobenius(inside) + frobenius(coupling)
    allowance = 16.0 * float(np.finfo(products.dtype).eps) * size * len(inside)

    def enough(low: float, up: float) -> bool:
        above = block_upper_bound(inside, coupling, up)
        if above - block_upper_bound(inside, coupling, low) <= 1e-2 * (above - lower):
            return True
        return close(lower, above)

    rest = bracket(products, plan, enough, vectors)
    upper = block_upper_bound(inside, coupling, rest.upper) if math.isfinite(rest.upper) else lower
    return Certified(upper + allowance, lower, plan.delta, products.count - before, PROBABILISTIC)


def block_upper_bound(inside: Array, coupling: Array, outside: float) -> float:
    """Return the sum of the k largest eigenvalues of [[Theta, T^*], [T, mu I]].

    >>> block_upper_bound(np.array([[1.0]]), np.array([[0.0]]), 0.5)
    1.0
    """
    count = len(inside)
    block = np.block([[inside, coupling.conj().T], [coupling, outside * np.eye(count)]])
    return float(np.linalg.eigvalsh(block)[-count:].sum())


def _project(products: Products | Gram, vectors: Array) -> tuple[Array, Array]:
    """Return Theta = Q^* M Q and T with M Q - Q Theta = W T, W orthonormal, in double precision."""
    wide = np.result_type(products.dtype, np.float64)
    images = products.forward(vectors).astype(wide)
    basis = vectors.astype(wide)
    inside = basis.conj().T @ images
    inside = 0.5 * (inside + inside.conj().T)
    return inside, np.linalg.qr(images - basis @ inside)[1]


def _by_norm(operator: Any) -> float:
    bound = norm_bound(operator)
    if bound is None:
        raise OracleError(
            "no rigorous bound: the operator is too large to be made dense and has no norm_bound(); "
            'use certify="probabilistic"'
        )
    return bound
