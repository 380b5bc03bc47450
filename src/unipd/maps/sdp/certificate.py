"""Rigorous lower bounds of the smallest eigenvalue of a symmetric matrix, through dense factorisations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd import validate
from unipd._typing import Array


@dataclass(frozen=True)
class SmallestEigenpair:
    """The smallest eigenvalue of S, its eigenvector, and a proved bound from below."""

    value: float
    """theta, as computed."""
    vector: Array
    """A unit eigenvector."""
    lower: float
    """Proved: the smallest eigenvalue is at least this."""


def cholesky_bound(operator: Any, shift: float) -> float | None:
    """Return a proved lower bound of the smallest eigenvalue of S when S + shift I factorises, else None.

    A Cholesky factorisation of B that runs to its end in floating point proves B + E psd for an
    ||E|| <= gamma tr(B), gamma = (n + 2) u / (1 - (n + 2) u) with u the unit of rounding (Demmel; Rump, 2006);
    hence lambda_min(S) >= -shift - gamma tr(B), up to the rounding of the diagonal, which is counted too.

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, -2.0])]), 1).adjoint(np.ones(1))
    >>> round(cholesky_bound(operator, 2.5), 6), cholesky_bound(operator, 1.5)
    (-2.5, None)
    """
    return _bound(operator.toarray().astype(np.float64, copy=False), validate.number("shift", shift))


def smallest_eigenpair(operator: Any) -> SmallestEigenpair:
    """Return the smallest eigenpair by a dense eigensolver, with a bound proved by :func:`cholesky_bound`.

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, -2.0])]), 1).adjoint(np.ones(1))
    >>> pair = smallest_eigenpair(operator)
    >>> round(pair.value, 9), pair.lower <= -2.0
    (-2.0, True)
    """
    matrix = operator.toarray().astype(np.float64, copy=False)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[0, 0])
    theta = float(values[0])
    size = float(np.abs(matrix).sum(axis=1).max())
    margin = max(matrix.shape[0] * float(np.finfo(np.float64).eps) * size, _SMALL)
    lower = None
    while lower is None:
        lower = _bound(matrix, margin - theta)
        margin *= 4.0
    return SmallestEigenpair(theta, vectors[:, 0], lower)


def _bound(matrix: Array, shift: float) -> float | None:
    order = matrix.shape[0]
    shifted = matrix.copy()
    shifted.flat[:: order + 1] += shift
    diagonal = shifted.diagonal().copy()
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=True)
    except scipy.linalg.LinAlgError:
        return None
    unit = float(np.finfo(np.float64).eps)
    gamma = (order + 2) * unit / (1.0 - (order + 2) * unit)
    return -shift - gamma * float(diagonal.sum()) - unit * (float(diagonal.max()) + abs(shift)) - _SMALL


_SMALL = 1e-290
"""A margin for matrices that are zero, far above the smallest double."""
