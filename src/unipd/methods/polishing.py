"""Polishing: re-optimise over the atoms that a run kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd.dual import DualPoint, attach, evaluate
from unipd.errors import InvalidInput
from unipd.methods.base import Counts, State, primal_certificate
from unipd.methods.best import with_better_point
from unipd.methods.bundle import Bundle
from unipd.methods.corrective import has_smooth_loss
from unipd.methods.master import Master, solve_master
from unipd.methods.polishing_factors import polished_factors
from unipd.methods.product_factors import is_factorable
from unipd.methods.rescaled import RescaledState, reported
from unipd.methods.smoothness import initial_smoothness
from unipd.primal import AtomList
from unipd.primal.active_set import ActiveSet, vertex_key
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, norm

LIMIT = 300
"""Atoms re-optimised at most; lighter ones are merged into one."""
MULTIPLIER_STEPS = 40
"""Moves of the multipliers over the hull at most."""
STIFFER = 0.3
"""Factor of the dual proximal term between them."""
ORACLE_SHARE = 0.1


def polished(problem: Problem, state: State, accuracy: float) -> State:
    """Return the state with the best point over the hull of the atoms kept, if that is better than its own.

    Vector atoms (a list of atoms, an active set; otherwise the point itself) are re-optimised by the corrective
    master: the multipliers move until the point is optimal over the hull, then one oracle call gives the bound there.
    Spectral points are re-optimised over their factors. The point stays in X, the bound stays valid, and the larger of
    relative infeasibility and gap never grows.
    """
    if isinstance(state, RescaledState) and state.scaling is not None:
        inner = polished(state.scaling.problem, state.inner, accuracy)
        return reported(problem, state.scaling, inner)
    point = state.primal.point()
    if point is None:
        raise InvalidInput("result", 'a run that kept its point (a tracker other than "image")', "none")
    if is_factorable(problem.sharp):
        candidate = polished_factors(problem, state, accuracy)
    else:
        candidate = _over_the_hull(problem, state, accuracy)
    return replace(with_better_point(problem, state, candidate), counts=candidate.counts)


def _over_the_hull(problem: Problem, state: State, accuracy: float) -> State:
    kept, weights = _with_origin(problem, *heaviest(*_kept(state), LIMIT))
    dual = state.certificate.dual
    points = [_measured(problem, atom, dual) for atom in kept]
    counts = state.counts.plus(matvecs=len(points))
    bundle = Bundle.of(problem, points[0]).joined(*points[1:])
    bundle = bundle.at(_first_weights(bundle, points, weights))
    smoothness, counts = _smoothness(problem, state, points[0], accuracy, counts)
    bundle, dual = _optimised(problem, bundle, dual, smoothness, accuracy)
    tolerance = ORACLE_SHARE * accuracy * problem.scale(bundle.objective())
    answer = evaluate(problem, dual, tolerance=tolerance, start=points[0].atom)
    tracker, image = bundle.tracker(), bundle.image(problem)
    certificate = primal_certificate(problem, tracker, image, bundle.objective(), state.certificate)
    return replace(
        state,
        primal=tracker,
        image=image,
        mean_objective=bundle.objective(),
        certificate=certificate.improved(problem, answer),
        counts=counts.plus(oracle_calls=1, matvecs=answer.matvecs),
    )


def _kept(state: State) -> tuple[list[Any], list[float]]:
    """Return the atoms that a state kept and their weights; of other trackers the point itself."""
    primal = state.primal
    if isinstance(primal, AtomList):
        return primal.atoms, list(primal.weights)
    if isinstance(primal, ActiveSet):
        return [vertex.atom for vertex in primal.vertices], list(primal.weights)
    return [primal.point()], [1.0]


def heaviest(kept: list[Any], weights: list[float], limit: int) -> tuple[list[Any], list[float]]:
    """Return distinct atoms, the lightest merged into one so that at most ``limit`` are left."""
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


def _with_origin(problem: Problem, kept: list[Any], weights: list[float]) -> tuple[list[Any], list[float]]:
    """Return the atoms with zero among them where the weights add up to less than one: a run that began at x = 0."""
    missing = 1.0 - sum(weights)
    if missing <= 1e-12 or problem.sharp.degree == 2.0:
        return kept, weights
    return [*kept, atoms.zero_like(kept[0])], [*weights, missing]


def _measured(problem: Problem, atom: Any, dual: Array) -> DualPoint:
    image = np.asarray(problem.map.image(atom)).astype(problem.dtype, copy=False)
    return attach(problem, dual, SharpAnswer(atom, 0.0, problem.sharp.objective(atom), math.inf), image)


def _first_weights(bundle: Bundle, points: list[DualPoint], weights: list[float]) -> FloatArray:
    """Return the weights of the point as the bundle counts them; atoms of a squared gauge are scaled to f = 1."""
    if not bundle.conic and len(bundle.vertices) == len(weights):
        return np.array(weights) / sum(weights)
    if bundle.conic and len(bundle.vertices) == len(weights):
        return np.array(weights) * np.sqrt([max(point.objective, 0.0) for point in points])
    return np.full(len(bundle.vertices), 1.0 / len(bundle.vertices))


def _smoothness(
    problem: Problem, state: State, point: DualPoint, accuracy: float, counts: Counts
) -> tuple[float, Counts]:
    """Return M of the dual proximal term: that of the run, else an estimate; 0 for a smooth loss."""
    if has_smooth_loss(problem):
        return 0.0, counts
    if math.isfinite(state.smoothness) and state.smoothness > 0.0:
        return state.smoothness, counts
    eps = accuracy * problem.scale(point.objective)
    estimate = initial_smoothness(problem, point, eps, ORACLE_SHARE * eps)
    return estimate.smoothness, counts.plus(estimate.oracle_calls, 0, estimate.matvecs)


def _optimised(
    problem: Problem, bundle: Bundle, dual: Array, smoothness: float, accuracy: float
) -> tuple[Bundle, Array]:
    """Move the multipliers until the point is optimal over the hull: the proximal point method on its dual."""
    for _ in range(MULTIPLIER_STEPS):
        weights, moved = solve_master(Master(problem, bundle, dual, smoothness), bundle.weights)
        bundle, residual, dual = bundle.at(weights), smoothness * norm(moved - dual), moved
        if residual <= 0.1 * accuracy * max(1.0, problem.norm_b):
            break
        smoothness *= STIFFER
    return bundle, dual
