"""Solve completion problems by the factored method, and choose the radius by validation.

The ball is fitted in stages, between which the rank grows; formulation (b) in one run, in units of the ratings' spread.
The radius is searched for along a warm-started path.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import norm
from unipd._util.context import current_communicator, is_stop_requested
from unipd._util.printing import print_to_stderr
from unipd.apps.completion.fitted_model import clip_range, predict_pairs
from unipd.apps.completion.problem import (
    CompletionProblem,
    ModelSettings,
    NormFactors,
    WarmStart,
    fit_biases,
    minimum_norm_problem,
    orthogonal_factors,
    single_thread_if_small,
    split_blocks,
)
from unipd.apps.completion.ratings import Index, IndexedRatings
from unipd.atoms import Blocks, LowRank
from unipd.methods.factored.augmented_lagrangian import FactoredState, requested_gap
from unipd.methods.factored.factored import Factored, first_scales, with_factor
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.run import History, MaxIterations, MaxSeconds, Result, solve
from unipd.run.history import COLUMNS
from unipd.run.termination import Callback
from unipd.spectral import RIGOROUS
from unipd.status import Status

EXPLAINED = 0.25
"""Assumed ratio of multiplier times radius, at the best radius, to the loss of biases alone."""
PROBES = 8
"""Random vectors of the estimate of a Frobenius norm."""
STEP = 2.0
"""Ratio of neighbouring radii."""
MOST_TRIALS = 12
STEEP = 0.05
"""If a neighbour's error is larger by this share, a parabola is unreliable and its minimiser is tried, too."""
MOST_REFINEMENTS, NEAR = 3, 1.05
"""Limit of such trials, and the ratio of two radii below which they count as equal."""
FILLED = 0.99
"""A ball is active if the norm of the matrix is at least this share of its radius."""
PATH_ACCURACY = 3e-2
"""Relative accuracy of the fits along the path: enough to know prediction errors to a few 1e-4."""
PATH_ITERATIONS = 2
"""Iterations of such a fit; the first one, without a warm start, has one more."""
FEWEST = 20
"""With fewer ratings nothing is held out and the initial radius is used."""
ENOUGH, MOST_SETS = 1000, 5
"""Ratings to hold out; while one set has fewer, up to ``MOST_SETS`` sets are held out in turn."""
NO_WORK: dict[str, float] = {"iterations": 0, "oracle_calls": 0, "matvecs": 0, "seconds": 0.0}
"""The work of no runs; names are those of :meth:`unipd.run.Result.summary`."""

FIRST_RANK = 64
"""Initial number of columns."""
INNER_STEPS = 20
"""Quasi-Newton steps between two oracle calls."""
PAIRS, SINGLE_PAIRS = 4, 2
"""Quasi-Newton pairs, also for problems in single precision, which are long: each has twice the size of the factors,
and the preconditioner makes more of little use."""
CROWDED = 4
"""Atoms added to the factors before these are widened."""
WIDENING = 1.5
"""Factor by which the number of columns then grows."""
MOST_ITERATIONS, MOST_NORM_ITERATIONS = 2000, 200
"""Iteration limits over a ball, where fits that nearly interpolate take hundreds, and of formulation (b)."""
INTERPOLATED = 1e-2
"""Share of the requested gap below which an objective is compared with the bound 0 of lam = 0: the fit interpolates."""
LONG_VECTOR = 1 << 22
"""Bytes of a vector of the ratings from which freed memory is returned to the system before a run."""

MORE_COLUMNS = "Without a radius, a larger residual, a lower accuracy or more initial columns (rank) may help."


@dataclass(frozen=True)
class SolverOptions:
    """How to solve a completion problem.

    Parameters
    ----------
    accuracy
        Relative duality gap to reach.
    rank
        Number of columns to begin with.
    widen
        Whether the number of columns may grow.
    iterations
        Iteration limit, or None.
    seconds
        Time limit.
    callback
        Called with an :class:`unipd.run.IterationInfo` after every iteration.
    verbose
        Whether to show progress.

    See Also
    --------
    solve_completion, choose_radius

    Examples
    --------
    >>> SolverOptions(accuracy=1e-4).rank
    64
    """

    accuracy: float = 1e-3
    rank: int = FIRST_RANK
    widen: bool = True
    iterations: int | None = MOST_ITERATIONS
    seconds: float | None = None
    callback: Callback | None = None
    verbose: bool = False

    def solve(self, problem: Problem, method: Any, **options: Any) -> Result:
        """Solve a problem within the limits.

        Parameters
        ----------
        problem, method, options
            As in :func:`unipd.solve`.
        """
        limits: list[Any] = [] if self.iterations is None else [MaxIterations(self.iterations)]
        if self.seconds is not None:
            limits.append(MaxSeconds(self.seconds))
        stop = reduce(or_, limits) if limits else None
        common: dict[str, Any] = {"accuracy": self.accuracy, "callback": self.callback, "verbose": self.verbose}
        return solve(problem, method, stop=stop, **common, **options)


@dataclass(frozen=True)
class Deadline:
    """A time limit that starts now; without a limit it never expires.

    >>> Deadline(None).remaining(), Deadline(0.0).remaining()
    (None, 0.0)
    """

    seconds: float | None
    start_time: float = field(default_factory=lambda: current_communicator().now())

    def remaining(self, share: float = 1.0) -> float | None:
        """Return the seconds remaining of the first ``share`` of the time; None without a limit."""
        if self.seconds is None:
            return None
        return max(share * self.seconds - (current_communicator().now() - self.start_time), 0.0)


def solve_completion(
    completion: CompletionProblem, radius: float, options: SolverOptions, start: WarmStart | None = None
) -> Result:
    """Return the result of the factored method on ``completion.problem(radius)``.

    The number of columns grows in stages; a first short one estimates the multiplier of the radius. A zero target is
    solved by the zero matrix.

    Parameters
    ----------
    completion
        The ratings and the model.
    radius
        The radius r > 0.
    options
        How to solve it.
    start
        A warm start, from an earlier fit.

    See Also
    --------
    SolverOptions, CompletionProblem

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.apps.completion.problem import ModelSettings
    >>> users, items = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> completion = CompletionProblem(users, items, np.arange(12.0) % 5, (4, 3), ModelSettings())
    >>> solve_completion(completion, 2.0, SolverOptions(accuracy=1e-6)).status.value
    'solved'
    """
    problem, rank = completion.problem(radius), options.rank
    if not completion.target.any():
        start, rank = completion.zero(radius), 1
    rank = min(rank, *completion.inner_shape)
    multiplier = completion.initial_multiplier(radius) if start is None else start.multiplier
    if completion.target.nbytes >= LONG_VECTOR:
        release_memory()
    with single_thread_if_small(sum(completion.inner_shape)):
        method = StagedFactored(
            rank=rank,
            inner_steps=INNER_STEPS,
            memory=SINGLE_PAIRS if completion.settings.dtype == np.float32 else PAIRS,
            factors=completion.factors(radius, multiplier),
            initial=None if start is None else completion.factor_of(start.point, radius, rank),
            completion=completion,
            radius=radius,
            multiplier=multiplier,
            widen=options.widen,
        )
        return options.solve(problem, method)


@dataclass(frozen=True)
class StagedState(FactoredState):
    """State of the factored method in stages."""

    multiplier: float = 1.0
    """Estimate of the multiplier of the radius, from the beginning of the stage."""
    columns: int = 1
    """Columns of the factor at that time."""


@dataclass(frozen=True, kw_only=True)
class StagedFactored(Factored):
    """The factored method on a completion problem over a ball, in stages between which the factor widens.

    A stage begins with random columns and a new estimate of the multiplier of the radius. It ends when the oracle has
    added several atoms; without a point to start from, the first one ends after one iteration.
    """

    completion: CompletionProblem
    radius: float
    multiplier: float
    """First estimate of the multiplier."""
    widen: bool = True

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> StagedState:
        """Start the first stage."""
        first = super().start(problem, tracker, dual, accuracy)
        return StagedState(**vars(first), multiplier=self.multiplier, columns=first.first_rank)

    def step(self, problem: Problem, state: Any) -> FactoredState:
        """Do an iteration, and start another stage where it ends one."""
        factors = self.completion.factors(self.radius, state.multiplier)
        moved: Any = super().step(problem, replace(state, model=replace(state.model, factors=factors)))
        certificate = moved.certificate
        if certificate.dual_bound < 0.0 and certificate.objective <= INTERPOLATED * requested_gap(problem, moved):
            zero = replace(certificate, dual_bound=0.0, ray_scale=0.0, bound_kind=RIGOROUS)
            return replace(moved, certificate=zero)
        is_crowded = self.widen and factors.rank(moved.factor) >= moved.columns + CROWDED
        is_over = is_crowded or (self.initial is None and moved.iteration == 1)
        if not is_over or moved.certificate.absolute_gap <= requested_gap(problem, moved):
            return moved
        return self._start_stage(problem, moved, round((WIDENING if is_crowded else 1.0) * moved.columns))

    def _start_stage(self, problem: Problem, state: StagedState, columns: int) -> StagedState:
        point, columns = state.primal.point(), min(columns, *self.completion.inner_shape)
        multiplier = self.completion.multiplier(point, state.here.dual, self.radius)
        moved: Any = with_factor(problem, state, self.completion.factor_of(point, self.radius, columns))
        return replace(moved, multiplier=multiplier, columns=columns)


def release_memory() -> None:
    """Return freed memory to the system: glibc keeps what lies between blocks in use, hundreds of MB after a search."""
    with contextlib.suppress(AttributeError, OSError):  # other C libraries
        ctypes.CDLL(None).malloc_trim(0)


def warm_start_from(completion: CompletionProblem, radius: float, result: Result) -> WarmStart:
    """Return the point of a result and the multiplier of its radius, to start another run from."""
    state: Any = result.state
    return WarmStart(result.x, completion.multiplier(result.x, state.here.dual, radius))


def reindex_warm_start(
    start: WarmStart, old: IndexedRatings, new: IndexedRatings, features: tuple[Any, Any]
) -> WarmStart:
    """Remap a warm start after new users or items appeared; their rows start at zero.

    Rows of Z belong to users and then to their features: the rated items, or columns of a given matrix, which stay.
    """
    matrix, user_bias, item_bias = start.point.parts
    users, items = (old.users, new.users), (old.items, new.items)
    point = LowRank(
        _reindex_factor(matrix.left, users, items if features[0] is None else None),
        _reindex_factor(matrix.right, items, users if features[1] is None else None),
        matrix.weights,
    )
    biases = (_reindex_rows(np.asarray(user_bias), *users), _reindex_rows(np.asarray(item_bias), *items))
    return WarmStart(Blocks((point, *biases)), start.multiplier)


def _reindex_factor(block: Array, own: tuple[Index, Index], rated: tuple[Index, Index] | None) -> Array:
    """Remap a factor's own rows, and those of the rating pattern if there are any."""
    rows, rest = block[: len(own[0])], block[len(own[0]) :]
    if len(rest) and rated is not None:
        rest = _reindex_rows(rest, *rated)
    return np.concatenate([_reindex_rows(rows, *own), rest], axis=0)


def _reindex_rows(rows: Array, old: Index, new: Index) -> Array:
    out: Any = np.zeros((len(new), *rows.shape[1:]), rows.dtype)
    out[new.positions(old.names)] = rows
    return out


def apply_trivial_bound(result: Result) -> Result:
    """Return the result with the bound 0 of lam = 0 where its own is lower: objectives are sums of squares."""
    if result.dual_bound >= 0.0:
        return result
    gap = result.problem.relative_gap(result.objective, 0.0)
    return replace(result, dual_bound=0.0, dual=np.zeros_like(result.dual), bound_kind=RIGOROUS, gap=gap)


def add_remedy(result: Result) -> Result:
    """Return the result with advice where the minimum nuclear norm was not found within the iteration limit."""
    is_limited = result.status is Status.ITERATION_LIMIT and result.method == "factored"
    if not is_limited or result.problem.loss is not None:
        return result
    return replace(result, note=f"{Status.ITERATION_LIMIT.message} {MORE_COLUMNS}")


def factored_norm_method(completion: CompletionProblem, problem: Problem, rank: int = FIRST_RANK) -> Factored:
    """Return the factored method for formulation (b), preconditioned for the ratings of ``completion``.

    ``rank`` is the initial number of columns; it grows while the oracle finds descent directions.
    """
    sharp: Any = problem.sharp
    left, right = completion.curvatures
    penalty, length = first_scales(problem, sharp.scale)
    factors = NormFactors(
        *completion.inner_shape,
        1.0,
        False,
        left=left,
        right=right,
        weight=sharp.scale,
        scale=completion.settings.scale,
        penalty=penalty,
        length=length,
    )
    return Factored(rank=min(rank, *completion.inner_shape), inner_steps=INNER_STEPS, factors=factors)


def solve_minimum_norm(
    completion: CompletionProblem, target: FloatArray, residual: float, run: Callable[[Problem], Result]
) -> Result:
    """Return the least nuclear norm with this root mean squared residual; ``run`` solves the problem.

    The problem is scaled to the spread of the target, so that tolerances do not depend on the unit of ratings.
    """
    unit, noise = power_of_two_scale(target, residual), residual * math.sqrt(target.size)
    result = run(minimum_norm_problem(completion, target / unit, noise / unit))
    return rescale_result(result, unit, minimum_norm_problem(completion, target, noise))


def power_of_two_scale(target: FloatArray, residual: float = 0.0) -> float:
    """Return the largest power of two below the root mean square of the target minus the residual; 1 for zeros.

    With the target over this unit, ||b|| and (without side information) the least ||X||_*^2 / n are at least 1. Gap
    and infeasibility are then relative, so a run that is accurate in this unit is accurate in that of the ratings.

    >>> power_of_two_scale(np.array([1.2, -0.9])), power_of_two_scale(np.array([300.0]), 40.0)
    (1.0, 256.0)
    """
    size = norm(target) / math.sqrt(target.size)
    size = size - residual if size > residual else size
    return 2.0 ** math.floor(math.log2(size)) if size > 0.0 else 1.0


def rescale_result(result: Result, unit: float, problem: Problem) -> Result:
    """Return the result for ``problem`` from that for its right-hand side over the unit.

    Points, images, multipliers and distances grow with the unit, objective and bound with its square; gap and
    infeasibility have no unit.
    """
    bounded, matrix = apply_trivial_bound(result), result.x
    objective, dual_bound = unit**2 * bounded.objective, unit**2 * bounded.dual_bound
    return replace(
        bounded,
        x=replace(matrix, weights=unit * matrix.weights),
        image=unit * bounded.image,
        dual=unit * bounded.dual,
        objective=objective,
        dual_bound=dual_bound,
        history=_rescale_history(bounded.history, unit),
        problem=problem,
    )


def _rescale_history(history: History, unit: float) -> History:
    rows: Any = history.table.copy()
    for column, factor in (("objective", unit**2), ("dual_bound", unit**2), ("violation", unit)):
        rows[:, COLUMNS.index(column)] *= factor
    return History(np.asarray(rows))


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
    loose = replace(options, accuracy=accuracy, widen=False, callback=None, verbose=False)
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
        return len(self.trials) < MOST_TRIALS and not self.cut and not is_stop_requested()

    def refined_radius(self) -> float | None:
        """Return another radius near the best one if the neighbours' errors differ much, else None."""
        place = int(np.argmin(self.errors))
        near = self.trials[max(place - 1, 0) : place + 2]
        if len(near) == 1 or max(trial.error for trial in near) <= (1.0 + STEEP) * self.trials[place].error:
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
        trial = Trial(
            sum(run.radius for run in runs) / len(runs),
            math.sqrt(sum(run.error**2 for run in runs) / len(runs)),
            tuple(start for run in runs for start in run.starts),
            any(run.is_filled for run in runs),
        )
        if self._verbose:
            print_to_stderr(f"radius {trial.radius:.5g}: validation error {trial.error:.5f}")
        self.trials = sorted([*self.trials, trial], key=lambda trial: trial.radius)

    def _try_radius(self, fold: Fold, radius: float, start: WarmStart | None) -> Trial | None:
        """Return the trial of a radius on one fold; None if the time limit ended it."""
        remaining, (completion, error_of) = self._deadline.remaining(), fold
        if remaining == 0.0:
            return None
        iterations = PATH_ITERATIONS + (start is None)
        options = replace(self._options, seconds=remaining, iterations=iterations)
        result = solve_completion(completion, radius, options, start)
        figures = result.summary()
        self.work = {name: spent + figures[name] for name, spent in self.work.items()}
        if result.status is Status.INTERRUPTED and not is_stop_requested():
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
    """Choose the radius by validation on a random ``fraction`` of the ratings (with few ratings, estimate it)."""
    count = int(current_communicator().allreduce(np.array([data.values.size]))[0])
    draws = np.random.default_rng(seed).random(count)
    sets = min(max(math.ceil(ENOUGH / (fraction * count)), 1), MOST_SETS, int(1.0 / fraction))
    sizes = np.histogram(draws, fraction * np.arange(sets + 1))[0]
    if count < FEWEST or sizes.min() == 0 or sizes.max() == count:
        return RadiusChoice(initial_radius(CompletionProblem.from_ratings(data, settings)))
    draws = current_communicator().local_part(draws, data.values.size)
    masks = [(draws >= place * fraction) & (draws < (place + 1) * fraction) for place in range(sets)]
    del draws
    return choose_radius([_split_fold(data, held, settings, clip) for held in masks], options)


def _split_fold(data: IndexedRatings, held: Array, settings: ModelSettings, clip: tuple[float, float] | bool) -> Fold:
    """Return the problem on the ratings not held out, and the error on the others."""
    rest, test = data.where(~held), data.where(held)
    completion = CompletionProblem.from_ratings(rest, settings)
    limits = clip_range(clip, current_communicator().allgather(rest.values))

    def error_of(point: Any) -> float:
        return root_mean_square(predict_at(completion, point, test.rows, test.columns, limits) - test.values)[1]

    return completion, error_of


def predict_at(
    completion: CompletionProblem, point: Any, rows: IntArray, columns: IntArray, limits: tuple[float, float] | None
) -> FloatArray:
    """Return the predictions of a point (Z, b, c) at rows and columns."""
    out = predict_pairs(completion.mean, split_blocks(point)[1:], completion.effective(point), rows, columns)
    return out if limits is None else np.clip(out, *limits)


def root_mean_square(error: FloatArray) -> tuple[int, float]:
    """Return the number of errors on all ranks and their root mean square."""
    squares, count = current_communicator().allreduce(np.array([float(np.sum(error**2)), float(error.size)]))
    return int(count), float(np.sqrt(squares / count))
