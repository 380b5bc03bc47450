"""Polishing of spectral points: quasi-Newton steps over their factors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from unipd.atoms import Blocks, LowRank
from unipd.methods.base import State
from unipd.methods.best import error, with_better_bound
from unipd.methods.factored import Factored
from unipd.methods.factored_state import FactoredState, reported
from unipd.primal.factors import as_factors, compress
from unipd.problem import Problem

STEPS = 30
"""Steps of the factored method at most."""
LARGEST_RANK = 64
"""Columns that a point is compressed to before it is polished."""


def polished_factors(problem: Problem, state: State, accuracy: float) -> State:
    """Return the state with the point that some steps of the factored method reach from its own."""
    method = Factored()
    begun = method.start(problem, state.primal, state.certificate.dual, accuracy)
    current = _from_point(problem, begun, _compressed(state.primal.point()))
    best, least = current, math.inf
    for _ in range(STEPS):
        current = method.step(problem, current)
        reached = error(problem, with_better_bound(current.certificate, state.certificate))
        if reached < least:
            best, least = current, reached
        if reached <= accuracy or current.failure is not None:
            break
    work = current.counts
    return replace(
        state,
        primal=best.primal,
        image=best.image,
        mean_objective=best.mean_objective,
        certificate=with_better_bound(best.certificate, current.certificate),
        counts=state.counts.plus(work.oracle_calls, work.trials, work.matvecs),
    )


def _from_point(problem: Problem, begun: FactoredState, point: Any) -> FactoredState:
    """Return the state at a given point: its factor takes the place of the first one."""
    factor = begun.model.factors.joined(begun.factor, point, 1.0)
    here = begun.model.evaluate(factor)
    counts = begun.counts.plus(0, 0, here.matvecs)
    return reported(problem, replace(begun, factor=factor, here=here, counts=counts))


def _compressed(point: Any) -> Any:
    if isinstance(point, Blocks):
        return Blocks(tuple(_compressed(part) if len(part.shape) == 2 else part for part in point.parts))
    factors = as_factors(point)
    return compress(factors, LARGEST_RANK)[0] if isinstance(factors, LowRank) and factors.rank > 1 else factors
