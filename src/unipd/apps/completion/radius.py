"""The radius by held-out validation: a short search along a warm-started path."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from unipd.apps.completion.deadline import Deadline
from unipd.apps.completion.design import Design, Start, split_blocks
from unipd.apps.completion.fitted import orthogonal_factors
from unipd.apps.completion.guess import guessed_radius
from unipd.apps.completion.solving import Plan, quiet, solve_design, start_of
from unipd.apps.completion.trials import Chosen, Trial, Work, together
from unipd.run import interruption
from unipd.status import Status

STEP = 2.0
"""Factor between neighbouring radii."""
MOST_TRIALS = 12
SHARP = 0.05
"""Where a neighbour's error is larger by this share, a parabola says little, and its least point is tried."""
MOST_REFINEMENTS, NEAR = 3, 1.05
"""How often it is, and the ratio to radii already tried below which it is not."""
FILLED = 0.99
"""Share of its radius that a ball is filled to at least by the matrix that it bounds."""
PATH_ACCURACY = 3e-2
"""Relative accuracy of the fits along the path: their errors of prediction are then known to a few 1e-4."""
PATH_ITERATIONS = 2


Judge = Callable[[object], float]
Fold = tuple[Design, Judge]
"""The model on the ratings that were not held out, and the error of a point (Z, b, c) on those that were."""


def choose_radius(folds: Sequence[Fold], plan: Plan) -> Chosen:
    """Return the radius with the least error of prediction, and what was tried.

    From a guess the radius is doubled, or halved, while that helps; then a parabola through the best radius and its
    neighbours, in the logarithm of the radius, gives the answer. Where errors differ much, its least point is tried and
    joins them. A ball that the matrix does not fill counts with the norm of the matrix (unless that is zero), and no
    larger one is tried.
    Errors of several folds are put together. A trial that the time limit cuts short does not count: then the answer
    comes from those before it, or is the guess.

    Parameters
    ----------
    folds
        What was held out.
    plan
        How to solve; the accuracy is this module's own, and the time limit that of the whole search.
    """
    loose = replace(quiet(plan), accuracy=max(plan.accuracy, PATH_ACCURACY), iterations=PATH_ITERATIONS, widen=False)
    search = _Search(folds, loose, verbose=plan.verbose)
    guess = guessed_radius(folds[0][0])
    search.add(guess, None)
    for direction in (STEP, 1.0 / STEP):
        while search.goes_on():
            edge, others = _ends(search.trials, last=direction > 1.0)
            if any(edge.error >= other.error for other in others) or (direction > 1.0 and not edge.filled):
                break
            search.add(direction * edge.radius, edge)
    for _ in range(MOST_REFINEMENTS):
        between = search.between() if search.goes_on() else None
        if between is None:
            break
        search.add(between, search.below(between))
    radius = least_of_parabola(search.radii, search.errors) if search.trials else guess
    return Chosen(radius, tuple(search.trials), search.work, search.cut)


def _ends(trials: list[Trial], *, last: bool) -> tuple[Trial, list[Trial]]:
    """Return the trial at one end, and the others."""
    return (trials[-1], trials[:-1]) if last else (trials[0], trials[1:])


class _Search:
    """Radii tried so far, in order."""

    def __init__(self, folds: Sequence[Fold], plan: Plan, *, verbose: bool) -> None:
        self._folds, self._plan, self._verbose = folds, plan, verbose
        self._deadline = Deadline.in_seconds(plan.seconds)
        self.trials: list[Trial] = []
        self.work, self.cut = Work(), False

    @property
    def radii(self) -> list[float]:
        return [trial.radius for trial in self.trials]

    @property
    def errors(self) -> list[float]:
        return [trial.error for trial in self.trials]

    @property
    def best(self) -> Trial:
        return min(self.trials, key=lambda trial: trial.error)

    def goes_on(self) -> bool:
        return len(self.trials) < MOST_TRIALS and not self.cut and not interruption.requested()

    def below(self, radius: float) -> Trial:
        """Return the largest trial below: a smaller ball is a better start than a larger one, which may overfit."""
        return max((trial for trial in self.trials if trial.radius < radius), key=lambda trial: trial.radius)

    def between(self) -> float | None:
        """Return another radius beside the best one where errors differ much, else None."""
        place = self.trials.index(self.best)
        beside = self.trials[max(place - 1, 0) : place + 2]
        if len(beside) == 1 or max(trial.error for trial in beside) <= (1.0 + SHARP) * self.best.error:
            return None
        if len(beside) == 3:
            found = least_of_parabola(self.radii, self.errors)
        elif beside[1].filled:
            return None
        else:
            found = math.sqrt(beside[0].radius * beside[1].radius)
        return None if any(1.0 / NEAR < found / radius < NEAR for radius in self.radii) else found

    def add(self, radius: float, near: Trial | None) -> None:
        """Try a radius, starting from a trial."""
        starts: Sequence[Start | None] = [None] * len(self._folds) if near is None else near.starts
        runs: list[Trial] = []
        for fold, start in zip(self._folds, starts, strict=True):
            run = self._tried(fold, radius, start)
            if run is None:
                self.cut = True
                return
            runs.append(run)
        trial = together(runs)
        if self._verbose:
            print(f"radius {trial.radius:.5g}: validation error {trial.error:.5f}", file=sys.stderr, flush=True)
        self.trials = sorted([*self.trials, trial], key=lambda trial: trial.radius)

    def _tried(self, fold: Fold, radius: float, start: Start | None) -> Trial | None:
        """Return the trial of a radius on one fold, None when the time is over before its end."""
        left, (design, judge) = self._deadline.left(), fold
        if left == 0.0:
            return None
        result = solve_design(design, radius, replace(self._plan, seconds=left), start)
        self.work = self.work.plus(result)
        if result.status is Status.INTERRUPTED and not interruption.requested():
            raise KeyboardInterrupt
        if result.status is Status.TIME_LIMIT:
            return None
        matrix = split_blocks(result.x)[0]
        norm = float(orthogonal_factors(matrix.left * matrix.weights, matrix.right)[1].sum())
        filled = norm >= FILLED * radius or norm == 0.0
        return Trial(radius if filled else norm, judge(result.x), (start_of(design, radius, result),), filled)


def least_of_parabola(radii: list[float], errors: list[float]) -> float:
    """Return the minimiser of the parabola in log radius through the best point and its neighbours.

    At an end of the path it is the best radius itself.

    >>> least_of_parabola([1.0, 2.0, 4.0], [3.0, 1.0, 3.0])
    2.0
    """
    best = int(np.argmin(errors))
    if best in (0, len(errors) - 1):
        return radii[best]
    (left, middle, right), (a, b, c) = np.log(radii[best - 1 : best + 2]), errors[best - 1 : best + 2]
    slopes = (b - a) / (middle - left), (c - b) / (right - middle)
    curve = (slopes[1] - slopes[0]) / (right - left)
    if curve <= 0.0:
        return radii[best]
    vertex = 0.5 * (left + middle) - slopes[0] / (2.0 * curve)
    return float(math.exp(min(max(vertex, left), right)))
