"""What the two universal methods share: settings, state, start, the choice of M, and the average after it.

M is chosen by the paper's line search (Algorithms 1 and 2, step 3), or by the analytic step for quadratic losses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from unipd import theory
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import TINY, inner
from unipd._util.context import out_of_time
from unipd.dual import (
    DualPoint,
    DualSpace,
    DualValue,
    call_oracle,
    dual_space,
    dual_value,
    evaluate,
    oracle_errors,
    proximal_step,
)
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
from unipd.methods.descent import direction_between, exact_step
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.status import Status

STEP_RULES = ("search", "analytic", "fixed")
WEIGHTS = ("theory", "greedy")
"""Weights of the average: those of the theorems, or a line search."""
SLACK_SHARE = 0.25
"""Error allowed to an inexact oracle, as a fraction of the line-search slack."""
REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""
VALUE_ROUNDING = 8.0
"""Units of rounding by which compared values of g and G may err: near the optimum changes are smaller than that."""
_SLACK_ROUNDING_WEIGHT = 8.0
"""Weight of the slack in the rounding allowance: the analytic step meets the condition with equality."""
_HEADROOM = 1e8
"""Headroom between the first 1 / M and the largest floating-point number: M may still decrease."""
_MAX_PROBES, _PROBE_FACTOR = 10, 16.0
"""Most probes of M_{-1}, and the factor by which M falls from one to the next: ten oracle calls cover a factor of
1e12, below an M whose step would decrease G by the size of the objective."""


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
        The accuracy eps of the paper, absolute. Default: the relative accuracy times the size of the objective.
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

    name = ""
    """Name on the command line."""

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

    @abstractmethod
    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> Any:
        """Return the state at lam_0."""

    @abstractmethod
    def step(self, problem: Problem, state: Any) -> Any:
        """Do one iteration."""

    def first_state(
        self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, point: DualPoint | None = None
    ) -> UniversalState:
        """Call the oracle at lam_0, unless its answer is given, and estimate M_{-1}.

        Parameters
        ----------
        problem, tracker, dual, accuracy
            As in :meth:`unipd.methods.Method.start`.
        point
            The oracle's answer at lam_0, if known.
        """
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
            raise OracleError(
                "the squared norm of the image of an atom is not finite: divide A and b by a common factor"
            )
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
        """Find M_k and lam_{k+1} by the step rule (line 3 of both algorithms).

        Parameters
        ----------
        space
            The dual space of the problem.
        base
            The oracle's answer at the point from which the step goes.
        smoothness
            The first M to try.
        slack
            The amount by which g at the trial may exceed the model.
        complete
            Whether the accepted trial comes with its atom and gradient, so that the next step can start there.
        """
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

        Parameters
        ----------
        space
            The dual space of the problem.
        state
            The state before the iteration.
        search
            What :meth:`search` found.
        weight
            w_k.
        gamma
            gamma_k = w_k / S_k.
        **own
            Fields of the method's own state.
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
    direction, residual = direction_between(image, atom_image), image - problem.b
    slope = inner(residual if problem.loss is None else problem.loss.gradient(residual), direction[0])
    return exact_step(problem, image, direction, -slope - cost_change, cost_change)


@dataclass(frozen=True)
class Search:
    """Outcome of a line search."""

    base: DualValue
    """The point where the step starts: the one given, or one with a better atom found during the search."""
    trial: DualValue
    """The accepted trial point (the last one tried when none was accepted)."""
    smoothness: float
    """M accepted."""
    accepted: bool
    """Whether the condition was met."""
    dual_step: float
    """||lam_trial - lam||."""
    work: Counts
    """Trial points, oracle calls and products spent."""

    def add_work(self, work: Counts) -> Search:
        """Return the search with the work done around it."""
        return replace(self, work=self.work + work)


def search_smoothness(
    space: DualSpace,
    base: DualValue,
    smoothness: float,
    slack: float,
    *,
    tolerance: float,
    complete: bool,
    max_doublings: int,
) -> Search:
    """Double M until g(lam_trial) <= Q_M(lam_trial; lam) + slack (step 3 of both algorithms).

    Every atom x gives g(lam) >= <lam, b - A x> - f(x). So when an inexact oracle's atom at a rejected trial beats the
    one at the base point, it replaces that one: an underestimated g(lam) would make the condition fail for every M.

    Parameters
    ----------
    space, base, smoothness, slack
        Where the vectors live, the point where the steps start, the first M, and the slack.
    tolerance
        Error allowed to an inexact oracle.
    complete
        Whether the accepted trial comes with its atom and gradient, so that the next step can start there.
    max_doublings
        Rejected trials after which the search fails.
    """
    problem, matvecs = space.problem, 0
    for trials in range(1, max_doublings + 2):
        # 3.a: the trial point
        step = space.step(base, smoothness)
        only_value = problem.exact and not complete
        answer = call_oracle(problem, step.dual, tolerance=tolerance, start=base.atom, without_atom=only_value)
        trial = dual_value(problem, step.dual, answer, step.sums)
        matvecs += trial.matvecs + space.image_products
        # 3.b: the condition, up to rounding
        terms = abs(base.value) + abs(trial.value) + abs(trial.linear) + _SLACK_ROUNDING_WEIGHT * slack
        rounding = VALUE_ROUNDING * problem.epsilon * terms
        accepted = trial.value <= step.model + slack + rounding
        if accepted or trials > max_doublings or out_of_time():
            if complete:
                matvecs -= trial.matvecs
                trial = space.complete(step.dual, answer)
                matvecs += trial.matvecs
            work = Counts(trials, trials, matvecs)
            return Search(base, trial, smoothness, accepted, math.sqrt(step.length_sq), work)
        if not problem.exact:
            better = space.lower_model(base, answer)
            matvecs += better.matvecs
            if better.value > base.value + REPLACEMENT_SHARE * slack:
                base = better
                continue
        smoothness *= 2.0
    raise AssertionError("the search ends in its loop")


@dataclass(frozen=True)
class Estimate:
    """A value of M and what it cost."""

    smoothness: float
    work: Counts


def has_analytic_step(problem: Problem) -> bool:
    """Whether the analytic step applies: a quadratic loss in the slack split and f = 0 on a set X."""
    return problem.split and problem.coupling.quadratic_weights is not None and problem.sharp.degree == 1.0


def analytic_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float = 0.0) -> Estimate:
    """Return M = 1/alpha with the step that meets the line-search condition without search (supplement, D.1).

    With phi^* quadratic, q(v) = phi^*(v), r = grad phi^*(lam), N = ||grad g||^2 and s = sigma_X(A^* grad g):
    2 q(grad g) alpha^2 + P alpha - delta = 0 for P = N + 2 s - 2 <r + b, grad g>, solved without cancellation.
    Here r + b = grad g + A x^*, so that P = 2 s - N - 2 <A x^*, grad g>.
    """
    loss = problem.loss
    if loss is None or not has_analytic_step(problem):
        needs = "a quadratic loss in the slack split, and f = 0"
        raise InvalidInput(
            "step_rule", f'one that applies here ("analytic" needs {needs})', f'"analytic" for {problem!r}'
        )
    gradient = point.gradient
    with oracle_errors:
        answer = problem.sharp.value(problem.map.adjoint(gradient), tolerance=tolerance, start=point.atom)
    slope = 2.0 * (answer.value + answer.error - inner(point.image, gradient)) - inner(gradient, gradient)
    return Estimate(_inverse_root(2.0 * loss.conjugate(gradient), slope, delta), Counts(1, 0, max(answer.matvecs, 1)))


def _inverse_root(curvature: float, slope: float, delta: float) -> float:
    """Return 1/alpha for the positive root of curvature alpha^2 + slope alpha - delta (1 if curvature is zero).

    >>> _inverse_root(2.0, 1.0, 3.0)
    1.0
    """
    if curvature == 0.0:
        return 1.0
    root = math.sqrt(slope * slope + 4.0 * delta * curvature)
    step = 2.0 * delta / (slope + root) if slope > 0 else (root - slope) / (2.0 * curvature)
    return 1.0 / max(step, TINY)


def initial_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float) -> Estimate:
    """Return M_{-1} <= M_bar: from the analytic step, or by probing.

    A probe steps along the gradient with a trial M, at first so far that the linear model predicts a decrease of
    the size of the objective. Where the line-search condition fails, the smallest M that satisfies it at the pair of
    points is a lower bound on M_bar; while it holds, the next probe steps further, with M down to
    :func:`least_smoothness`.
    """
    if has_analytic_step(problem):
        return analytic_smoothness(problem, point, delta, tolerance)
    squared = inner(point.gradient, point.gradient)
    if squared == 0.0:
        return Estimate(1.0, Counts())
    least = least_smoothness(problem, math.sqrt(squared))
    smoothness, work = smoothness_of_step(problem, point, delta), Counts()
    for _ in range(_MAX_PROBES):
        dual = proximal_step(problem, point.dual, point.gradient, smoothness)
        step = dual - point.dual
        length = inner(step, step)
        if length == 0.0:
            break
        trial = evaluate(problem, dual, tolerance=tolerance, start=point.atom)
        work += Counts(1, 0, trial.matvecs)
        excess = trial.value - point.value - inner(point.gradient, step) - 0.5 * delta
        if 2.0 * excess > smoothness * length:
            return Estimate(2.0 * excess / length, work)
        smoothness = max(smoothness / _PROBE_FACTOR, least)
    return Estimate(smoothness, work)


def smoothness_of_step(problem: Problem, point: DualPoint, least_decrease: float) -> float:
    """Return M for which the linear model of the first step -grad / M predicts a decrease of the objective's size."""
    squared = inner(point.gradient, point.gradient)
    decrease = max(abs(point.objective), problem.typical_objective, least_decrease)
    return max(squared / (2.0 * decrease), least_smoothness(problem, math.sqrt(squared)))


def least_smoothness(problem: Problem, length: float) -> float:
    """Return the least M for which 1 / M, and ||v / M||^2 of a vector of this length, do not overflow.

    >>> from unipd.sharp import Simplex
    >>> problem = Problem(Simplex(2), np.eye(2, dtype=np.float32), [0.5, 0.5])
    >>> 1e19 < 2.0 / least_smoothness(problem, 2.0) < 2e19
    True
    """
    return max(length / longest_step(problem), _HEADROOM / float(np.finfo(problem.dtype).max))


def longest_step(problem: Problem) -> float:
    """Return the length of a dual step beyond which M should not fall further: its square is still in range."""
    return math.sqrt(float(np.finfo(problem.dtype).max))
