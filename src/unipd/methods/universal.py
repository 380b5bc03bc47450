"""What the two universal methods share: start, search, averaging and the certificate after a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

from unipd._typing import Array
from unipd.dual import DualPoint, distance, evaluate, mixed
from unipd.errors import OracleError
from unipd.methods.base import Counts, State, empty_certificate, measured, require_domain, target_eps
from unipd.methods.line_search import Search, exact_search, inexact_search
from unipd.methods.smoothness import analytic_smoothness, initial_smoothness
from unipd.methods.universal_settings import UniversalSettings
from unipd.methods.weights import greedy_gamma
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.records import adopted
from unipd.status import Status

ORACLE_SHARE = 0.25
"""Share of the line-search slack that an inexact oracle may err by."""


@dataclass(frozen=True)
class UniversalState(State):
    """State of a universal method."""

    point: DualPoint | None
    """The oracle's answer at the dual vector, when it is already known."""
    eps: float
    """Absolute accuracy of the line search."""
    weight_sum: float
    """S_k, the sum of the weights so far."""


S = TypeVar("S", bound=UniversalState)


def first_state(
    settings: UniversalSettings, problem: Problem, tracker: Tracker, dual: Array, accuracy: float
) -> UniversalState:
    """Call the oracle at lam_0 and estimate M_{-1}."""
    require_domain(problem, dual)
    goal = accuracy * problem.scale(0.0) if settings.eps is None else settings.eps
    point = evaluate(problem, dual, tolerance=ORACLE_SHARE * goal)
    eps = target_eps(problem, settings.eps, accuracy, point.objective)
    counts = Counts().plus(oracle_calls=1, matvecs=point.matvecs)
    if settings.smoothness is not None:
        smoothness = settings.smoothness
    elif settings.step_rule == "fixed":
        smoothness = settings.fixed_smoothness(eps)
    else:
        estimate = initial_smoothness(problem, point, eps, 0.5 * ORACLE_SHARE * eps)
        smoothness = estimate.smoothness
        counts = counts.plus(oracle_calls=estimate.oracle_calls, matvecs=estimate.matvecs)
    if not math.isfinite(smoothness):
        raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
    certificate = empty_certificate(dual).improved(problem, point)
    return UniversalState(
        iteration=0,
        dual=dual,
        primal=tracker,
        image=0 * point.image,
        mean_objective=0.0,
        certificate=certificate,
        counts=counts,
        smoothness=smoothness,
        dual_step=math.nan,
        gradient_change=math.nan,
        failure=None,
        point=point,
        eps=eps,
        weight_sum=0.0,
    )


def search(
    settings: UniversalSettings,
    problem: Problem,
    base: DualPoint,
    smoothness: float,
    delta: float,
    *,
    full_trials: bool,
) -> Search:
    """Find M and the next dual vector by the chosen step rule; the slack is delta/2."""
    slack, limit = 0.5 * delta, settings.max_doublings
    halved = full_trials and settings.step_rule == "search"  # UniPDGrad begins at M_{k-1}/2
    if problem.exact and settings.step_rule == "search":
        return exact_search(
            problem, base, smoothness, slack, full_trials=full_trials, max_doublings=limit, halved=halved
        )
    tolerance, extra = ORACLE_SHARE * slack, None
    if settings.step_rule == "analytic":
        extra = analytic_smoothness(problem, base, delta, tolerance)
        smoothness, slack = extra.smoothness, math.inf
    elif settings.step_rule == "fixed":
        smoothness, slack = settings.fixed_smoothness(delta), math.inf
    if problem.exact:
        found = exact_search(problem, base, smoothness, slack, full_trials=full_trials, max_doublings=limit)
    else:
        found = inexact_search(
            problem,
            base,
            smoothness,
            slack,
            tolerance=tolerance,
            full_trials=full_trials,
            max_doublings=limit,
            halved=halved,
        )
    if extra is not None:
        found.oracle_calls += extra.oracle_calls
        found.matvecs += extra.matvecs
    return found


def averaged(settings: UniversalSettings, problem: Problem, state: S, found: Search, weight: float, **own: Any) -> S:
    """Return the state after a search: average, weights, certificate and the work done, and a method's own fields.

    The average is xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^* with gamma_k = w_k / S_k or the greedy one; the bound
    is the one at the accepted trial point.
    """
    atom, trial, total = found.base, found.trial, state.weight_sum + weight
    gamma = weight / total if total > 0.0 else 1.0  # weights of the smallest scales vanish
    if settings.weights == "greedy" and state.iteration > 0:
        gamma = greedy_gamma(problem, state.image, atom.image, state.mean_objective, atom.objective)
    primal = state.primal.mixed(gamma, atom.atom)
    image, squared = mixed(problem, state.image, gamma, atom.image)
    mean_objective = (1.0 - gamma) * state.mean_objective + gamma * atom.objective
    measures = measured(problem, primal, image, mean_objective, squared)
    own.update(
        iteration=state.iteration + 1,
        dual=trial.dual,
        primal=primal,
        image=image,
        mean_objective=mean_objective,
        certificate=state.certificate.renewed(problem, measures, trial),
        counts=state.counts.plus(found.oracle_calls, found.trials, found.matvecs),
        smoothness=found.smoothness,
        failure=None if found.accepted else Status.LINE_SEARCH_FAILED,
        eps=state.eps,
        weight_sum=total,
    )
    return adopted(type(state), own)


def holder_pair(first: DualPoint | None, second: DualPoint) -> tuple[float, float]:
    """Return (||lam - lam'||, ||grad g(lam) - grad g(lam')||), nan when there is no first point."""
    if first is None:
        return math.nan, math.nan
    way = distance(second.dual, first.dual, second.energy, first.energy)
    return way, distance(second.gradient, first.gradient, second.steepness, first.steepness)
