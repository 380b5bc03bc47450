"""Quasi-Newton steps of the factored method."""

from __future__ import annotations

from dataclasses import replace

from unipd._typing import Array
from unipd.methods.augmented import Evaluation
from unipd.methods.factored_state import FactoredState, target
from unipd.methods.lbfgs import Memory
from unipd.protocols import inner, norm

ROUNDING = 1e-14
"""Relative decrease below which steps are lost in rounding."""
WILD = 1e6
"""A direction so many times longer than the factor comes from pairs that are rounding errors."""


def descended(state: FactoredState, steps: int) -> FactoredState:
    """Take quasi-Newton steps with a backtracking line search."""
    factors = state.model.factors
    enough = 0.5 * target(state.model.problem, state)
    for _ in range(steps):
        direction = state.memory.direction(state.here.gradient, factors.preconditioner(state.factor))
        slope = inner(direction, state.here.gradient)
        memory = state.memory
        if slope >= 0.0 or not norm(direction) <= WILD * norm(state.factor):
            memory = Memory(limit=memory.limit)
            direction = -state.here.gradient
            slope = inner(direction, state.here.gradient)
        if slope == 0.0:
            break
        first = 1.0 if memory.pairs else 0.25 * norm(state.factor) / norm(direction)
        found = _line_search(state, direction, slope, first)
        if found is None:
            if not memory.pairs:
                break
            state = replace(state, memory=Memory(limit=memory.limit))
            continue
        length, here, matvecs = found
        step = length * direction
        memory = memory.extended(step, here.gradient - state.here.gradient)
        counts = state.counts.plus(0, 0, matvecs)
        state = replace(state, factor=state.factor + step, here=here, memory=memory, counts=counts)
        if state.model.penalty == 0.0 and here.value - state.certificate.dual_bound <= enough:
            break
    return state


def _line_search(
    state: FactoredState, direction: Array, slope: float, length: float
) -> tuple[float, Evaluation, int] | None:
    """Return a step length with sufficient decrease, or None.

    Where decreases are lost in rounding, a smaller slope counts in their place (Hager and Zhang, 2005).
    """
    matvecs, start = 0, state.here.value
    for _ in range(12):
        here = state.model.evaluate(state.factor + length * direction)
        matvecs += here.matvecs
        if here.value <= start + 1e-4 * length * slope:
            return length, here, matvecs
        if here.value <= start + ROUNDING * abs(start) and abs(inner(here.gradient, direction)) <= -0.9 * slope:
            return length, here, matvecs
        excess = here.value - start - length * slope
        length *= min(0.5, max(0.1, -0.5 * length * slope / excess)) if excess > 0 else 0.5
    return None
