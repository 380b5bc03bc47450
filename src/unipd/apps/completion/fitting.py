"""From ratings and parameters to a fitted model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.completion.biases import fit_biases
from unipd.apps.completion.blas import modest_blas
from unipd.apps.completion.design import Design, Settings, Start, split_blocks
from unipd.apps.completion.fitted import NEGLIGIBLE, Fitted, orthogonal_factors
from unipd.apps.completion.formulations import factored_norm_method, least_norm, noise_of
from unipd.apps.completion.parameters import Parameters, clip_range
from unipd.apps.completion.placing import Data
from unipd.apps.completion.rated import Rated
from unipd.apps.completion.reporting import reported
from unipd.apps.completion.solving import solve_design, start_of
from unipd.apps.completion.trials import Trial
from unipd.apps.completion.units import in_units, unit_of
from unipd.apps.completion.validation import chosen_radius, root_mean_square
from unipd.problem import Problem
from unipd.protocols import norm
from unipd.run import MaxSeconds, Result, solve
from unipd.team import team

SEARCH_SHARE = 0.75
"""Share of a time limit that the choice of the radius may take; the rest is for the final fit."""


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

    def arrays(self) -> dict[str, Any]:
        """Return the model, and which items were rated, for a file."""
        return {**self.fitted.arrays(), **Rated.of(self.data).arrays()}


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
    radius, chosen = given.radius if radius is None else radius, None
    if given.residual is not None:
        fitted, result, radius = _fit_norm(data, given.in_time(), settings)
        start = None
    else:
        if radius is None:
            chosen = chosen_radius(data, given.in_time(SEARCH_SHARE), settings)
            radius, start = chosen.radius, chosen.start
        fitted, result, start = _fit_ball(data, given.in_time(), settings, start, radius)
    measured = _measured(data, fitted)
    path, seconds = () if chosen is None else chosen.trials, time.perf_counter() - begun
    return Fit(fitted, reported(result, chosen, seconds), data, radius, path, start, seconds, *measured)


def _fit_ball(
    data: Data, given: Parameters, settings: Settings, start: Start | None, radius: float
) -> tuple[Fitted, Result, Start | None]:
    """Fit formulation (a): biases and a matrix in the ball, jointly; return where another fit can start as well."""
    design = Design(data.rows, data.columns, data.values, data.shape, settings)
    if given.method == "factored":
        result = solve_design(design, radius, given.plan, start)
        start = start_of(design, radius, result)
    else:
        result, start = _solve_plainly(design.problem(radius), given), None
    return _fitted(data, given, design, result.x, (None, None)), result, start


def _measured(data: Data, fitted: Fitted) -> tuple[int, float]:
    """Return the number of ratings and the root mean squared error on them."""
    ratings = data.ratings()
    return root_mean_square(fitted.predict(ratings.users, ratings.items) - ratings.values)


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


def _fit_norm(data: Data, given: Parameters, settings: Settings) -> tuple[Fitted, Result, float]:
    """Fit formulation (b): biases first, then the least nuclear norm, returned too, whose residual is small enough.

    It is found in units of the spread that biases leave, in which gap and infeasibility are judged.
    """
    design = Design(data.rows, data.columns, data.values, data.shape, settings)
    biases = fit_biases(design)
    target = design.target - design.biases_at_ratings(*biases)
    unit, noise = unit_of(target), noise_of(given.residual or 0.0, target.size)
    problem = least_norm(design, target / unit, noise / unit)
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
    result = in_units(result, unit, least_norm(design, target, noise))
    least = float(np.sqrt(max(result.objective, 0.0) * target.size))
    return _fitted(data, given, design, result.x, biases), result, least


def _fitted(
    data: Data, given: Parameters, design: Design, point: Any, biases: tuple[Array | None, Array | None]
) -> Fitted:
    left, values, right = orthogonal_factors(*design.effective(point))
    parts = split_blocks(point)
    users, items = biases if len(parts) == 1 else parts[1:]
    limits = clip_range(given.clip, team().joined(data.values))
    return Fitted(
        data.users,
        data.items,
        design.mean,
        np.asarray(users),
        np.asarray(items),
        left,
        values,
        right,
        limits,
        _is_negligible(design, parts[0]),
    )


def _is_negligible(design: Design, matrix: Any) -> bool:
    """Whether X at the ratings is nothing beside how much these differ, or they do not differ."""
    spread = norm(design.target)
    return spread == 0.0 or norm(design.sampled.image(matrix)) <= NEGLIGIBLE * spread
