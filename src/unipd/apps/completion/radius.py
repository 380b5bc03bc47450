"""The radius by held-out validation: a short search along a warm-started path."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unipd.apps.completion.biases import fit_biases
from unipd.apps.completion.design import Design, Start
from unipd.apps.completion.solving import Plan, quiet, solve_design, start_of
from unipd.methods import Counts
from unipd.run import interruption
from unipd.status import Status

EXPLAINED = 0.25
"""Share of the loss of biases alone that radius times multiplier is guessed to have at the best radius."""
STEP = 2.0
"""Factor between neighbouring radii."""
MOST_TRIALS = 12
PATH_ACCURACY = 3e-2
"""Relative accuracy of the fits along the path: their errors of prediction are then known to a few 1e-4."""
PATH_ITERATIONS = 2
PROBES = 8


@dataclass(frozen=True, eq=False)
class Trial:
    """One radius that was tried."""

    radius: float
    error: float
    """Root mean squared error on the ratings held out."""
    start: Start
    """Where a run at another radius can start from."""
    iterations: int
    counts: Counts
    seconds: float


Judge = Callable[[object], float]


def choose_radius(design: Design, judge: Judge, plan: Plan) -> tuple[float, list[Trial]]:
    """Return the radius with the least error of prediction, and what was tried.

    From a guess the radius is doubled, or halved, while that helps; then a parabola through the best radius and its
    neighbours, in the logarithm of the radius, gives the answer.

    Parameters
    ----------
    design
        The model on the ratings that were not held out.
    judge
        Error of a point (Z, b, c) on those that were.
    plan
        How to solve; the accuracy is this module's own.
    """
    loose = replace(quiet(plan), accuracy=max(plan.accuracy, PATH_ACCURACY), iterations=PATH_ITERATIONS, widen=False)
    tell = _teller(plan.verbose)
    trials = [tell(_tried(design, judge, loose, guessed_radius(design), None))]
    for direction in (STEP, 1.0 / STEP):
        while len(trials) < MOST_TRIALS and not interruption.requested():
            edge = max(trials, key=lambda trial: math.copysign(trial.radius, direction - 1.0))
            if edge is not min(trials, key=lambda trial: trial.error):
                break
            trials.append(tell(_tried(design, judge, loose, direction * edge.radius, edge.start)))
    trials.sort(key=lambda trial: trial.radius)
    return least_of_parabola([trial.radius for trial in trials], [trial.error for trial in trials]), trials


def guessed_radius(design: Design) -> float:
    """Return a radius of the right order: at it, multiplier times radius is a share of the loss of biases alone.

    The multiplier is guessed as the root mean square of the singular values of A^* (residual of biases alone).
    """
    residual = design.target
    if design.settings.biases:
        residual = residual - design.biases_at_ratings(*fit_biases(design))
    loss = 0.5 * design.settings.scale * float(residual @ residual)
    slope = design.sampled.adjoint(design.settings.scale * residual)
    probes = np.random.default_rng(0).standard_normal((design.inner_shape[1], PROBES))
    frobenius = float(np.linalg.norm(slope.matmat(probes))) / math.sqrt(PROBES)
    multiplier = frobenius / math.sqrt(min(design.shape))
    return EXPLAINED * loss / multiplier if multiplier > 0.0 and loss > 0.0 else 1.0


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


def _tried(design: Design, judge: Judge, plan: Plan, radius: float, start: Start | None) -> Trial:
    result = solve_design(design, radius, plan, start)
    if result.status is Status.INTERRUPTED and not interruption.requested():
        raise KeyboardInterrupt
    found = start_of(design, radius, result)
    return Trial(radius, judge(result.x), found, result.iterations, result.counts, result.seconds)


def _teller(verbose: bool) -> Callable[[Trial], Trial]:
    """Return a function that passes a trial on and, when asked to, says what it gave."""

    def tell(trial: Trial) -> Trial:
        if verbose:
            print(f"radius {trial.radius:.5g}: validation error {trial.error:.5f}", file=sys.stderr, flush=True)
        return trial

    return tell
