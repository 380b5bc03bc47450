"""From ratings and parameters to a fitted model."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.biases import fit_biases
from unipd.apps.completion.blas import modest_blas
from unipd.apps.completion.design import Design, Settings, Start, split_blocks
from unipd.apps.completion.fitted import Fitted, orthogonal_factors
from unipd.apps.completion.formulations import factored_norm_method, least_norm, noise_of
from unipd.apps.completion.guess import guessed_radius
from unipd.apps.completion.parameters import Parameters, clip_range
from unipd.apps.completion.placing import Data
from unipd.apps.completion.radius import Fold, Trial, choose_radius
from unipd.apps.completion.solving import solve_design, start_of
from unipd.problem import Problem
from unipd.run import MaxSeconds, Result, solve
from unipd.team import team

FEWEST = 20
"""Ratings below which nothing is held out and the radius is guessed."""
ENOUGH, MOST_SETS = 1000, 5
"""Ratings held out by which the radius is chosen; with fewer in one set, up to so many sets are held out."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Everything that a fit gave."""

    fitted: Fitted
    result: Result
    data: Data
    radius: float
    """Radius of the ball; for formulation (b) the nuclear norm found."""
    path: tuple[Trial, ...]
    """Radii tried by validation."""
    start: Start | None
    """Where a fit to more ratings can start from."""
    seconds: float
    """What everything took."""
    count: int
    """Number of ratings, of all members of a team."""
    training_error: float
    """Root mean squared error on them."""


def fit_data(data: Data, given: Parameters, settings: Settings, start: Start | None, radius: float | None) -> Fit:
    """Return the fit to placed ratings.

    Parameters
    ----------
    data
        The ratings.
    given
        The parameters.
    settings
        Those of the model, with the features of users and items put in their places.
    start, radius
        From an earlier fit, for ratings that were added.
    """
    begun = time.perf_counter()
    if given.residual is not None:
        return _fit_norm(data, given, settings, begun)
    path: list[Trial] = []
    radius = given.radius if radius is None else radius
    if radius is None:
        radius, path = _chosen_radius(data, given, settings)
        if path:
            start = min(path, key=lambda trial: abs(np.log(trial.radius / radius))).starts[0]
    design = Design(data.rows, data.columns, data.values, data.shape, settings)
    if given.method == "factored":
        result = solve_design(design, radius, given.plan, start)
        start = start_of(design, radius, result)
    else:
        result, start = _solve_plainly(design.problem(radius), given), None
    fitted = _fitted(data, given, design, result.x, (None, None))
    return Fit(fitted, result, data, radius, tuple(path), start, time.perf_counter() - begun, *_measured(data, fitted))


def _measured(data: Data, fitted: Fitted) -> tuple[int, float]:
    """Return the number of ratings and the root mean squared error on them."""
    ratings = data.ratings()
    return _root_mean_square(fitted.predict(ratings.users, ratings.items) - ratings.values)


def _root_mean_square(error: FloatArray) -> tuple[int, float]:
    """Return the number of entries that all members of a team have, and their root mean square."""
    squares, count = team().total(np.array([float(np.sum(error**2)), float(error.size)]))
    return int(count), float(np.sqrt(squares / count))


def _of_all(values: FloatArray) -> int:
    return int(team().total(np.array([values.size]))[0])


def _solve_plainly(problem: Problem, given: Parameters) -> Result:
    """Run one of the library's methods as it is, with the atoms kept."""
    plan = given.plan
    return solve(
        problem,
        given.method,
        accuracy=plan.accuracy,
        stop=None if plan.seconds is None else MaxSeconds(plan.seconds),
        callback=plan.callback,
        verbose=plan.verbose,
        tracker="atoms",
    )


def _chosen_radius(data: Data, given: Parameters, settings: Settings) -> tuple[float, list[Trial]]:
    """Return the radius by validation on ratings held out at random (by a guess when there are few).

    Few ratings held out tell little: other sets are then held out too, ``ENOUGH`` ratings together.
    """
    count, share = _of_all(data.values), given.validation_fraction
    draws = np.random.default_rng(given.seed).random(count)
    sets = min(max(math.ceil(ENOUGH / (share * count)), 1), MOST_SETS, int(1.0 / share))
    chosen = [(draws >= place * share) & (draws < (place + 1) * share) for place in range(sets)]
    if count < FEWEST or any(held.all() or not held.any() for held in chosen):
        return guessed_radius(Design(data.rows, data.columns, data.values, data.shape, settings)), []
    return choose_radius(
        [_fold(data, team().own(held, data.values.size), given, settings) for held in chosen], given.plan
    )


def _fold(data: Data, held: Array, given: Parameters, settings: Settings) -> Fold:
    """Return the model on the ratings not held out, and the error on the others."""
    rest = replace(data, rows=data.rows[~held], columns=data.columns[~held], values=data.values[~held])
    design = Design(rest.rows, rest.columns, rest.values, rest.shape, settings)
    rows, columns, truth = data.rows[held], data.columns[held], data.values[held]
    limits = clip_range(given.clip, team().joined(rest.values))

    def judge(point: Any) -> float:
        return _root_mean_square(predicted(design, point, rows, columns, limits) - truth)[1]

    return design, judge


def predicted(
    design: Design, point: Any, rows: IntArray, columns: IntArray, limits: tuple[float, float] | None
) -> FloatArray:
    """Return the predictions of a point (Z, b, c) at places."""
    left, right = design.effective(point)
    _, users, items = split_blocks(point)
    out = design.mean + users[rows] + items[columns] + np.einsum("ij,ij->i", left[rows], right[columns])
    return out if limits is None else np.clip(out, *limits)


def _fit_norm(data: Data, given: Parameters, settings: Settings, begun: float) -> Fit:
    """Fit formulation (b): biases first, then the least nuclear norm whose residual is small enough."""
    design = Design(data.rows, data.columns, data.values, data.shape, settings)
    biases = fit_biases(design)
    target = design.target - design.biases_at_ratings(*biases)
    problem = least_norm(design, target, noise_of(given.residual or 0.0, target.size))
    if given.method == "factored":
        plan = given.plan
        method = factored_norm_method(design, problem, plan.rank)
        with modest_blas(sum(design.inner_shape)):
            result = solve(
                problem,
                method,
                accuracy=plan.accuracy,
                stop=plan.stop(),
                callback=plan.callback,
                verbose=plan.verbose,
            )
    else:
        result = _solve_plainly(problem, given)
    radius = float(np.sqrt(max(result.objective, 0.0) * target.size))
    fitted = _fitted(data, given, design, result.x, biases)
    return Fit(fitted, result, data, radius, (), None, time.perf_counter() - begun, *_measured(data, fitted))


def _fitted(
    data: Data, given: Parameters, design: Design, point: Any, biases: tuple[Array | None, Array | None]
) -> Fitted:
    left, values, right = orthogonal_factors(*design.effective(point))
    parts = split_blocks(point)
    users, items = biases if len(parts) == 1 else parts[1:]
    limits = clip_range(given.clip, team().joined(data.values))
    return Fitted(
        data.users, data.items, design.mean, np.asarray(users), np.asarray(items), left, values, right, limits
    )
