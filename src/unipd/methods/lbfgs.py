"""The memory of a limited-memory quasi-Newton method (L-BFGS), on the dual as on factors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import inner, norm

TRIALS = 12
"""Trial points of a quasi-Newton step after which it fails."""
_LEAST_CURVATURE = 1e-12
"""Pairs whose <step, change> is at most this multiple of ||step|| ||change|| are left out: where it is not positive, or
is no more than rounding, the inverse Hessian would not remain positive definite."""
_DOUBLES = (np.dtype(np.float64), np.dtype(np.complex128))


def _identity(vector: Array) -> Array:
    return vector


@dataclass(frozen=True)
class LBFGSMemory:
    """The last pairs (step, change of gradient) of a minimisation, and the directions that they give; immutable.

    >>> LBFGSMemory().direction(np.array([2.0, 0.0]))
    array([-2., -0.])
    """

    pairs: tuple[tuple[Array, Array], ...] = ()
    limit: int = 8

    def add_pair(self, step: Array, change: Array) -> LBFGSMemory:
        """Return the memory with one more pair, unless its curvature is not positive."""
        if inner(step, change) <= _LEAST_CURVATURE * norm(step) * norm(change):
            return self
        return LBFGSMemory((*self.pairs, (step, change))[-self.limit :], self.limit)

    def empty(self) -> LBFGSMemory:
        """Return a memory of the same limit without pairs."""
        return LBFGSMemory(limit=self.limit)

    def direction(self, gradient: Array, precondition: Callable[[Array], Array] = _identity) -> Array:
        """Return -H g with H the inverse Hessian of the pairs (two-loop recursion).

        The recursion starts from a multiple of the preconditioner, a symmetric positive definite map.
        """
        direction = -gradient
        shares: list[float] = []
        curvatures = [inner(step, change) for step, change in self.pairs]
        for (step, change), curvature in zip(reversed(self.pairs), reversed(curvatures), strict=True):
            share = inner(step, direction) / curvature
            direction = _axpy(direction, -share, change)
            shares.append(share)
        direction = precondition(direction)
        if self.pairs:
            change = self.pairs[-1][1]
            size = inner(change, precondition(change))
            direction = direction * (curvatures[-1] / size) if size > 0.0 else direction
        for (step, change), curvature, share in zip(self.pairs, curvatures, reversed(shares), strict=True):
            back = inner(change, direction) / curvature
            direction = _axpy(direction, share - back, step)
        return direction


def _axpy(direction: Array, share: float, other: Array) -> Array:
    """Return direction + share * other; in place for contiguous doubles, which saves a pass."""
    if direction.dtype not in _DOUBLES or other.dtype != direction.dtype:
        return direction + share * other
    if not (direction.flags.c_contiguous and other.flags.c_contiguous):
        return direction + share * other
    _blas_axpy()(other.reshape(-1).view(np.float64), direction.reshape(-1).view(np.float64), a=share)
    return direction


@functools.cache
def _blas_axpy() -> Any:
    from scipy.linalg import get_blas_funcs  # loaded when a method first runs

    return get_blas_funcs("axpy", dtype=np.float64)
