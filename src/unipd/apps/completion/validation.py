"""Which ratings are held out to choose the radius, and the error of prediction on them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.design import Design, Settings, split_blocks
from unipd.apps.completion.guess import guessed_radius
from unipd.apps.completion.parameters import Parameters, clip_range
from unipd.apps.completion.placing import Data
from unipd.apps.completion.radius import Fold, choose_radius
from unipd.apps.completion.trials import Chosen
from unipd.team import team

FEWEST = 20
"""Ratings below which nothing is held out and the radius is guessed."""
ENOUGH, MOST_SETS = 1000, 5
"""Ratings held out by which the radius is chosen; with fewer in one set, up to so many sets are held out."""


def chosen_radius(data: Data, given: Parameters, settings: Settings) -> Chosen:
    """Return the radius by validation on ratings held out at random (by a guess when there are few).

    Which ones depends on the order in which they were given, not on the names of users and items. Few ratings held out
    tell little: other sets are then held out too, ``ENOUGH`` ratings together.
    """
    count, share = _of_all(data.values), given.validation_fraction
    draws = np.random.default_rng(given.seed).random(count)
    sets = min(max(math.ceil(ENOUGH / (share * count)), 1), MOST_SETS, int(1.0 / share))
    sizes = np.histogram(draws, share * np.arange(sets + 1))[0]
    if count < FEWEST or sizes.min() == 0 or sizes.max() == count:
        return Chosen(guessed_radius(Design(data.rows, data.columns, data.values, data.shape, settings)))
    own = team().own(draws, data.values.size) if data.order is None else draws[data.order]
    chosen = [(own >= place * share) & (own < (place + 1) * share) for place in range(sets)]
    return choose_radius([_fold(data, held, given, settings) for held in chosen], given.plan)


def _fold(data: Data, held: Array, given: Parameters, settings: Settings) -> Fold:
    """Return the model on the ratings not held out, and the error on the others."""
    rest = replace(data, rows=data.rows[~held], columns=data.columns[~held], values=data.values[~held], order=None)
    design = Design(rest.rows, rest.columns, rest.values, rest.shape, settings)
    rows, columns, truth = data.rows[held], data.columns[held], data.values[held]
    limits = clip_range(given.clip, team().joined(rest.values))

    def judge(point: Any) -> float:
        return root_mean_square(predicted(design, point, rows, columns, limits) - truth)[1]

    return design, judge


def predicted(
    design: Design, point: Any, rows: IntArray, columns: IntArray, limits: tuple[float, float] | None
) -> FloatArray:
    """Return the predictions of a point (Z, b, c) at places."""
    left, right = design.effective(point)
    _, users, items = split_blocks(point)
    out = design.mean + users[rows] + items[columns] + np.einsum("ij,ij->i", left[rows], right[columns])
    return out if limits is None else np.clip(out, *limits)


def root_mean_square(error: FloatArray) -> tuple[int, float]:
    """Return the number of entries that all members of a team have, and their root mean square."""
    squares, count = team().total(np.array([float(np.sum(error**2)), float(error.size)]))
    return int(count), float(np.sqrt(squares / count))


def _of_all(values: FloatArray) -> int:
    return int(team().total(np.array([values.size]))[0])
