"""Limited-memory BFGS directions for real-linear problems over real or complex arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from unipd._typing import Array
from unipd.protocols import inner

_CURVATURE = 1e-12
Preconditioner: TypeAlias = Callable[[Array], Array]


def _identity(vector: Array) -> Array:
    return vector


@dataclass(frozen=True)
class Memory:
    """The last pairs (step, change of gradient) of a minimisation; immutable.

    >>> import numpy as np
    >>> Memory().direction(np.array([2.0, 0.0]))
    array([-2., -0.])
    """

    pairs: tuple[tuple[Array, Array], ...] = ()
    limit: int = 8

    def extended(self, step: Array, change: Array) -> Memory:
        """Return the memory with one more pair, unless its curvature is not positive."""
        if inner(step, change) <= _CURVATURE * inner(change, change):
            return self
        return Memory((*self.pairs, (step, change))[-self.limit :], self.limit)

    def direction(self, gradient: Array, precondition: Preconditioner = _identity) -> Array:
        """Return -H g with H the inverse Hessian that the pairs describe (two-loop recursion).

        The recursion starts from a multiple of the preconditioner, a symmetric positive definite map.
        """
        direction = -gradient
        shares: list[float] = []
        curvatures = [inner(step, change) for step, change in self.pairs]
        for (step, change), curvature in zip(reversed(self.pairs), reversed(curvatures), strict=True):
            share = inner(step, direction) / curvature
            direction = _add(direction, -share, change)
            shares.append(share)
        direction = precondition(direction)
        if self.pairs:
            change = self.pairs[-1][1]
            direction = direction * (curvatures[-1] / inner(change, precondition(change)))
        for (step, change), curvature, share in zip(self.pairs, curvatures, reversed(shares), strict=True):
            back = inner(change, direction) / curvature
            direction = _add(direction, share - back, step)
        return direction


def _add(direction: Array, share: float, other: Array) -> Array:
    """Return direction + share * other; in place where both are contiguous doubles, since that saves a pass."""
    if direction.dtype not in _DOUBLES or other.dtype != direction.dtype:
        return direction + share * other
    if not (direction.flags.c_contiguous and other.flags.c_contiguous):
        return direction + share * other
    _axpy()(other.reshape(-1).view(np.float64), direction.reshape(-1).view(np.float64), a=share)
    return direction


_DOUBLES = (np.dtype(np.float64), np.dtype(np.complex128))


@functools.cache
def _axpy() -> Any:
    from scipy.linalg import get_blas_funcs  # loaded when a method first runs

    return get_blas_funcs("axpy", dtype=np.float64)
