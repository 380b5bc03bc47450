"""Rigorous upper bounds, whatever rounding did.

Norm bounds, definiteness by factorisation, the smaller Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util import validate
from unipd.errors import InvalidInput, OracleError
from unipd.spectral.operators import (
    Products,
    as_operator,
    exponent_of,
    is_explicit,
    is_small,
    largest_part,
    rounding_allowance,
    times_power,
    working_dtype,
)


def norm_bound(operator: Any) -> float | None:
    """Return an upper bound on the largest singular value without any product, or None when none is at hand.

    Matrices: the smaller of the Frobenius norm and sqrt(||M||_1 ||M||_inf). Operators: their own ``norm_bound()``.

    Parameters
    ----------
    operator
        An array, a sparse matrix, or an operator.

    Raises
    ------
    OracleError
        If the operator's own bound is negative or not finite.

    See Also
    --------
    certified_upper

    Examples
    --------
    >>> norm_bound(np.array([[1.0, 1.0], [1.0, 1.0]])).__round__(6)
    2.0
    """
    if isinstance(operator, np.ndarray) or scipy.sparse.issparse(operator):
        return _matrix_norm_bound(operator)
    bound = as_operator(operator).norm_bound()
    if bound is not None and not (math.isfinite(bound) and bound >= 0.0):
        raise OracleError(f"norm_bound() of {type(operator).__name__} returned {bound}")
    return None if bound is None else float(bound)


def _matrix_norm_bound(matrix: Any) -> float:
    moduli: Any = abs(matrix).astype(np.float64)
    exponent = exponent_of(float(moduli.max()))
    moduli = moduli * 2.0**-exponent
    squares = moduli.multiply(moduli) if scipy.sparse.issparse(moduli) else moduli * moduli
    norm = math.sqrt(float(squares.sum()))
    mixed = math.sqrt(float(moduli.sum(axis=0).max()) * float(moduli.sum(axis=1).max()))
    eps = float(np.finfo(working_dtype(matrix.dtype)).eps)
    return times_power(min(norm, mixed) * (1.0 + (4.0 + sum(matrix.shape)) * eps), exponent)


def affords_rigorous(operator: Any, hermitian: bool, limit: int) -> bool:
    """Whether a rigorous bound takes a moment, and no array of the matrix's shape unless the matrix is small.

    Only operators that are known by their products alone are made dense for it: the longer side counts as well.

    >>> affords_rigorous(np.ones((2, 900)), False, 10), affords_rigorous(np.ones((20, 20)), False, 10)
    (True, False)
    """
    if hermitian and is_explicit(operator):
        return not scipy.sparse.issparse(operator) or bound_fill(operator) <= LARGEST_FILL
    return min(operator.shape) <= limit if knows_entries(operator) else is_small(operator.shape, limit)


LARGEST_FILL = 1 << 26
"""Entries that a factor of a sparse matrix may have at most: about 1 GB, and less by the ordering that is used."""


def bound_fill(matrix: Any) -> int:
    """Return the entries of a band that holds a sparse symmetric matrix and its factor, after reordering.

    >>> bound_fill(scipy.sparse.eye_array(10_000)), bound_fill(scipy.sparse.csr_array(np.ones((3, 3))))
    (10000, 9)
    """
    order = matrix.shape[0]
    if order**2 <= LARGEST_FILL and matrix.nnz > order:
        return order**2
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    entries: Any = scipy.sparse.coo_array(matrix)
    place = np.empty(order, np.int64)
    place[reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)] = np.arange(order)
    return order * (1 + int(np.abs(place[entries.row] - place[entries.col]).max(initial=0)))


def knows_entries(operator: Any) -> bool:
    """Whether the entries are at hand without products: an array, a sparse matrix, an operator with ``tocsr``."""
    return is_explicit(operator) or hasattr(operator, "tocsr")


def entries_of(products: Products) -> Any:
    """Return the matrix as it is known, an array or a sparse matrix; by products where nothing is known."""
    operator = products.operator
    if products.explicit:
        return operator
    return operator.tocsr() if knows_entries(operator) else products.dense()


def array_of(products: Products) -> Array:
    """Return the matrix as an array, without products where its entries are known."""
    matrix = entries_of(products)
    return np.asarray(matrix.toarray() if scipy.sparse.issparse(matrix) else matrix).astype(products.dtype, copy=False)


def cholesky_bound(operator: Any, shift: float) -> float | None:
    """Return a proved lower bound on the smallest eigenvalue of S when S + shift I factorises, else None.

    A Cholesky factorisation of B that runs to its end in floating point proves B + E psd for an
    ||E|| <= gamma tr(B), gamma = (n + 2) u / (1 - (n + 2) u) with u the unit of rounding (Demmel; Rump, 2006);
    hence lambda_min(S) >= -shift - gamma tr(B), up to the rounding of the diagonal, which is counted too. A sparse S is
    factorised as L D L^* with D > 0, whose distance to the matrix is then bounded entry by entry.

    Parameters
    ----------
    operator
        S, Hermitian: an array, a sparse matrix, or an operator with ``toarray``.
    shift
        What is added to the diagonal.

    Raises
    ------
    InvalidInput
        If S is not square or not finite.

    See Also
    --------
    smallest_eigenpair

    Examples
    --------
    >>> matrix = np.diag([1.0, -2.0])
    >>> round(cholesky_bound(matrix, 2.5), 6), cholesky_bound(matrix, 1.5)
    (-2.5, None)
    """
    validate.number("shift", shift)
    if operator.shape[0] != operator.shape[-1]:
        raise InvalidInput("operator", "a square matrix", f"shape {operator.shape}")
    if scipy.sparse.issparse(operator):
        return -shift if _is_psd_sparse(operator, shift) else None
    matrix = validate.finite_array("operator", as_dense(operator), ndim=2)
    shifted, order = matrix.copy(), matrix.shape[0]
    shifted.flat[:: order + 1] += shift
    diagonal = np.real(shifted.diagonal()).copy()
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    gamma = _gamma(order + 2, matrix.dtype)
    return -shift - gamma * float(diagonal.sum()) - _EPS * (float(diagonal.max()) + abs(shift)) - _ZERO_MARGIN


@dataclass(frozen=True)
class SmallestEigenpair:
    """The smallest eigenvalue of S, its eigenvector, and a proved bound from below."""

    value: float
    """theta, as computed."""
    vector: Array
    """A unit eigenvector."""
    lower: float
    """Proved: the smallest eigenvalue is at least this."""


def smallest_eigenpair(operator: Any) -> SmallestEigenpair:
    """Return the smallest eigenpair by a dense eigensolver, with a bound proved by :func:`cholesky_bound`.

    Parameters
    ----------
    operator
        S, symmetric: an array, or an operator with ``toarray``.

    See Also
    --------
    cholesky_bound, top_eigenvalue

    Examples
    --------
    >>> pair = smallest_eigenpair(np.diag([1.0, -2.0]))
    >>> round(pair.value, 9), pair.lower <= -2.0
    (-2.0, True)
    """
    matrix = as_dense(operator)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[0, 0])
    theta = float(values[0])
    size = float(np.abs(matrix).sum(axis=1).max())
    margin = max(matrix.shape[0] * _EPS * size, _ZERO_MARGIN)
    lower = None
    while lower is None:
        lower = cholesky_bound(matrix, margin - theta)
        margin *= 4.0
    return SmallestEigenpair(theta, vectors[:, 0], lower)


def as_dense(operator: Any) -> Array:
    """Return a Hermitian operator, array or sparse matrix as an array in double precision."""
    matrix = operator if isinstance(operator, np.ndarray) else operator.toarray()
    return matrix.astype(np.result_type(matrix, np.float64), copy=False)


def rigorous_upper(matrix: Any, estimate: float) -> float:
    """Return a proven upper bound on the largest eigenvalue near an estimate, by factorising t I - M.

    Tries t = estimate + width for widths that grow from ``_RESOLUTION`` times the size of M by factors of 10; when
    none is proven the Gershgorin bound is returned.

    >>> 3.0 <= rigorous_upper(np.diag([3.0, 1.0]), 3.0) < 3.0 + 1e-6
    True
    """
    exponent = exponent_of(float(abs(matrix).max()))
    if abs(exponent) > _USUAL:
        scaled, unit = matrix * 2.0**-exponent, 2.0**-exponent
        return times_power(rigorous_upper(scaled, estimate * unit), exponent)
    ceiling = gershgorin_upper(matrix)
    width = _RESOLUTION * max(abs(ceiling), abs(estimate), np.finfo(np.float64).tiny)
    for _ in range(_ATTEMPTS):
        if estimate + width >= ceiling:
            break
        lower = cholesky_bound(-matrix, estimate + width)
        if lower is not None:
            return -lower
        width *= 10.0
    return ceiling


def gershgorin_upper(matrix: Any) -> float:
    """Return max_i (Re M_ii + sum_{j != i} |M_ij|), which no eigenvalue of a Hermitian matrix exceeds.

    >>> round(gershgorin_upper(np.array([[1.0, -2.0], [-2.0, 0.0]])), 9)
    3.0
    """
    moduli = abs(matrix)
    diagonal = np.asarray(matrix.diagonal())
    sums = np.asarray(moduli.sum(axis=1), np.float64).reshape(-1)
    reach = np.real(diagonal) + sums - np.abs(diagonal)
    eps = float(np.finfo(working_dtype(matrix.dtype)).eps)
    return float(reach.max() + 2.0 * matrix.shape[0] * eps * sums.max())


def _is_psd_sparse(matrix: Any, shift: float) -> bool:
    """Factorise M + (shift - margin) I = L D L^* + E and check ||E|| <= margin, widening the margin if need be."""
    shifted = matrix.astype(np.result_type(matrix.dtype, np.float64)) + shift * scipy.sparse.eye_array(matrix.shape[0])
    largest = float(shifted.diagonal().real.max())
    if shifted.diagonal().real.min() <= 0.0:
        return False
    margin = 8.0 * _gamma(64, shifted.dtype) * largest
    for _ in range(3):
        error = _factor_error(shifted, margin)
        if error is None:
            return False
        if error + 4.0 * _EPS * (largest + margin) <= margin:
            return True
        margin = 2.0 * error
    return False


def _factor_error(shifted: Any, margin: float) -> float | None:
    """Return a bound on ||M - margin I - L D L^*|| for the computed factors, or None when D > 0 fails.

    The factors satisfy M + E = L U with |E| <= gamma |L| |U| entry by entry, and U differs from D L^* by a G that
    is at hand, so ||gamma |L| |U| 1|| + |||L| |G| 1|| in the maximum norm bounds the distance.
    """
    from scipy.sparse.linalg import splu

    size = shifted.shape[0]
    try:
        factors: Any = splu(
            (shifted - margin * scipy.sparse.eye_array(size)).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None
    pivots = factors.U.diagonal().real
    if not np.array_equal(factors.perm_r, factors.perm_c) or pivots.min() <= 0.0:
        return None
    lower, upper = factors.L, factors.U
    difference = abs(upper - scipy.sparse.diags_array(pivots) @ lower.conj().T)
    ones = np.ones(size)
    products = abs(lower) @ (_gamma(size + 2, shifted.dtype) * (abs(upper) @ ones) + difference @ ones)
    return 2.0 * float(np.max(products))


_USUAL = 200
"""Matrices whose largest entry is within 2 to this power (and its inverse) are factorised as they are."""
_EPS = float(np.finfo(np.float64).eps)
_RESOLUTION, _ATTEMPTS = 1e-9, 12
"""The first width tried, relative to the size of the matrix, and how many are."""
_ZERO_MARGIN = 1e-290
"""Margin for zero matrices, far above the smallest double."""


def _gamma(terms: int, dtype: Any) -> float:
    """Return the rounding constant of a sum of ``terms`` products (twice the usual; complex products round more)."""
    rounding = (4.0 if np.dtype(dtype).kind == "c" else 1.0) * terms * _EPS
    return rounding / (1.0 - rounding)


BLOCK_ENTRIES = 1 << 19
"""Entries of the blocks of columns that are made dense, one after the other."""
_DENSE_SPEED = 64
"""Multiplications of a dense block product in the time of one multiplication of a sparse product."""


def gram_norm_upper(matrix: Any) -> float:
    """Return an upper bound on the largest singular value of an array or a sparse matrix, which is never copied whole.

    M M^* of the shorter side is summed over blocks of columns, or is a sparse product where that is less work. With
    at most l nonzero terms in a sum, entry (i, j) is off by at most gamma_l |m_i| |m_j| for rows m_i, in whatever
    order they are added, so the whole by at most gamma_l ||M||_F^2 in norm; the eigenvalues add the error of LAPACK.
    Both are counted, in double precision, for M scaled by a power of two so that no square leaves the range. The root
    halves the relative error of the top eigenvalue, the only one that counts. This takes a fraction of the time of a
    singular value decomposition.

    >>> gram_norm_upper(np.diag([3.0, 2.0, 1.0])).__round__(9)
    3.0
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    sparse = scipy.sparse.issparse(wide)
    wide = _compress_columns(wide) if sparse else wide
    size = largest_part(wide.data) if sparse else max(map(largest_part, _blocks(wide)))
    if size == 0.0:
        return 0.0
    exponent = exponent_of(size)
    gram = _sparse_gram(wide, 2.0**-exponent) if sparse else _gram(_blocks(wide), 2.0**-exponent)
    terms = int(np.bincount(wide.indices).max()) if sparse else wide.shape[1]
    values = scipy.linalg.eigvalsh(gram, check_finite=False)
    eps = float(np.finfo(gram.dtype).eps)
    allowance = 4.0 * (terms + 4) * eps * float(np.trace(gram).real) + rounding_allowance(gram, float(values[-1]))
    root = math.sqrt(max(float(values[-1]), 0.0) + allowance) * (1.0 + 8.0 * eps)
    return times_power(root, exponent)


def _compress_columns(wide: Any) -> Any:
    """Return the columns that are not empty, in double precision and with one entry per place."""
    columns = scipy.sparse.csc_array(wide, dtype=np.result_type(wide.dtype, np.float64), copy=True)
    columns.sum_duplicates()
    return columns[:, np.diff(columns.indptr) > 0]


def _sparse_gram(columns: Any, scale: float) -> Array:
    scaled = columns * scale
    lengths = np.diff(scaled.indptr).astype(np.float64)
    if _DENSE_SPEED * float(lengths @ lengths) <= math.prod(scaled.shape) * float(scaled.shape[0]):
        return (scaled @ scaled.conj().T).toarray()
    return _gram((block.toarray() for block in _blocks(scaled)), 1.0)


def _blocks(wide: Any) -> Iterator[Any]:
    rows, columns = wide.shape
    width = max(1, BLOCK_ENTRIES // rows)
    return (wide[:, low : low + width] for low in range(0, columns, width))


def _gram(blocks: Iterator[Array], scale: float) -> Array:
    """Return the sum of B B^* over scaled blocks B, in double precision."""
    total: Any = 0.0
    for block in blocks:
        scaled = block.astype(np.result_type(block.dtype, np.float64))
        scaled *= scale
        product = scaled @ scaled.conj().T
        total = product if isinstance(total, float) else np.add(total, product, out=total)
    return total
