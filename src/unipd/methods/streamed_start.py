"""The state of a universal method at lam_0, with long vectors made in parts as :mod:`unipd.methods.streamed` does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from unipd._typing import Array
from unipd.dual import DualPoint, DualValue, oracle_errors
from unipd.errors import OracleError
from unipd.methods import streamed
from unipd.methods.base import Counts, empty_certificate, target_eps, zero_image
from unipd.methods.smoothness import has_analytic_step, inverse_root
from unipd.methods.streamed_rooms import room_like
from unipd.methods.universal import ORACLE_SHARE, UniversalState, first_state
from unipd.methods.universal_settings import UniversalSettings
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker


def streamed_first_state(
    settings: UniversalSettings, problem: Problem, tracker: Tracker, dual: Array, accuracy: float
) -> UniversalState:
    """Do as :func:`~unipd.methods.universal.first_state`, with one image in parts where the step of M_{-1} is analytic.

    Image and gradient of the state's point are empty.
    """
    if settings.smoothness is not None or not has_analytic_step(problem):
        state = first_state(settings, problem, tracker, dual, accuracy)
        assert state.point is not None
        return replace(state, point=replace(state.point, gradient=dual[:0], image=dual[:0]))
    goal = accuracy * problem.scale(0.0) if settings.eps is None else settings.eps
    answer = streamed.Streams(problem).asked(dual, ORACLE_SHARE * goal, None)
    slope = sloped(problem, dual, answer)
    eps = target_eps(problem, settings.eps, accuracy, answer.objective)
    smoothness, matvecs = steepness(problem, slope, answer, eps)
    work = 1 + max(answer.matvecs, 1)
    upper, reach = answer.value + answer.error, slope.reach
    value = DualValue(
        dual, slope.value, upper, work, answer.bound, slope.slack, slope.linear, slope.energy, reach, answer.atom
    )
    return UniversalState(
        iteration=0,
        dual=dual,
        primal=tracker,
        image=zero_image(problem),
        mean_objective=0.0,
        certificate=empty_certificate(dual).improved(problem, value),
        counts=Counts(2, 0, work + matvecs),
        smoothness=smoothness,
        dual_step=math.nan,
        gradient_change=math.nan,
        failure=None,
        point=_without_vectors(dual, slope, answer, work),
        eps=eps,
        weight_sum=0.0,
    )


@dataclass(frozen=True)
class Slope:
    """The gradient of g at lam in the slack split of (c/2) ||r||^2, and the sums that came with it."""

    gradient: Array
    """b - A x^* + lam / c."""
    value: float
    """g(lam) as attained."""
    slack: float
    """phi^*(lam)."""
    squared: float
    """||grad g||^2."""
    across: float
    """<b + lam / c, grad g>."""
    linear: float
    """<lam, b>."""
    energy: float
    """||lam||^2."""
    reach: float
    """||A x^*||."""


def sloped(problem: Problem, dual: Array, answer: SharpAnswer) -> Slope:
    """Return the gradient at lam and its sums, all from one image."""
    from unipd.methods.streamed_kernels import gradient_parts

    streams, gradient = streamed.Streams(problem), room_like(dual)
    arguments = (dual, problem.b, dual.dtype.type(streams.inverse), gradient)
    squared, across, attained, energy, linear, reach = streams.summed(gradient_parts, answer.atom, arguments, 6)
    slack = 0.5 * streams.inverse * energy
    value = streamed.finite(attained - answer.objective + slack)
    return Slope(gradient, value, slack, squared, across, linear, energy, math.sqrt(reach))


def steepness(problem: Problem, slope: Slope, answer: SharpAnswer, delta: float) -> tuple[float, int]:
    """Return M of the analytic step and the products spent: :func:`~unipd.methods.smoothness.analytic_smoothness`."""
    with oracle_errors:
        direction = problem.map.adjoint(slope.gradient)
        support = problem.sharp.value(direction, tolerance=0.5 * ORACLE_SHARE * delta, start=answer.atom)
    curve = streamed.Streams(problem).inverse * slope.squared
    linear = slope.squared + 2.0 * (support.value + support.error) - 2.0 * slope.across
    smoothness = inverse_root(curve, linear, delta)
    if not math.isfinite(smoothness):
        raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
    return smoothness, max(support.matvecs, 1)


def _without_vectors(dual: Array, slope: Slope, answer: SharpAnswer, work: int) -> DualPoint:
    empty, objective = dual[:0], answer.objective
    return DualPoint(
        dual, slope.value, empty, answer.atom, empty, objective, answer.error, work, answer.bound, slope.slack
    )
