"""What the two universal methods share: settings, state, start, step rules, and the average after a line search."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from unipd import theory
from unipd._typing import Array
from unipd._util import validate
from unipd._util.blas import inner
from unipd.dual import DualPoint, DualSpace, DualValue, dual_space, evaluate
from unipd.errors import InvalidInput, OracleError
from unipd.methods.base import (
    Counts,
    State,
    empty_certificate,
    fast_replace,
    measure_point,
    require_domain,
    target_eps,
    zero_image,
)
from unipd.methods.step_size import exact_step, parabola_step
from unipd.methods.universal.line_search import Search, analytic_smoothness, initial_smoothness, search_smoothness
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.status import Status

STEP_RULES = ("search", "analytic", "fixed")
WEIGHTS = ("theory", "greedy")
"""Weights of the average: those of the theorems, or a line search."""
SLACK_SHARE = 0.25
"""Error allowed to an inexact oracle, as a fraction of the line-search slack."""


@dataclass(frozen=True)
class UniversalState(State):
    """State of a universal method."""

    point: DualValue | None
    """The oracle's answer at the dual vector, if already known."""
    eps: float
    """Absolute accuracy of the line search."""
    weight_sum: float
    """S_k, the sum of the weights so far."""
    warm_start: Any
    """An atom from which an iterative oracle starts at another dual vector; None for a cold start."""
    first_smoothness: float
    """M_{-1}, for the record."""

    @property
    def absolute_accuracy(self) -> float:
        """The absolute accuracy eps."""
        return self.eps

    @property
    def resolved_options(self) -> dict[str, Any]:
        """The accuracy eps and M_{-1}."""
        return {"eps": self.eps, "smoothness": self.first_smoothness}

    def clear_history(self: S, dual: Array) -> S:
        """Return the state at a dual vector without averages or momentum, as before a first iteration."""
        return fast_replace(self, iteration=0, dual=dual, point=None, weight_sum=0.0)


S = TypeVar("S", bound=UniversalState)


@dataclass(frozen=True)
class UniversalMethod(ABC):
    """Settings and common steps of UniPDGrad and AccUniPDGrad, which define ``name``, ``start`` and ``step``.

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
        "theory" for the theorems' averages, "greedy" for a line search on gamma_k, often faster under constraints
        but without the theorems' bounds.
    max_doublings
        The line search fails after this many doublings of M.

    Raises
    ------
    InvalidInput
        Unless the numbers are positive, ``step_rule`` is "search", "analytic" or "fixed", and ``weights``
        "theory" or "greedy".

    See Also
    --------
    unipd.UniPDGrad, unipd.AccUniPDGrad

    Examples
    --------
    >>> import unipd
    >>> isinstance(unipd.AccUniPDGrad(eps=1e-3), UniversalMethod)
    True
    """

    eps: float | None = None
    smoothness: float | None = None
    step_rule: str = "search"
    holder: Mapping[float, float] | None = None
    weights: str = "theory"
    max_doublings: int = 60

    def __post_init__(self) -> None:
        validate.choice("step_rule", self.step_rule, STEP_RULES)
        validate.choice("weights", self.weights, WEIGHTS)
        validate.integer("max_doublings", self.max_doublings, minimum=1)
        if self.eps is not None:
            validate.positive("eps", self.eps)
        if self.smoothness is not None:
            validate.positive("smoothness", self.smoothness)
        known = isinstance(self.holder, Mapping) and len(self.holder) > 0
        if (self.step_rule == "fixed") != known or not (known or self.holder is None):
            expected = 'known constants {nu: M_nu}, for step_rule="fixed" and no other'
            raise InvalidInput("holder", expected, f"{self.holder!r} with step_rule={self.step_rule!r}")
        for nu, constant in (self.holder or {}).items():
            theory.smoothness_bound(nu, constant, 1.0)  # raises unless nu and M_nu are valid

    @property
    @abstractmethod
    def name(self) -> str:
        """Name on the command line."""

    @abstractmethod
    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> Any:
        """Return the state at lam_0."""

    @abstractmethod
    def step(self, problem: Problem, state: Any) -> Any:
        """Do one iteration."""

    def first_state(
        self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, point: DualPoint | None = None
    ) -> UniversalState:
        """Call the oracle at lam_0, unless its answer is given, and estimate M_{-1}."""
        counts = Counts()
        if self.weights == "greedy" and problem.is_mixed:
            raise InvalidInput("weights", '"theory" for a product of constraints and losses', '"greedy"')
        if point is None:
            require_domain(problem, dual)
            goal = accuracy * problem.typical_objective if self.eps is None else self.eps
            point = evaluate(problem, dual, tolerance=SLACK_SHARE * goal)
            counts = Counts(1, 0, point.matvecs)
        eps = target_eps(problem, self.eps, accuracy, point.objective)
        if self.smoothness is not None:
            smoothness = self.smoothness
        elif self.step_rule == "fixed":
            smoothness = self.fixed_smoothness(eps)
        else:
            estimate = initial_smoothness(problem, point, eps, 0.5 * SLACK_SHARE * eps)
            smoothness = estimate.smoothness
            counts += estimate.work
        if not math.isfinite(smoothness):
            raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
        return UniversalState(
            dual=dual,
            primal=tracker,
            image=zero_image(problem),
            mean_objective=0.0,
            certificate=empty_certificate(dual).update_bound(problem, point),
            counts=counts,
            smoothness=smoothness,
            point=dual_space(problem).keep(point),
            eps=eps,
            weight_sum=0.0,
            warm_start=None,
            first_smoothness=smoothness,
        )

    def search(self, space: DualSpace, base: DualValue, smoothness: float, slack: float, *, complete: bool) -> Search:
        """Find M_k and lam_{k+1} by the step rule (line 3 of both algorithms)."""
        work, tolerance = Counts(), SLACK_SHARE * slack
        if self.step_rule == "analytic":
            estimate = analytic_smoothness(space.problem, space.materialize(base), 2.0 * slack, tolerance)
            smoothness, work = estimate.smoothness, estimate.work
        elif self.step_rule == "fixed":
            smoothness = self.fixed_smoothness(2.0 * slack)
        if self.step_rule != "search":
            slack = math.inf
        search = search_smoothness(
            space, base, smoothness, slack, tolerance=tolerance, complete=complete, max_doublings=self.max_doublings
        )
        return search.add_work(work) if work.oracle_calls else search

    def advance(self, space: DualSpace, state: S, search: Search, weight: float, gamma: float, **own: Any) -> S:
        """Return the state after a search: the average of xbar, the certificate, and a method's own fields.

        The average is xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^* with the given gamma_k = w_k / S_k, or with the
        greedy one; the bound is that of the accepted trial point.
        """
        problem, base, trial = space.problem, search.base, search.trial
        if self.weights == "greedy" and state.iteration > 0:
            image = space.materialize(base).image
            gamma = greedy_gamma(problem, state.image, image, base.objective - state.mean_objective)
        primal = state.primal.mix(gamma, base.atom)
        image, squared = space.average_image(state.image, gamma, base)
        mean_objective = (1.0 - gamma) * state.mean_objective + gamma * base.objective
        measures = measure_point(problem, primal, image, mean_objective, squared)
        return fast_replace(
            state,
            iteration=state.iteration + 1,
            dual=trial.dual,
            primal=primal,
            image=image,
            mean_objective=mean_objective,
            certificate=state.certificate.update_point_and_bound(problem, measures, trial),
            counts=state.counts + search.work.plus(matvecs=space.image_products),
            smoothness=search.smoothness,
            failure=None if search.accepted else Status.LINE_SEARCH_FAILED,
            weight_sum=state.weight_sum + weight,
            **own,
        )

    def fixed_smoothness(self, delta: float) -> float:
        """Return the least M_bar over the known Hölder pairs."""
        assert self.holder is not None
        return min(theory.smoothness_bound(nu, m, delta) for nu, m in self.holder.items())


def averaging_weight(state: UniversalState, weight: float) -> float:
    """Return gamma_k = w_k / S_k; 1 where the weights underflow to 0."""
    total = state.weight_sum + weight
    return weight / total if total > 0.0 else 1.0


def greedy_gamma(problem: Problem, image: Array, atom_image: Array, cost_change: float) -> float:
    """Return the best gamma in [0, 1] for xbar + gamma (x - xbar) ("line search in the weighting step").

    A loss problem minimises the primal objective, a constrained one the feasibility gap dist(A x - b, K). Both are
    convex in gamma, and parabolas for quadratic losses and for K = {0}. ``cost_change`` is f(x) - f(xbar).
    """
    residual, direction = image - problem.b, atom_image - image
    squared = inner(direction, direction)
    if problem.coupling.is_equality:
        return parabola_step(-inner(residual, direction), squared)
    slope = inner(residual if problem.loss is None else problem.loss.gradient(residual), direction)
    return exact_step(problem, image, (direction, squared), -slope - cost_change, cost_change)
