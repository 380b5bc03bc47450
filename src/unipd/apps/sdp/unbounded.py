"""Programs whose diagonal constraints bound no trace: theorems of the alternative, then continuation in the bound.

For symmetric B_1, ..., B_k either some combination is positive definite, or some psd D of trace 1 has <B_i, D> = 0 for
all i. Applied to the constraints this decides infeasibility, a proved trace bound, or directions in which feasible X
is unbounded; with the cost added, a trace bound for optimal X, or an unbounded objective. What remains is solved with
trace bounds that grow until they no longer matter.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.bounded import (
    ITERATIONS,
    BoundedSolver,
    Ray,
    infeasible_result,
    interior_point_work,
    unbounded_result,
)
from unipd.apps.sdp.data import SdpData, TraceBound
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.atoms import LowRank
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.maps.sdp import Entries, SdpMap
from unipd.methods import Factored
from unipd.problem import Problem, ratio
from unipd.run import IterationInfo, MaxIterations, Result, StoppingRule, downgrade, solve
from unipd.sharp.spectral.sdp import CHOLESKY_ORDER, FixedTrace
from unipd.spectral import smallest_eigenpair
from unipd.status import Status

ALTERNATIVE_ACCURACIES = (1e-4, 1e-7, 1e-10, 1e-13)
"""Accuracies of ||B(D)||^2 / 2 (matrices of unit norm) tried in turn until one side of the alternative is proved."""
ZERO_RESIDUAL = 1e-6
"""||B(D)|| below which D counts as a direction."""
MARGINAL_RESIDUAL = 1e-2
"""sqrt(n) ||B(D)|| below which a proved bound is of no use: multipliers of such programs are nearly unbounded."""
DESCENT_SHARE = 1e-4
"""The objective decreases along a direction of trace 1 when <C, D> < -1e-4 ||C||: more than rounding of D."""
DESCENT_MARGIN = 10.0
"""... and than this multiple of the residual of D."""
TRACE_MARGIN = 1.5
"""The first trace bound exceeds the estimate for optimal X by this factor, since its point is only nearly feasible."""
LEAST_TRACE = 1e-3
"""Smallest such estimate, for programs whose optimal X may be zero."""
LEAST_SHARE = 1e-6
"""A direction yields a nearly feasible point when the right-hand side has more than this share of its trace."""
ENLARGEMENTS = 5
"""How often a trace bound that was too small is enlarged."""
ENLARGEMENT_FACTOR = 4.0
"""Factor by which it is enlarged."""
ITERATION_GROWTH = 4
"""A run with a larger trace may take this many times the iterations of the previous one, ..."""
LEAST_ITERATIONS = 240
"""... and in any case this many."""
ACTIVE_SHARE = 0.9
"""The trace bound is active where X has at least this share of it."""
TRACE_MULTIPLES = (1e2, 1e4, 1e6)
"""Trace bounds, as multiples of the order, tried for small programs without any proved bound."""
CAUTIOUS_MULTIPLES = TRACE_MULTIPLES[:1]
"""Those for unbounded feasible sets: with larger ones, X nearly meets constraints that no X meets."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """Either multipliers of a positive definite combination, or a direction."""

    multipliers: Array | None
    """w with sum_i w_i B_i >= I, proved; None when there is a direction."""
    direction: Any
    """D of trace 1 as factors."""
    residual: float
    """||B(D)|| for matrices B_i of unit norm."""

    def is_marginal(self, order: int) -> bool:
        """Whether the combination is so nearly singular that D is a direction for all practical purposes.

        D = I / n has ||B(D)|| of the order of 1 / sqrt(n).
        """
        return self.residual * math.sqrt(order) <= MARGINAL_RESIDUAL


def solve_alternative(order: int, entries: Entries, rows: int) -> Alternative | None:
    """Decide between a positive definite combination and a direction; None when neither can be shown.

    >>> found = solve_alternative(2, Entries.from_matrices([np.diag([1.0, 2.0])]), 1)
    >>> bool(found.multipliers[0] >= 1.0)
    True
    >>> solve_alternative(2, Entries.from_matrices([np.diag([1.0, -1.0])]), 1).residual < 1e-6
    True
    """
    plain = SdpMap((order, order), entries, rows)
    norms = plain.frobenius_norms()
    scales = 1.0 / np.where(norms > 0.0, norms, 1.0)
    scaled = plain.scale_rows(scales)
    problem = Problem(FixedTrace(order), scaled, np.zeros(rows), LeastSquares())
    method = Factored(rank=min(order, 8))
    for accuracy in ALTERNATIVE_ACCURACIES:
        result = solve(problem, method, accuracy=accuracy, stop=MaxIterations(300))
        image = np.asarray(result.image)
        residual, bottom = float(np.linalg.norm(image)), smallest_eigenpair(scaled.adjoint(image)).lower
        if bottom > 0.0:
            return Alternative(image * scales / bottom, result.x, residual)
        if residual <= ZERO_RESIDUAL:
            return Alternative(None, result.x, residual)
    return None


def level_alternative(data: SdpData) -> Alternative | None:
    """Return (y, level) with y_1 A_1 + ... + level C >= I, level the last multiplier, or a direction of no ascent.

    A direction preserves equations (and constraints bounded on both sides) and moves others to their free side only.
    """
    cost, slacks, last = data.cost, _slacks(data), data.size
    place = [data.order + slacks.value.size]
    level = Entries(np.full(cost.value.size, last), cost.row, cost.col, cost.value)
    level_slack = Entries([last], place, place, [float(np.linalg.norm(cost.value)) or 1.0])
    return _decide(data, [data.constraints, level, slacks, level_slack], slacks.value.size + 1, data.size + 1)


def infeasibility_alternative(data: SdpData) -> Alternative | None:
    """Return multipliers r with A^*(r) >= I and b^T r < 0, which excludes every psd X; else None or a direction.

    Programs with constraints bounded on both sides are not decided here.
    """
    if (np.isfinite(data.lower) & np.isfinite(data.upper) & ~data.equal).any():
        return None
    slacks, rows = _slacks(data), np.flatnonzero(data.b)
    place = np.full(rows.size, data.order + slacks.value.size)
    right_sides = Entries(rows, place, place, -data.b[rows])
    return _decide(data, [data.constraints, slacks, right_sides], slacks.value.size + 1, data.size)


def _decide(data: SdpData, parts: list[Entries], slacks: int, rows: int) -> Alternative | None:
    """Decide the alternative for X and the slacks on the diagonal, where a dense factorisation is affordable."""
    if data.order > CHOLESKY_ORDER:
        return None
    return solve_alternative(data.order + slacks, Entries.concatenate(parts), rows)


def _slacks(data: SdpData) -> Entries:
    """Return the slacks of constraints bounded on one side, on the diagonal: + norm for <=, - norm for >=."""
    rows = np.flatnonzero(np.isfinite(data.lower) != np.isfinite(data.upper))
    places = data.order + np.arange(rows.size)
    return Entries(rows, places, places, np.where(np.isfinite(data.upper[rows]), 1.0, -1.0) * data.norms[rows])


@dataclass(frozen=True)
class NoProgress(StoppingRule):
    """Stops a run with a marginal trace bound that is far from feasible after many iterations."""

    iterations: int = 500
    """Iterations after which the run must be nearly feasible, ..."""
    infeasibility: float = 1e-3
    """... that is, have at most this relative infeasibility; runs beyond it hardly ever converge."""

    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the status of an iteration limit after these iterations."""
        is_slow = info.iteration >= self.iterations and info.infeasibility > self.infeasibility
        return Status.ITERATION_LIMIT if is_slow else None


def solve_without_trace(solver: BoundedSolver) -> Result:
    """Solve a program after a search for a bound on its optimal solutions' trace, or explain why there is none.

    A bound from multipliers y and level >= 0 with sum_i y_i A_i + level C >= I holds for optimal X:
    tr X <= b^T y + level <C, X>. The dual vector returned has a psd slack matrix, so the dual bound holds for every
    feasible X, whatever the trace bound of the run.
    """
    started, program, data = time.perf_counter(), solver.program, solver.analysis.data
    infeasible = infeasibility_alternative(data)
    if infeasible is not None and infeasible.multipliers is not None:
        message = (
            "No X is feasible: the dual vector returned makes sum y_i A_i positive definite (proved by a Cholesky "
            "factorization) and b^T y negative."
        )
        return infeasible_result(program, message, solver.accuracy, started, infeasible.multipliers)
    proved = _prove_trace_bound(data)
    if proved is not None:
        return solver.solve(proved)
    level = level_alternative(data)
    if level is None:
        reason = "neither a positive definite combination of them nor an unbounded direction was found"
        return search_trace(solver, TRACE_MULTIPLES, reason)
    ray = _improving_ray(data, level)
    if ray is not None:
        return unbounded_result(program, ray, _describe_feasible(data, infeasible), solver.accuracy, started)
    if level.multipliers is None:
        reason = "there are unbounded directions along which the objective does not change"
        return search_trace(solver, CAUTIOUS_MULTIPLES, reason)
    trace = _first_trace(data, level.multipliers, infeasible)
    if not level.is_marginal(data.order):
        return solve_by_continuation(solver, trace)
    result = replace(solver, stop=(solver.stop or MaxIterations(ITERATIONS)) | NoProgress()).solve(trace)
    if result.status.success or result.status is Status.INTERRUPTED:
        return result
    raise _no_trace_error(
        "some psd matrix of trace 1 changes them and the objective, all of unit norm, by only "
        f"{level.residual:.0e}, and a run without a bound did not converge"
    )


def _improving_ray(data: SdpData, level: Alternative) -> Ray | None:
    """Return the direction as a ray along which the objective improves, measured in the units of the data; or None."""
    if level.multipliers is not None:
        return None
    rows = _leading_rows(data, level.direction)
    trace = float(np.sum(rows.weights * np.sum(rows.left**2, axis=0)))
    direction = LowRank(rows.left, rows.left, rows.weights / (trace or 1.0))
    both = data.cost_and_constraints.image(direction)
    image = both[1:]
    growth = np.maximum(np.where(np.isfinite(data.upper), image, 0.0), np.where(np.isfinite(data.lower), -image, 0.0))
    ray = Ray(direction, float(both[0]), data.relative_norm(np.maximum(growth, 0.0)))
    rate = -ray.objective / float(np.linalg.norm(data.cost.value) or 1.0)
    return ray if rate > max(DESCENT_SHARE, DESCENT_MARGIN * ray.residual) else None


def _describe_feasible(data: SdpData, alternative: Alternative | None) -> str:
    """Return what is known of feasible points, from which the ray starts."""
    if not data.violation(np.zeros(data.size)).any():
        return "X = 0 is feasible."
    share = 0.0 if alternative is None else _homogeneous_share(alternative)
    if alternative is None or share <= LEAST_SHARE:
        return "Whether any X is feasible was not decided: if none is, the program is infeasible as well."
    point = _leading_rows(data, alternative.direction)
    violation = data.violation(data.cost_and_constraints.image(point)[1:] / share)
    error = ratio(data.relative_norm(violation), data.feasibility_scale)
    return f"An X that meets the constraints up to {error:.0e} is known."


def _prove_trace_bound(data: SdpData) -> TraceBound | None:
    """Return the bound that a positive definite combination of the constraints proves for every feasible X, or None.

    Constraints bounded on one side only enter with the sign that their side allows.
    """
    slacks = _slacks(data)
    found = _decide(data, [data.constraints, slacks], slacks.value.size, data.size)
    if found is None or found.multipliers is None or found.is_marginal(data.order):
        return None
    value = data.support_of_bounds(found.multipliers)
    if not 0.0 < value < np.inf:
        return None
    return TraceBound(value, False, "a positive definite combination of the constraints", found.multipliers)


def _first_trace(data: SdpData, multipliers: Array, feasible: Alternative | None) -> TraceBound:
    """Return the bound at the objective of a nearly feasible point, with a margin."""
    y, level = multipliers[:-1], float(multipliers[-1])
    objective = 0.0
    if feasible is not None:
        share = _homogeneous_share(feasible)
        objective = _cost(data, feasible.direction) / share if share > LEAST_SHARE else 0.0
    value = TRACE_MARGIN * max(data.support_of_bounds(y) + level * objective, LEAST_TRACE)
    return TraceBound(value, False, "the constraints and the objective together", y, level)


def _homogeneous_share(alternative: Alternative) -> float:
    """Return the share of a direction's trace that multiplies b: divided by it, X nearly meets the constraints."""
    return float(np.sum(alternative.direction.left[-1] ** 2 * alternative.direction.weights))


def _leading_rows(data: SdpData, direction: LowRank) -> LowRank:
    """Return the part of a direction that belongs to X, without slacks."""
    rows = direction.left[: data.order]
    return LowRank(rows, rows, direction.weights)


def _cost(data: SdpData, direction: LowRank) -> float:
    return float(data.cost_and_constraints.image(_leading_rows(data, direction))[0])


def solve_by_continuation(solver: BoundedSolver, trace: TraceBound) -> Result:
    """Solve with a trace bound that is enlarged while it is too small.

    A program that X of ever larger trace meets ever more nearly, without any feasible X, admits such runs without end:
    each proves that no X of its trace is feasible, which the result then states.
    """
    result, stop = solver.solve(trace), solver.stop
    excluded = trace.value if result.status is Status.INFEASIBLE else 0.0
    for _ in range(ENLARGEMENTS):
        is_done = result.status.success or result.status is Status.INTERRUPTED or result.x is None
        if is_done or not (result.status is Status.INFEASIBLE or _is_trace_active(result, trace)):
            break
        limit = MaxIterations(min(max(LEAST_ITERATIONS, ITERATION_GROWTH * result.iterations), ITERATIONS))
        trace = replace(trace, value=ENLARGEMENT_FACTOR * trace.value)
        result = replace(solver, stop=limit | stop if stop else limit, method=_next_method(solver, result)).solve(trace)
        excluded = trace.value if result.status is Status.INFEASIBLE else excluded
    if not excluded or result.status.success:
        return result
    message = (
        f"No X of trace at most {excluded:.4g} is feasible (proved): the program has no feasible X, or only larger "
        "ones (give a trace bound to search for them)."
    )
    status = result.status if result.status is Status.INTERRUPTED else Status.STALLED
    return downgrade(result, status, message)


def search_trace(solver: BoundedSolver, multiples: tuple[float, ...], reason: str) -> Result:
    """Solve a small program with larger and larger trace bounds until the bound no longer matters, or refuse it.

    The bounds are multiples of the order. The dual bound holds for X of the last one, and the result states so;
    ``reason`` is why the constraints give no bound.
    """
    data = solver.analysis.data
    is_small = solver.method == "auto" and interior_point_work(solver.analysis) is not None
    for multiple in multiples if is_small else ():
        trace = TraceBound(multiple * data.order, False, "a trace enlarged until X gained nothing by a larger one")
        result = solver.solve(trace)
        is_limited = not result.status.is_conclusive and result.status is not Status.STALLED
        if is_limited or (result.status.success and not _is_limited_by_trace(data, result, trace)):
            return result
        solver = replace(solver, method=_next_method(solver, result))
    raise _no_trace_error(reason)


def _next_method(solver: BoundedSolver, result: Result) -> Any:
    """Return the method for another trace bound: interior points at once where they were needed before."""
    return InteriorPoint() if result.method == InteriorPoint.name else solver.method


def _is_limited_by_trace(data: SdpData, result: Result, trace: TraceBound) -> bool:
    """Whether the trace bound a is active, and contributes a |lambda_min(S)| > accuracy to the dual bound.

    Where X is unbounded along directions that do not change the objective, the first alone has no meaning.
    """
    contribution = -trace.value * smallest_eigenpair(data.slack(result.dual)).lower
    return _is_trace_active(result, trace) and contribution > result.accuracy * max(1.0, abs(result.objective))


def _is_trace_active(result: Result, trace: TraceBound) -> bool:
    """Whether X has (nearly) the largest trace allowed."""
    return float(np.sum(result.x.weights * np.sum(result.x.left**2, axis=0))) > ACTIVE_SHARE * trace.value


def _no_trace_error(reason: str) -> InvalidInput:
    expected = (
        f"an upper bound on the trace of X: the constraints give none ({reason}), and without one there is no "
        "certificate. Give a bound if you know one for a solution, or use an interior-point solver"
    )
    return InvalidInput("trace_bound", expected)
