"""The state of the factored method, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from unipd._typing import Array
from unipd.methods.augmented import Augmented, Evaluation
from unipd.methods.base import State, primal_certificate
from unipd.methods.lbfgs import Memory
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import norm


@dataclass(frozen=True)
class JudgedState(State):
    """State of a method that moves by itself, and asks the oracle for its word."""

    accuracy: float
    """Relative accuracy asked for."""
    recent_atom: Any
    """The last atom of the oracle."""


AnyJudged = TypeVar("AnyJudged", bound=JudgedState)


@dataclass(frozen=True)
class FactoredState(JudgedState):
    """State of the factored method."""

    model: Augmented
    """The objective over the factor: loss, or augmented Lagrangian with multipliers and penalty."""
    factor: Array
    """R."""
    here: Evaluation
    """The model at R."""
    memory: Memory
    """Pairs of the quasi-Newton directions."""
    inner_tolerance: float
    """Relative stationarity at which the multipliers move (constrained problems)."""
    least_infeasibility: float
    """Smallest infeasibility at a move of the multipliers so far."""
    radius: float = 0.0
    """Radius of the trust region of Newton steps; 0 before the first."""


def stationarity(state: FactoredState) -> float:
    """Return ||grad|| ||R||: to first order, what a step of the length of R itself could gain."""
    return norm(state.here.gradient) * norm(state.factor)


def target(problem: Problem, state: JudgedState) -> float:
    """Return the absolute accuracy asked for, at the present objective."""
    objective = state.certificate.objective
    return state.accuracy * problem.scale(objective if math.isfinite(objective) else 0.0)


def reported(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state with what the loop reads: point, image, certificate."""
    here, tracker = state.here, Fixed(state.here.point)
    certificate = primal_certificate(problem, tracker, here.image, here.cost, state.certificate)
    return replace(
        state,
        dual=here.dual,
        primal=tracker,
        image=here.image,
        mean_objective=here.cost,
        certificate=certificate,
        dual_step=norm(here.dual - state.dual),
    )
