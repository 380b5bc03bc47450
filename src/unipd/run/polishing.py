"""Polish a result: re-optimise over the atoms or factors that its run kept."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import norm
from unipd.atoms import Blocks, LowRank
from unipd.dual import DualPoint, dual_point, evaluate, oracle_errors
from unipd.errors import InvalidInput
from unipd.methods.base import (
    ORACLE_SHARE,
    Counts,
    State,
    empty_certificate,
    keep_best_bound,
    keep_incumbent,
    measure_point,
    target_eps,
    with_point_of,
)
from unipd.methods.factored import is_factorable
from unipd.methods.factored.factored import Factored, with_factor
from unipd.problem import Problem
from unipd.protocols import SharpAnswer
from unipd.run.consistency import require_recorded_point
from unipd.run.history import History
from unipd.run.loop import iterate, starting_dual
from unipd.run.result import Result, certificate_figures
from unipd.run.termination import Termination
from unipd.status import Status
from unipd.trackers import Fixed
from unipd.trackers.atoms import HasAtoms, vertex_key
from unipd.trackers.lowrank import as_factors, compress

if TYPE_CHECKING:
    from unipd.methods.corrective.model import Bundle

FACTORED_STEPS = 30
"""Largest number of steps of the factored method."""
LARGEST_RANK = 64
"""Columns to which a point is compressed before it is polished."""
MAX_ATOMS = 300
"""Largest number of atoms re-optimised; the lightest ones are merged into one."""
MULTIPLIER_STEPS = 40
"""Largest number of steps of the multipliers."""
PROX_FACTOR = 0.3
"""Factor of the dual proximal term from one such step to the next."""


def polish(problem: Problem, result: Result, *, accuracy: float | None = None) -> Result:
    """Re-optimise a result over the atoms that its run kept, and return the better point.

    Any method's result will do: the atoms of ``tracker="atoms"``, the active set of the corrective and the
    away-step methods, low-rank factors; of a dense tracker the point itself is the only atom, which leaves little
    to gain. Vector atoms go through the master problem of the corrective method and one oracle call, spectral points
    through steps of the factored method.

    Preserved: x stays in X; the bound is the better of the two; the sum of relative infeasibility and relative gap does
    not grow. Lost: x is no longer the average to which Theorems 4.1 and 4.2 apply.

    Parameters
    ----------
    problem
        The problem that was solved, or one like it.
    result
        What :func:`unipd.solve` returned. A loaded result, or that of another problem object, is measured again, and
        its dual vector proves a bound anew, by one more oracle call.
    accuracy
        The accuracy that decides the new status; default: the one requested of the run.

    Returns
    -------
    Result
        The better of the two points, certified anew.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem; ``result``: expected a result of unipd.solve with its state, a point of
        this problem's set X; ``accuracy``: expected a number above zero.

    See Also
    --------
    solve, unipd.trackers.AtomList

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.random.default_rng(0).standard_normal((5, 20))
    >>> problem = unipd.Problem(unipd.sharp.L1Ball(20), A, A[:, 0], unipd.couplings.LeastSquares())
    >>> rough = unipd.solve(problem, "unipdgrad", accuracy=1e-2, tracker="atoms")
    >>> unipd.polish(problem, rough).gap < 0.1 * rough.gap
    True
    """
    begun, begun_cpu = time.perf_counter(), time.process_time()
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    state = result.state if isinstance(result, Result) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if state is None:
        raise InvalidInput("result", "a result of unipd.solve with its state", type(result).__name__)
    goal = validate.positive("accuracy", result.accuracy if accuracy is None else accuracy)
    is_foreign = result.problem is not problem
    state = _restate(problem, result, goal) if is_foreign else state
    better = state.improve(problem, lambda problem, state: _polish(problem, state, goal))
    is_better = better.primal is not state.primal or better.certificate.dual_bound > result.dual_bound
    if goal == result.accuracy and not (is_better or is_foreign):
        return replace(result, counts=better.counts, seconds=result.seconds + time.perf_counter() - begun)
    ended = Status.STOPPED if result.status.success else result.status
    end = Termination(problem, goal, atol=result.atol).conclude(replace(better, iteration=state.iteration + 1), ended)
    seconds = result.seconds + time.perf_counter() - begun
    history = History(result.history.table)
    history.record(problem, end.state, seconds, result.cpu_seconds + time.process_time() - begun_cpu)
    return replace(
        result,
        status=end.status,
        x=end.x,
        image=end.image,
        **certificate_figures(problem, end.certificate),
        tracker_error=end.tracker_error,
        accuracy=goal,
        counts=end.state.counts,
        seconds=seconds,
        history=history,
        problem=problem,
        state=end.state,
        facts=None,
    )


def _restate(problem: Problem, result: Result, accuracy: float) -> State:
    """Return the state of a loaded result, or of another problem's, with its figures for this problem.

    Where X has a membership test, the point must pass it; atoms that do not are left out for the point alone.
    """
    state: State = result.state
    sharp, primal, x = problem.sharp, state.primal, state.primal.point()
    if x is None:
        return state
    if np.shape(x) != sharp.shape:
        raise InvalidInput("result", f"a point of shape {sharp.shape}", f"one of shape {np.shape(x)}")
    try:
        require_recorded_point(problem, primal, x, accuracy)
    except ValueError as error:
        raise InvalidInput("result", "a point of this problem's set X", "one outside") from error
    known = state.primal
    if sharp.has_membership_test and isinstance(known, HasAtoms) and not all(map(sharp.contains, known.atoms)):
        primal = Fixed(x)
    dual = starting_dual(problem, result)
    with oracle_errors:
        image, cost = np.asarray(problem.map.image(x)).astype(problem.dtype, copy=False), sharp.objective(x)
    measures = measure_point(problem, primal, image, cost)
    answer = evaluate(problem, dual, tolerance=ORACLE_SHARE * accuracy * problem.scale(measures.objective))
    return State(
        iteration=state.iteration,
        dual=dual,
        primal=primal,
        image=image,
        mean_objective=cost,
        certificate=empty_certificate(dual).update_point_and_bound(problem, measures, answer),
        counts=state.counts.plus(1, 0, 1 + (answer.matvecs or 0)),
        smoothness=state.smoothness,
    )


def _polish(problem: Problem, state: State, accuracy: float) -> State:
    """Return the state with the best point in the convex hull of its atoms, if that is better than its own.

    Vector atoms (those of the tracker; otherwise the point itself) are re-optimised by the corrective master: the
    multipliers move until the point is optimal over the hull, then one oracle call gives the bound. Spectral points are
    re-optimised over their factors.
    """
    if state.primal.point() is None:
        raise InvalidInput("result", 'a run that kept its point (a tracker other than "image")', "none")
    candidate = (_polish_factors if is_factorable(problem.sharp) else _polish_hull)(problem, state, accuracy)
    return replace(keep_incumbent(problem, state, candidate), counts=candidate.counts)


def _polish_factors(problem: Problem, state: State, accuracy: float) -> State:
    """Return the state after some steps of the factored method from its point."""
    method = Factored()
    first = method.start(problem, state.primal, state.certificate.dual, accuracy)
    factor = first.model.factors.mix_atom(first.factor, _compress_point(state.primal.point()), 1.0)
    best = current = with_factor(problem, first, factor)
    for current in islice(iterate(problem, method, accuracy=accuracy, start=best), FACTORED_STEPS):
        best = keep_incumbent(problem, current, best)
        error = keep_best_bound(best.certificate, state.certificate).relative_error(problem)
        if error <= accuracy:
            break
    moved = with_point_of(state, best)
    return replace(moved, certificate=best.certificate, counts=state.counts + current.counts)


def _compress_point(point: Any) -> Any:
    if isinstance(point, Blocks):
        return Blocks(tuple(_compress_point(part) if len(part.shape) == 2 else part for part in point.parts))
    factors = as_factors(point)
    return compress(factors, LARGEST_RANK)[0] if isinstance(factors, LowRank) and factors.rank > 1 else factors


def _polish_hull(problem: Problem, state: State, accuracy: float) -> State:
    kept, weights = _add_origin(problem, *merge_light_atoms(*_atoms_of(state), MAX_ATOMS))
    dual = state.certificate.dual
    points = [_evaluate_atom(problem, atom, dual) for atom in kept]
    counts = state.counts.plus(matvecs=len(points))
    from unipd.methods.corrective.model import Bundle

    bundle = Bundle.of(problem, points[0], by_block=False).with_atoms(problem, *points[1:])
    bundle = bundle.with_weights(_first_weights(bundle, points, weights))
    smoothness, counts = _smoothness(problem, state, points[0], accuracy, counts)
    bundle, dual = _optimize_weights(problem, bundle, dual, smoothness, accuracy)
    tolerance = ORACLE_SHARE * target_eps(problem, None, accuracy, bundle.objective())
    answer = evaluate(problem, dual, tolerance=tolerance, start=points[0].atom)
    tracker, image = bundle.tracker(), bundle.image(problem)
    certificate = state.certificate.update_point(measure_point(problem, tracker, image, bundle.objective()))
    return replace(
        state,
        primal=tracker,
        image=image,
        mean_objective=bundle.objective(),
        certificate=certificate.update_bound(problem, answer),
        counts=counts.plus(oracle_calls=1, matvecs=answer.matvecs),
    )


def _atoms_of(state: State) -> tuple[list[Any], list[float]]:
    """Return the atoms of a state and their weights; without atoms, the point itself."""
    primal = state.primal
    if isinstance(primal, HasAtoms):
        return list(primal.atoms), list(primal.weights)
    return [primal.point()], [1.0]


def merge_light_atoms(kept: list[Any], weights: list[float], limit: int) -> tuple[list[Any], list[float]]:
    """Return at most ``limit`` distinct atoms with their weights, the lightest ones merged into one."""
    distinct: dict[bytes, tuple[Any, float]] = {}
    for atom, weight in zip(kept, weights, strict=True):
        key = vertex_key(atom)
        distinct[key] = (atom, distinct[key][1] + weight if key in distinct else weight)
    ranked = sorted(distinct.values(), key=lambda pair: -pair[1])
    light = ranked[limit - 1 :]
    total = sum(weight for _, weight in light)
    if len(light) > 1 and total > 0.0:
        mean = atoms.combination([weight / total for _, weight in light], [atom for atom, _ in light])
        ranked = [*ranked[: limit - 1], (mean, total)]
    return [atom for atom, _ in ranked], [weight for _, weight in ranked]


def _add_origin(problem: Problem, kept: list[Any], weights: list[float]) -> tuple[list[Any], list[float]]:
    """Return the atoms with zero among them where the weights sum to less than one: the run started at x = 0."""
    missing = 1.0 - sum(weights)
    if missing <= 1e-12 or problem.sharp.degree == 2.0:
        return kept, weights
    return [*kept, atoms.zero_like(kept[0])], [*weights, missing]


def _evaluate_atom(problem: Problem, atom: Any, dual: Array) -> DualPoint:
    image = np.asarray(problem.map.image(atom)).astype(problem.dtype, copy=False)
    return dual_point(problem, dual, SharpAnswer(atom, 0.0, problem.sharp.objective(atom), math.inf), image)


def _first_weights(bundle: Bundle, points: list[DualPoint], weights: list[float]) -> FloatArray:
    """Return the weights of the point in the bundle, whose atoms of a squared gauge are scaled to f = 1."""
    if not bundle.conic and len(bundle.atoms) == len(weights):
        return np.array(weights) / sum(weights)
    if bundle.conic and len(bundle.atoms) == len(weights):
        return np.array(weights) * np.sqrt([max(point.objective, 0.0) for point in points])
    return np.full(len(bundle.atoms), 1.0 / len(bundle.atoms))


def _smoothness(
    problem: Problem, state: State, point: DualPoint, accuracy: float, counts: Counts
) -> tuple[float, Counts]:
    """Return M of the dual proximal term: that of the run, else an estimate; 0 for a smooth loss."""
    if problem.has_smooth_loss:
        return 0.0, counts
    if math.isfinite(state.smoothness) and state.smoothness > 0.0:
        return state.smoothness, counts
    eps = target_eps(problem, None, accuracy, point.objective)
    from unipd.methods.universal.common import initial_smoothness

    estimate = initial_smoothness(problem, point, eps, ORACLE_SHARE * eps)
    return estimate.smoothness, counts + estimate.work


def _optimize_weights(
    problem: Problem, bundle: Bundle, dual: Array, smoothness: float, accuracy: float
) -> tuple[Bundle, Array]:
    """Run the proximal point method on the dual over the hull until the point is optimal there."""
    from unipd.methods.corrective.master import solve_master

    for _ in range(MULTIPLIER_STEPS):
        bundle, moved = solve_master(problem, bundle, dual, smoothness)
        residual, dual = smoothness * norm(moved - dual), moved
        if residual <= 0.1 * accuracy * (problem.norm_b or problem.least_scale):
            break
        smoothness *= PROX_FACTOR
    return bundle, dual
