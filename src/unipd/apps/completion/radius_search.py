"""Choose the radius by held-out validation: initial radius, folds, and a search along a warm-started path."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.context import current_communicator
from unipd._util.printing import print_to_stderr
from unipd.apps.completion.fitted_model import CHUNK, clip_range
from unipd.apps.completion.problem import CompletionProblem, ModelSettings, WarmStart, fit_biases, split_blocks
from unipd.apps.completion.ratings import IndexedRatings
from unipd.apps.completion.solver import (
    Deadline,
    SolverOptions,
    orthogonal_factors,
    solve_completion,
    warm_start_from,
)
from unipd.run import interruption
from unipd.status import Status

EXPLAINED = 0.25
"""Assumed ratio of multiplier times radius, at the best radius, to the loss of biases alone."""
PROBES = 8
"""Random vectors of the estimate of a Frobenius norm."""
STEP = 2.0
"""Ratio of neighbouring radii."""
MOST_TRIALS = 12
SHARP = 0.05
"""If a neighbour's error is larger by this share, a parabola is unreliable and its minimiser is tried, too."""
MOST_REFINEMENTS, NEAR = 3, 1.05
"""Limit of such trials, and the ratio of two radii below which they count as equal."""
FILLED = 0.99
"""A ball is active if the norm of the matrix is at least this share of its radius."""
PATH_ACCURACY = 3e-2
"""Relative accuracy of the fits along the path: enough to know prediction errors to a few 1e-4."""
PATH_ITERATIONS = 2
FEWEST = 20
"""With fewer ratings nothing is held out and the initial radius is used."""
ENOUGH, MOST_SETS = 1000, 5
"""Ratings to hold out; while one set has fewer, up to ``MOST_SETS`` sets are held out in turn."""
NO_WORK: dict[str, float] = {"iterations": 0, "oracle_calls": 0, "matvecs": 0, "seconds": 0.0}
"""The work of no runs; names are those of :meth:`unipd.run.Result.summary`."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One radius that was tried."""

    radius: float
    """The radius, or the norm of the fitted matrix if the ball is inactive."""
    error: float
    """Root mean squared error on the held-out ratings."""
    starts: tuple[WarmStart, ...]
    """Warm starts for other radii, one per held-out set."""
    is_filled: bool
    """Whether the ball is active; if not, a larger one changes nothing."""


def average_trials(runs: Sequence[Trial]) -> Trial:
    """Combine the trials of one radius on several held-out sets."""
    return Trial(
        sum(run.radius for run in runs) / len(runs),
        math.sqrt(sum(run.error**2 for run in runs) / len(runs)),
        tuple(start for run in runs for start in run.starts),
        any(run.is_filled for run in runs),
    )


@dataclass(frozen=True, eq=False)
class RadiusChoice:
    """A radius and the search that chose it.

    Parameters
    ----------
    radius
        The radius chosen.
    trials
        Radii tried, in increasing order; none if there was no search.
    start
        Warm start for a fit with this radius.
    work
        Work of all runs, including any ended by the time limit.
    cut
        Whether the time limit ended the search.

    See Also
    --------
    choose_radius

    Examples
    --------
    >>> RadiusChoice(3.0).start is None
    True
    """

    radius: float
    trials: tuple[Trial, ...] = ()
    start: WarmStart | None = None
    work: Mapping[str, float] = field(default_factory=lambda: NO_WORK)
    cut: bool = False


def initial_radius(completion: CompletionProblem) -> float:
    """Estimate the radius at which multiplier times radius is ``EXPLAINED`` of the loss of biases alone.

    The multiplier is estimated by the root mean square of the singular values of A^* (residual of biases alone).

    Parameters
    ----------
    completion
        The ratings and the model.

    Returns
    -------
    float

    See Also
    --------
    choose_radius, CompletionProblem

    Examples
    --------
    >>> from unipd.apps.completion import ball_formulation
    >>> initial_radius(ball_formulation(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2))) > 0.0
    True
    """
    residual = completion.target
    if completion.settings.biases:
        residual = residual - completion.biases_at_ratings(*fit_biases(completion))
    loss = 0.5 * completion.settings.scale * float(residual @ residual)
    length = _adjoint_frobenius_norm(completion, completion.settings.scale * residual)
    multiplier = length / math.sqrt(min(completion.shape))
    return EXPLAINED * loss / multiplier if multiplier > 0.0 and loss > 0.0 else 1.0


def _adjoint_frobenius_norm(completion: CompletionProblem, dual: Array) -> float:
    """Return the Frobenius norm of A^* dual = L_u^T S L_v, by random probes when features couple the entries of S."""
    if completion.left.is_diagonal and completion.right.is_diagonal:
        scales = completion.left.scales[completion.users] * completion.right.scales[completion.items]
        entries = scales * current_communicator().local_part(dual, scales.size)
        return math.sqrt(float(current_communicator().allreduce(np.array([entries @ entries]))[0]))
    slope = completion.sampled.adjoint(dual)
    probes = np.random.default_rng(0).standard_normal((completion.inner_shape[1], PROBES))
    return float(np.linalg.norm(slope.matmat(probes))) / math.sqrt(PROBES)


Fold = tuple[CompletionProblem, Callable[[Any], float]]
"""The problem on the training ratings, and the error of a point (Z, b, c) on the held-out ones."""


def choose_radius(folds: Sequence[Fold], options: SolverOptions) -> RadiusChoice:
    """Return the radius with the least validation error, and the radii tried.

    From an initial estimate the radius is doubled, or halved, while the error decreases; the answer minimises a
    parabola, in the logarithm of the radius, through the best radius and its neighbours. Where their errors differ
    much, the minimiser is tried as well. An inactive ball counts with the norm of the matrix (unless that is zero),
    and no larger one is tried. A trial ended by the time limit is discarded.

    Parameters
    ----------
    folds
        Training problems with their validation errors; errors of several folds are averaged.
    options
        Solver options; the time limit is that of the whole search, accuracy and iterations are those of this module.

    See Also
    --------
    RadiusChoice, initial_radius, unipd.MatrixCompletion

    Examples
    --------
    ``MatrixCompletion(radius="auto")`` calls it:

    >>> import unipd
    >>> made = unipd.reproduce.generate_ratings((30, 20), 250, rank=1, noise=0.1)
    >>> estimate = unipd.MatrixCompletion(radius="auto").fit((made.users, made.items, made.values))
    >>> estimate.radius_ > 0.0
    True
    """
    accuracy = max(options.accuracy, PATH_ACCURACY)
    loose = replace(options, accuracy=accuracy, iterations=PATH_ITERATIONS, widen=False, callback=None, verbose=False)
    search = _RadiusSearch(folds, loose, verbose=options.verbose)
    first = initial_radius(folds[0][0])
    search.add(first, None)
    for direction in (STEP, 1.0 / STEP):
        while search.may_continue():
            edge = search.trials[-1 if direction > 1.0 else 0]
            is_best = all(edge.error < other.error for other in search.trials if other is not edge)
            if not is_best or (direction > 1.0 and not edge.is_filled):
                break
            search.add(direction * edge.radius, edge)
    for _ in range(MOST_REFINEMENTS):
        refined = search.refined_radius() if search.may_continue() else None
        if refined is None:
            break
        below = [trial for trial in search.trials if trial.radius < refined]
        search.add(refined, below[-1])  # larger balls overfit and are worse warm starts
    if not search.trials:
        return RadiusChoice(first, work=search.work, cut=search.cut)
    radius = least_of_parabola(search.radii, search.errors)
    nearest = min(search.trials, key=lambda trial: abs(math.log(trial.radius / radius)))
    trials = tuple(replace(trial, starts=()) for trial in search.trials)
    return RadiusChoice(radius, trials, nearest.starts[0], search.work, search.cut)


class _RadiusSearch:
    """Radii tried so far, in order."""

    def __init__(self, folds: Sequence[Fold], options: SolverOptions, *, verbose: bool) -> None:
        self._folds, self._options, self._verbose = folds, options, verbose
        self._deadline = Deadline(options.seconds)
        self.trials: list[Trial] = []
        self.work, self.cut = NO_WORK, False

    @property
    def radii(self) -> list[float]:
        return [trial.radius for trial in self.trials]

    @property
    def errors(self) -> list[float]:
        return [trial.error for trial in self.trials]

    def may_continue(self) -> bool:
        return len(self.trials) < MOST_TRIALS and not self.cut and not interruption.is_stop_requested()

    def refined_radius(self) -> float | None:
        """Return another radius near the best one if the neighbours' errors differ much, else None."""
        place = int(np.argmin(self.errors))
        near = self.trials[max(place - 1, 0) : place + 2]
        if len(near) == 1 or max(trial.error for trial in near) <= (1.0 + SHARP) * self.trials[place].error:
            return None
        if len(near) == 3:
            refined = least_of_parabola(self.radii, self.errors)
        elif near[1].is_filled:
            return None
        else:
            refined = math.sqrt(near[0].radius * near[1].radius)
        return None if any(1.0 / NEAR < refined / radius < NEAR for radius in self.radii) else refined

    def add(self, radius: float, near: Trial | None) -> None:
        """Try a radius on every fold, warm-started from a trial."""
        starts: Sequence[WarmStart | None] = [None] * len(self._folds) if near is None else near.starts
        runs: list[Trial] = []
        for fold, start in zip(self._folds, starts, strict=True):
            run = self._try_radius(fold, radius, start)
            if run is None:
                self.cut = True
                return
            runs.append(run)
        trial = average_trials(runs)
        if self._verbose:
            print_to_stderr(f"radius {trial.radius:.5g}: validation error {trial.error:.5f}")
        self.trials = sorted([*self.trials, trial], key=lambda trial: trial.radius)

    def _try_radius(self, fold: Fold, radius: float, start: WarmStart | None) -> Trial | None:
        """Return the trial of a radius on one fold; None if the time limit ended it."""
        remaining, (completion, error_of) = self._deadline.remaining(), fold
        if remaining == 0.0:
            return None
        result = solve_completion(completion, radius, replace(self._options, seconds=remaining), start)
        figures = result.summary()
        self.work = {name: spent + figures[name] for name, spent in self.work.items()}
        if result.status is Status.INTERRUPTED and not interruption.is_stop_requested():
            raise KeyboardInterrupt
        if result.status is Status.TIME_LIMIT:
            return None
        matrix = split_blocks(result.x)[0]
        norm = float(orthogonal_factors(matrix.left * matrix.weights, matrix.right)[1].sum())
        is_filled = norm >= FILLED * radius or norm == 0.0
        start = warm_start_from(completion, radius, result)
        return Trial(radius if is_filled else norm, error_of(result.x), (start,), is_filled)


def least_of_parabola(radii: list[float], errors: list[float]) -> float:
    """Return the minimiser of the parabola in log radius through the best point and its neighbours.

    At an end of the path that is the best radius itself.

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


def cross_validate_radius(
    data: IndexedRatings,
    settings: ModelSettings,
    options: SolverOptions,
    *,
    fraction: float,
    seed: int,
    clip: tuple[float, float] | bool,
) -> RadiusChoice:
    """Choose the radius by validation on a random ``fraction`` of the ratings (with few ratings, estimate it).

    The held-out ratings depend on the order of the ratings, not on the names of users and items.
    """
    count = int(current_communicator().allreduce(np.array([data.values.size]))[0])
    draws = np.random.default_rng(seed).random(count)
    sets = min(max(math.ceil(ENOUGH / (fraction * count)), 1), MOST_SETS, int(1.0 / fraction))
    sizes = np.histogram(draws, fraction * np.arange(sets + 1))[0]
    if count < FEWEST or sizes.min() == 0 or sizes.max() == count:
        return RadiusChoice(initial_radius(CompletionProblem.from_ratings(data, settings)))
    draws = current_communicator().local_part(draws, data.values.size) if data.order is None else draws[data.order]
    masks = [(draws >= place * fraction) & (draws < (place + 1) * fraction) for place in range(sets)]
    del draws
    return choose_radius([_split_fold(data, held, settings, clip) for held in masks], options)


def _split_fold(data: IndexedRatings, held: Array, settings: ModelSettings, clip: tuple[float, float] | bool) -> Fold:
    """Return the problem on the ratings not held out, and the error on the others."""
    unordered = replace(data, order=None)  # the places in the input are as long as the data
    rest, test = unordered.where(~held), unordered.where(held)
    completion = CompletionProblem.from_ratings(rest, settings)
    limits = clip_range(clip, current_communicator().allgather(rest.values))

    def error_of(point: Any) -> float:
        return root_mean_square(predict_at(completion, point, test.rows, test.columns, limits) - test.values)[1]

    return completion, error_of


def predict_at(
    completion: CompletionProblem, point: Any, rows: IntArray, columns: IntArray, limits: tuple[float, float] | None
) -> FloatArray:
    """Return the predictions of a point (Z, b, c) at rows and columns."""
    left, right = completion.effective(point)
    _, users, items = split_blocks(point)
    out = completion.mean + users[rows] + items[columns]
    step = max(1, CHUNK // left.shape[1])
    for first in range(0, out.size, step):
        part = slice(first, first + step)
        out[part] += np.einsum("ij,ij->i", left[rows[part]], right[columns[part]])
    return out if limits is None else np.clip(out, *limits)


def root_mean_square(error: FloatArray) -> tuple[int, float]:
    """Return the number of errors on all ranks and their root mean square."""
    squares, count = current_communicator().allreduce(np.array([float(np.sum(error**2)), float(error.size)]))
    return int(count), float(np.sqrt(squares / count))
