"""The top eigenvalue of a large sparse matrix by the bare Lanczos recurrence, compiled.

The bottom of a slack matrix is a cluster at zero: it takes thousands of steps to tell it apart, for which a basis that
is kept and reorthogonalised is far too dear. The recurrence keeps three vectors; a Ritz vector is added up in a second
run. What its coefficients prove is in :mod:`unipd.spectral.polynomial_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd.errors import OracleError
from unipd.maps.sdp.operator import SymmetricOperator
from unipd.pulse import beat
from unipd.spectral.polynomial_bound import bracket_of_run, weight_quantile


@dataclass(frozen=True)
class TopEigenvalue:
    """What a run tells about the top eigenvalue."""

    lower: float
    """The largest Ritz value."""
    upper: float
    """Upper bound, wrong with the probability asked for."""
    vector: Array | None
    """A unit Ritz vector, when asked for."""
    matvecs: int


def serves(operator: Any) -> bool:
    """Whether an operator is one that the compiled recurrence knows: sparse, of double precision, all rows here."""
    return (
        type(operator) is SymmetricOperator
        and operator.coefficients.size == 0
        and operator.dtype == np.dtype(np.float64)
    )


def top_eigenvalue(
    operator: SymmetricOperator, width: float, delta: float, steps: int, seed: list[int], *, vector: bool = False
) -> TopEigenvalue:
    """Run Lanczos from a random vector until the bracket of the top eigenvalue is as narrow as ``width``.

    Parameters
    ----------
    operator
        The symmetric matrix; it must not depend on the random vector of this seed.
    width
        Stop once upper and lower bound are this close.
    delta
        Probability with which the upper bound may be wrong.
    steps
        Largest number of steps.
    seed
        Words of the seed of the starting vector.
    vector
        Whether a Ritz vector is wanted (costs the products once more).

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((3, 3), Entries.from_matrices([np.diag([1.0, 3.0, 2.0])]), 1).adjoint(np.ones(1))
    >>> found = top_eigenvalue(operator, 1e-9, 1e-9, 10, [0], vector=True)
    >>> round(found.lower, 9), abs(found.vector).round(6) + 0.0
    (3.0, array([0., 1., 0.]))
    """
    from unipd.maps.sdp import kernels  # compiled on first use

    order = operator.shape[0]
    start = np.random.default_rng(seed).standard_normal(order)
    start /= np.linalg.norm(start)
    alpha, beta, work = np.empty(steps), np.empty(steps), _work(start)
    matrix = (operator.starts, operator.indices, operator.data)
    weight = weight_quantile(order, delta, False)
    eps = float(np.finfo(np.float64).eps)
    done, look = 0, 48
    while True:
        before, wanted = done, min(look, steps)
        done = kernels.lanczos_steps(*matrix, work, alpha, beta, before, wanted, _NONE, _NONE)
        beat("eigenvector", done - before)
        if not (np.isfinite(alpha[:done]).all() and np.isfinite(beta[:done]).all()):
            raise OracleError("a product with the operator has entries that are NaN or infinite")
        lower, upper = bracket_of_run(alpha[:done].tolist(), beta[:done].tolist(), weight)
        upper += eps * (8.0 + done) * float((np.abs(alpha[:done]) + beta[:done]).max())
        if done < wanted or done >= steps or beta[done - 1] == 0.0 or upper - lower <= width:
            break
        look += look // 2
    if not vector:
        return TopEigenvalue(lower, upper, None, done)
    shares = _top_of(alpha[:done], beta[: done - 1])
    total = np.zeros(order)
    kernels.lanczos_steps(*matrix, _work(start), alpha, beta, 0, done, shares, total)
    beat("eigenvector", done)
    return TopEigenvalue(lower, upper, total / np.linalg.norm(total), 2 * done)


_NONE = np.zeros(0)


def _work(start: Array) -> Array:
    out = np.zeros((3, start.size))
    out[1] = start
    return out


def _top_of(alpha: Array, beta: Array) -> Array:
    """Return the top eigenvector of a tridiagonal matrix."""
    if alpha.size == 1:
        return np.ones(1)
    last = alpha.size - 1
    return scipy.linalg.eigh_tridiagonal(alpha, beta, select="i", select_range=(last, last))[1][:, 0]
