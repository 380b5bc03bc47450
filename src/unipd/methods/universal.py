"""What the two universal methods share: settings, start, averaging and the certificate after a search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from unipd import theory, validate
from unipd._typing import Array
from unipd.dual import DualPoint, DualValue, evaluate
from unipd.errors import InvalidInput, OracleError
from unipd.methods.base import (
    Certificate,
    Counts,
    State,
    empty_certificate,
    primal_certificate,
    require_domain,
    target_eps,
)
from unipd.methods.line_search import Search, SearchSettings, backtrack
from unipd.methods.smoothness import analytic_smoothness, check_step, initial_smoothness
from unipd.methods.weights import check_weights, greedy_gamma
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.records import changed

ORACLE_SHARE = 0.25
"""Share of the line-search slack that an inexact oracle may err by."""


@dataclass(frozen=True)
class UniversalSettings:
    """Options that UniPDGrad and AccUniPDGrad have in common.

    Parameters
    ----------
    eps
        The accuracy eps of the paper, absolute. Default: the relative accuracy times the problem's scale.
    smoothness
        M_{-1}; default: estimated by the analytic step or by probing.
    step_rule
        "search" backtracks (the paper's line search), "analytic" takes the closed-form step of quadratic
        losses, "fixed" uses M_bar of the known Hölder pair ``holder``.
    holder
        Known exponents and constants {nu: M_nu} for ``step_rule="fixed"``.
    weights
        "theory" for the theorems' averages, "greedy" for the line search in the weighting step, which
        improves practice and drops the theorems' bounds.
    max_doublings
        Give up the line search after so many doublings of M.
    """

    eps: float | None = None
    smoothness: float | None = None
    step_rule: str = "search"
    holder: Mapping[float, float] | None = None
    weights: str = "theory"
    max_doublings: int = 60

    def __post_init__(self) -> None:
        check_step(self.step_rule)
        check_weights(self.weights)
        validate.integer("max_doublings", self.max_doublings, minimum=1)
        if self.eps is not None:
            validate.positive("eps", self.eps)
        if self.smoothness is not None:
            validate.positive("smoothness", self.smoothness)
        if self.step_rule == "fixed" and not self.holder:
            raise InvalidInput("holder", 'known constants {nu: M_nu} for step_rule="fixed"', repr(self.holder))

    def fixed_smoothness(self, delta: float) -> float:
        """Return the least M_bar over the known Hölder pairs."""
        assert self.holder is not None
        return min(theory.smoothness_bound(nu, m, delta) for nu, m in self.holder.items())


@dataclass(frozen=True)
class UniversalState(State):
    """State of a universal method."""

    point: DualPoint | None
    """The oracle's answer at the dual vector, when it is already known."""
    eps: float
    """Absolute accuracy of the line search."""
    weight_sum: float
    """S_k, the sum of the weights so far."""


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
    rules = SearchSettings(full_trials, 0.5 * ORACLE_SHARE * delta, settings.max_doublings)
    if settings.step_rule == "search":
        return backtrack(problem, base, smoothness, 0.5 * delta, rules)
    extra_calls = extra_matvecs = 0
    if settings.step_rule == "analytic":
        estimate = analytic_smoothness(problem, base, delta, 0.5 * ORACLE_SHARE * delta)
        smoothness = estimate.smoothness
        extra_calls, extra_matvecs = estimate.oracle_calls, estimate.matvecs
    else:
        smoothness = settings.fixed_smoothness(delta)
    found = backtrack(problem, base, smoothness, math.inf, rules)
    calls, matvecs = found.oracle_calls + extra_calls, found.matvecs + extra_matvecs
    return changed(found, oracle_calls=calls, matvecs=matvecs)


@dataclass(frozen=True)
class Average:
    """The primal average after a new atom."""

    primal: Tracker
    image: Array
    mean_objective: float
    weight_sum: float
    share: float
    """w_k / S_k."""


def averaged(
    settings: UniversalSettings, problem: Problem, state: UniversalState, atom: DualPoint, weight: float
) -> Average:
    """Return xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^* with gamma_k = w_k / S_k or the greedy one."""
    total = state.weight_sum + weight
    gamma = share = weight / total if total > 0.0 else 1.0  # weights of the smallest scales vanish
    if settings.weights == "greedy" and state.iteration > 0:
        gamma = greedy_gamma(problem, state.image, atom.image, state.mean_objective, atom.objective)
    return Average(
        primal=state.primal.mixed(gamma, atom.atom),
        image=between(state.image, gamma, atom.image),
        mean_objective=(1.0 - gamma) * state.mean_objective + gamma * atom.objective,
        weight_sum=total,
        share=share,
    )


def between(first: Array, gamma: float, second: Array) -> Array:
    """Return (1 - gamma) first + gamma second.

    >>> import numpy as np
    >>> between(np.array([1.0, 2.0]), 0.25, np.array([5.0, 2.0]))
    array([2., 2.])
    """
    mixed: Array = (1.0 - gamma) * first
    mixed += gamma * second
    return mixed


def certified(problem: Problem, state: State, average: Average, trial: DualPoint | DualValue) -> Certificate:
    """Return the certificate of the new average, with the bound at the accepted trial point."""
    certificate = primal_certificate(problem, average.primal, average.image, average.mean_objective, state.certificate)
    return certificate.improved(problem, trial)


def holder_pair(first: DualPoint | None, second: DualPoint) -> tuple[float, float]:
    """Return (||lam - lam'||, ||grad g(lam) - grad g(lam')||), nan when there is no first point."""
    if first is None:
        return math.nan, math.nan
    return norm(second.dual - first.dual), norm(second.gradient - first.gradient)
