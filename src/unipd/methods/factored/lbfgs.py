"""Limited-memory BFGS over real or complex factors: directions, and steps with an Armijo line search."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import inner, norm
from unipd.sharp.spectral.factors import Preconditioner

if TYPE_CHECKING:
    from unipd.methods.factored.augmented_lagrangian import Evaluation, FactoredState

ROUNDING = 45.0
"""Relative decrease below which the objective is rounding error, in units of eps: 1e-14 in double precision."""
LONGEST_DIRECTION = 1e6
"""A direction longer than this multiple of the factor comes from pairs that are rounding error."""
_LEAST_CURVATURE = 1e-12
_DOUBLES = (np.dtype(np.float64), np.dtype(np.complex128))


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

    def add_pair(self, step: Array, change: Array) -> Memory:
        """Return the memory with one more pair, unless its curvature is not positive."""
        if inner(step, change) <= _LEAST_CURVATURE * inner(change, change):
            return self
        return Memory((*self.pairs, (step, change))[-self.limit :], self.limit)

    def direction(self, gradient: Array, precondition: Preconditioner = _identity) -> Array:
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


def lbfgs_steps(state: FactoredState, steps: int, enough: float) -> FactoredState:
    """Take quasi-Newton steps; a smooth loss stops when the gap is at most ``enough``."""
    for _ in range(steps):
        memory, gradient = state.memory, state.here.gradient
        direction = memory.direction(gradient, state.model.factors.preconditioner(state.factor))
        slope = inner(direction, gradient)
        if slope >= 0.0 or not norm(direction) <= LONGEST_DIRECTION * norm(state.factor):
            memory, direction = Memory(limit=memory.limit), -gradient
            slope = inner(direction, gradient)
        if slope == 0.0:
            break
        first = 1.0 if memory.pairs else 0.25 * norm(state.factor) / norm(direction)
        accepted = _armijo_search(state, direction, slope, first)
        if accepted is None:
            if not memory.pairs:
                break
            state = replace(state, memory=Memory(limit=memory.limit))
            continue
        length, here, matvecs = accepted
        step = length * direction
        state = replace(
            state,
            factor=state.factor + step,
            here=here,
            memory=memory.add_pair(step, here.gradient - gradient),
            counts=state.counts.plus(0, 0, matvecs),
        )
        if state.model.penalty == 0.0 and here.value - state.certificate.dual_bound <= enough:
            break
    return state


def _armijo_search(
    state: FactoredState, direction: Array, slope: float, length: float
) -> tuple[float, Evaluation, int] | None:
    """Return a step length with sufficient decrease, or None.

    When decreases are rounding error, a smaller slope is accepted instead (Hager and Zhang, 2005).
    """
    matvecs, start = 0, state.here.value
    rounding = state.model.rounding(start, state.factor)
    for _ in range(12):
        here = state.model.evaluate(state.factor + length * direction)
        matvecs += here.matvecs
        if here.value <= start + 1e-4 * length * slope:
            return length, here, matvecs
        if here.value <= start + rounding and abs(inner(here.gradient, direction)) <= -0.9 * slope:
            return length, here, matvecs
        length *= interpolate(length * slope, here.value - start)
    return None


def interpolate(predicted: float, change: float) -> float:
    """Return the factor in [0.1, 0.5] that minimises the parabola with this predicted and actual change of value.

    >>> interpolate(-1.0, 1.0)
    0.25
    """
    excess = change - predicted
    return min(0.5, max(0.1, -0.5 * predicted / excess)) if excess > 0.0 else 0.5
