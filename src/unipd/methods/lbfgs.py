"""Limited-memory BFGS directions for real-linear problems over real or complex arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

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
        for step, change in reversed(self.pairs):
            share = inner(step, direction) / inner(step, change)
            direction = direction - share * change
            shares.append(share)
        direction = precondition(direction)
        if self.pairs:
            step, change = self.pairs[-1]
            direction = direction * (inner(step, change) / inner(change, precondition(change)))
        for (step, change), share in zip(self.pairs, reversed(shares), strict=True):
            back = inner(change, direction) / inner(step, change)
            direction = direction + (share - back) * step
        return direction
