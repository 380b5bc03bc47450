"""Multipliers and penalty of the factored method: when they move, and how accurate the steps between must be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unipd.dual import DualPoint
from unipd.methods.factored_state import FactoredState, target
from unipd.methods.lbfgs import Memory
from unipd.problem import Problem

GROWTH = 3.0
"""Factor by which the penalty grows when feasibility lags."""
LEAST_AIM = 1e-2
"""Factor by which the stationarity asked for falls at most between two calls of the oracle."""


def first_penalty(problem: Problem, point: DualPoint, first: Any) -> float:
    """Return sigma_0 = 2 |f| / ||b||^2: the penalty of X = 0 weighs as much as the objective of a typical point.

    Typical is the larger of the atom and the first point: an atom that minimises f may well have f = 0.
    """
    typical = max(abs(point.objective), abs(problem.sharp.objective(first)), 1e-3)
    return 2.0 * typical / max(problem.norm_b**2, 1e-9)


def with_new_multipliers(problem: Problem, state: FactoredState) -> FactoredState:
    """Move the multipliers to the dual vector at hand; raise the penalty only when feasibility lags."""
    infeasibility = state.certificate.infeasibility
    lags = infeasibility > 0.25 * state.least_infeasibility and infeasibility > 0.3 * state.accuracy * max(
        1.0, problem.norm_b
    )
    penalty = state.model.penalty * (GROWTH if lags else 1.0)
    model = state.model.at(state.here.dual, penalty)
    here = model.evaluate(state.factor)
    feasible = infeasibility <= 0.1 * state.accuracy * max(1.0, problem.norm_b)
    floor = (LEAST_AIM if feasible else 0.1) * state.accuracy
    return replace(
        state,
        model=model,
        here=here,
        memory=Memory(limit=state.memory.limit),
        counts=state.counts.plus(0, 0, here.matvecs),
        inner_tolerance=max(0.3 * state.inner_tolerance, floor),
        least_infeasibility=min(infeasibility, state.least_infeasibility),
    )


def with_aim(problem: Problem, state: FactoredState, reached: float) -> FactoredState:
    """Return the state with the stationarity at which to ask the oracle next, constraints holding by construction.

    The gap falls about as fast as the stationarity does; the aim is a gap of a third of the accuracy.
    """
    share = target(problem, state) / max(3.0 * abs(state.certificate.gap), 1e-300)
    aim = reached * min(max(share, LEAST_AIM), 0.3)
    return replace(state, inner_tolerance=max(aim, LEAST_AIM * state.accuracy))
