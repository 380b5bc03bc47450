"""Choosing M: the paper's line search (Algorithms 1 and 2, step 3), the analytic step, and the estimate M_{-1}."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd._util.blas import inner
from unipd._util.context import out_of_time
from unipd.dual import DualPoint, DualSpace, DualValue, call_oracle, dual_value, evaluate, oracle_errors, proximal_step
from unipd.errors import InvalidInput
from unipd.methods.base import Counts
from unipd.problem import Problem

REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""
_SLACK_ROUNDING_WEIGHT = 8.0
"""Weight of the slack in the rounding allowance: the analytic step meets the condition with equality."""
_SMALLEST_STEP = 1e-300
"""Smallest step that counts as nonzero."""
_HEADROOM = 1e8
"""Headroom between the first 1 / M and the largest floating-point number: M may still decrease."""
_MAX_PROBES = 10
_PROBE_FACTOR = 16.0


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
        Return the accepted trial as a point where the next step can start.
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
        rounding = 8.0 * problem.epsilon * terms
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
    return problem.coupling.quadratic_weights is not None and problem.split and problem.sharp.degree == 1.0


def analytic_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float = 0.0) -> Estimate:
    """Return M = 1/alpha with the step that meets the line-search condition without search (supplement, D.1).

    With phi^* quadratic, q(v) = phi^*(v), r = grad phi^*(lam), N = ||grad g||^2 and s = sigma_X(A^* grad g):
    2 q(grad g) alpha^2 + P alpha - delta = 0 for P = N + 2 s - 2 <r + b, grad g>, solved without cancellation.
    Here r + b = grad g + A x^*, so that P = 2 s - N - 2 <A x^*, grad g>.
    """
    loss = problem.loss
    if loss is None or not has_analytic_step(problem):
        raise InvalidInput("step_rule", "a quadratic loss in the slack split for the analytic step", repr(problem))
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
    return 1.0 / max(step, _SMALLEST_STEP)


def initial_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float) -> Estimate:
    """Return M_{-1} <= M_bar: from the analytic step, or by probing.

    A probe steps along the gradient with a trial M, at first so far that the linear model predicts a decrease of
    the problem's scale. Where the line-search condition fails, the smallest M that satisfies it at the pair of
    points is a lower bound on M_bar; while it holds, the next probe steps further, with M down to
    :func:`least_smoothness`.
    """
    if has_analytic_step(problem):
        return analytic_smoothness(problem, point, delta, tolerance)
    squared = inner(point.gradient, point.gradient)
    if squared == 0.0:
        return Estimate(1.0, Counts())
    least = least_smoothness(problem, math.sqrt(squared))
    decrease = max(abs(point.objective), problem.typical_objective, delta)
    smoothness = max(squared / (2.0 * decrease), least)
    work = Counts()
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
