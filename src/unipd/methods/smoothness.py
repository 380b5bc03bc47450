"""Choosing M: the initial estimate M_{-1} and the analytic step for quadratic losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unipd import validate
from unipd.couplings import LeastSquares, WeightedLeastSquares
from unipd.dual import DualPoint, evaluate, oracle_errors, proximal_step
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import inner

STEPS = ("search", "analytic", "fixed")


def check_step(step: str) -> str:
    """Return the name of a step rule or raise."""
    return validate.choice("step_rule", step, STEPS)


@dataclass(frozen=True)
class Estimate:
    """A value of M and what it cost."""

    smoothness: float
    oracle_calls: int
    matvecs: int


def has_analytic_step(problem: Problem) -> bool:
    """Whether the analytic step applies: a quadratic loss in the slack split and f = 0 on a set X."""
    quadratic = isinstance(problem.loss, (LeastSquares, WeightedLeastSquares))
    return quadratic and problem.split and problem.sharp.degree == 1.0


def analytic_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float = 0.0) -> Estimate:
    """Return M = 1/alpha with the step that meets the line-search condition without search (supplement, D.1).

    With phi^* quadratic, q(v) = phi^*(v), r = grad phi^*(lam), N = ||grad g||^2 and s = sigma_X(A^* grad g):
    2 q(grad g) alpha^2 + P alpha - delta = 0 for P = N + 2 s - 2 <r + b, grad g>, solved without cancellation.
    """
    loss = problem.loss
    if loss is None or not has_analytic_step(problem):
        raise InvalidInput("step_rule", "a quadratic loss in the slack split for the analytic step", repr(problem))
    gradient = point.gradient
    with oracle_errors:
        answer = problem.sharp.value(problem.map.adjoint(gradient), tolerance=tolerance, start=point.atom)
    curve = 2.0 * loss.conjugate(gradient)
    slack, _ = loss.slack(point.dual)
    slope = inner(gradient, gradient) + 2.0 * (answer.value + answer.error)
    slope -= 2.0 * inner(slack + problem.b, gradient)
    return Estimate(inverse_root(curve, slope, delta), 1, max(answer.matvecs, 1))


def inverse_root(curve: float, slope: float, delta: float) -> float:
    """Return 1/alpha for the positive root of curve alpha^2 + slope alpha - delta (1 where curve is zero).

    >>> inverse_root(2.0, 1.0, 3.0)
    1.0
    """
    if curve == 0.0:
        return 1.0
    root = math.sqrt(slope * slope + 4.0 * delta * curve)
    step = 2.0 * delta / (slope + root) if slope > 0 else (root - slope) / (2.0 * curve)
    return 1.0 / max(step, _SMALLEST)


def initial_smoothness(problem: Problem, point: DualPoint, delta: float, tolerance: float) -> Estimate:
    """Return M_{-1} <= M_bar: from the analytic step, or by probing.

    A probe steps along the gradient with a trial M, at first so far that the linear model promises a decrease of
    the problem's scale. Where the line-search condition fails, the smallest M that satisfies it at the pair of
    points is a lower bound of M_bar; while it holds, the next probe steps further, with M down to
    :func:`least_smoothness`.
    """
    if has_analytic_step(problem):
        return analytic_smoothness(problem, point, delta, tolerance)
    squared = inner(point.gradient, point.gradient)
    if squared == 0.0:
        return Estimate(1.0, 0, 0)
    least = least_smoothness(problem, math.sqrt(squared))
    smoothness = max(squared / (2.0 * max(problem.scale(point.objective), delta)), least)
    calls = matvecs = 0
    for _ in range(_MAX_PROBES):
        dual = proximal_step(problem, point.dual, point.gradient, smoothness)
        step = dual - point.dual
        length = inner(step, step)
        if length == 0.0:
            break
        trial = evaluate(problem, dual, tolerance=tolerance, start=point.atom)
        calls, matvecs = calls + 1, matvecs + trial.matvecs
        excess = trial.value - point.value - inner(point.gradient, step) - 0.5 * delta
        if 2.0 * excess > smoothness * length:
            return Estimate(2.0 * excess / length, calls, matvecs)
        smoothness = max(smoothness / _PROBE_FACTOR, least)
    return Estimate(smoothness, calls, matvecs)


def least_smoothness(problem: Problem, length: float) -> float:
    """Return the least M for which 1 / M, and ||v / M||^2 of a vector of this length, are numbers of the precision.

    >>> from unipd.sharp import Simplex
    >>> problem = Problem(Simplex(2), np.eye(2, dtype=np.float32), [0.5, 0.5])
    >>> 1e19 < 2.0 / least_smoothness(problem, 2.0) < 2e19
    True
    """
    largest = float(np.finfo(problem.dtype).max)
    return max(length / math.sqrt(largest), _ROOM / largest)


_SMALLEST = 1e-300
"""Least step that is told from zero."""
_ROOM = 1e8
"""Factor by which the first 1 / M is below the largest number: M may fall later."""
_MAX_PROBES = 10
_PROBE_FACTOR = 16.0
