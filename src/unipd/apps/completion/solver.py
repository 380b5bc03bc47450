"""Solve a completion problem by the factored method, in stages between which the rank grows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.context import current_communicator
from unipd._util.threads import limit_blas_threads
from unipd.apps.completion.problem import CompletionProblem, WarmStart, split_blocks
from unipd.apps.completion.ratings import Index, IndexedRatings
from unipd.atoms import Blocks, LowRank
from unipd.methods.factored.factored import Factored
from unipd.run import History, MaxIterations, MaxSeconds, Result, StoppingRule, solve
from unipd.run.history import COLUMNS
from unipd.spectral import RESIDUAL, RIGOROUS
from unipd.status import Status

_ADDED = ("iteration", "seconds", "cpu_seconds", "oracle_calls", "trials", "matvecs")
"""Columns of a history that add up over stages."""
FIRST_RANK = 64
"""Initial number of columns."""
INNER_STEPS = 20
"""Quasi-Newton steps between two oracle calls."""
PAIRS = 4
"""Quasi-Newton pairs: each has twice the size of the factors, and the preconditioner makes more of little use."""
CROWDED = 4
"""Atoms added to the factors before these are widened."""
WIDENING = 1.5
"""Factor by which the number of columns then grows."""
MOST_ITERATIONS = 200
SMALL_ROWS = 50_000
"""Rows of the factors up to which one BLAS thread is faster than several."""

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
        Iteration limit; over a ball, per stage between two widenings.
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
    iterations: int = MOST_ITERATIONS
    seconds: float | None = None
    callback: Callable[[Any], bool | None] | None = None
    verbose: bool = False

    def stop(self, elapsed: float = 0.0) -> StoppingRule:
        """Return the limits as a stopping rule, ``elapsed`` seconds after the start."""
        rule: StoppingRule = MaxIterations(self.iterations)
        return rule if self.seconds is None else rule | MaxSeconds(max(self.seconds - elapsed, 0.0))


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


def single_thread_if_small(rows: int) -> AbstractContextManager[Any]:
    """Return a context with one BLAS thread for factors of few rows."""
    return contextlib.nullcontext() if rows > SMALL_ROWS else limit_blas_threads(1)


def orthogonal_factors(left: Array, right: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (U, s, V) with orthonormal columns and U diag(s) V^T = left right^T.

    >>> orthogonal_factors(np.array([[2.0], [0.0]]), np.array([[3.0]]))[1]
    array([6.])
    """
    with single_thread_if_small(len(left) + len(right)):
        first, upper = np.linalg.qr(left)
        second, lower = np.linalg.qr(right)
        outer, values, inner = np.linalg.svd(upper @ lower.T, full_matrices=False)
        return first @ outer, values, second @ inner.T


def solve_completion(
    completion: CompletionProblem, radius: float, options: SolverOptions, start: WarmStart | None = None
) -> Result:
    """Return the result of the factored method on ``completion.problem(radius)``.

    The number of columns grows in stages: when the oracle has added several atoms, the factors get random columns and
    the method is warm-started. A first short stage estimates the multiplier of the radius. A zero target is solved by
    the zero matrix.

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
    result: Result | None = None
    while True:
        rank = min(rank, *completion.inner_shape)
        watch = _StageCallback(rank if options.widen else None, options.callback, first=start is None)
        with single_thread_if_small(sum(completion.inner_shape)):
            stage = solve(
                problem,
                Factored(
                    rank=rank, inner_steps=INNER_STEPS, memory=PAIRS, factors=completion.factors(radius, rank, start)
                ),
                accuracy=options.accuracy,
                stop=options.stop(0.0 if result is None else result.seconds),
                callback=watch,
                verbose=options.verbose,
            )
        result = stage if result is None else merge_results(result, stage)
        if stage.status is not Status.STOPPED or not watch.is_stage_over:
            return result
        start = warm_start_from(completion, radius, result)
        result = stage = replace(result, state=None, image=None)  # which have many times the size of the point
        rank = round(WIDENING * rank) if watch.is_crowded else rank


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


class _StageCallback:
    """Callback that ends a stage: the first after one iteration, later ones when atoms crowd the factors."""

    def __init__(self, rank: int | None, callback: Callable[[Any], bool | None] | None, *, first: bool) -> None:
        self._rank, self._callback, self._first = rank, callback, first
        self.is_crowded = self.is_stage_over = False

    def __call__(self, info: Any) -> bool:
        wants_stop = bool(self._callback is not None and self._callback(info))
        columns = split_blocks(info.state.primal.point())[0].rank
        self.is_crowded = self._rank is not None and columns >= self._rank + CROWDED
        self.is_stage_over = not wants_stop and (self._first or self.is_crowded)
        return wants_stop or self.is_stage_over


def merge_results(first: Result, second: Result) -> Result:
    """Return the result of a run continued in another: the last point, the better bound, all work and history.

    A solved run keeps its own bound where the other is not certified.
    """
    is_usable = not second.status.success or first.bound_kind != RESIDUAL
    better, work = first if is_usable and first.dual_bound > second.dual_bound else second, second.counts
    return replace(
        second,
        counts=first.counts.plus(work.oracle_calls, work.trials, work.matvecs),
        iterations=first.iterations + second.iterations,
        seconds=first.seconds + second.seconds,
        dual_bound=better.dual_bound,
        dual=better.dual,
        bound_kind=better.bound_kind,
        gap=second.problem.relative_gap(second.objective, better.dual_bound),
        history=_merge_histories(first, second),
    )


def _merge_histories(first: Result, second: Result) -> History:
    """Concatenate two histories: work accumulates, and the best bound so far is kept."""
    before, after = first.history.table, second.history.table.copy()
    work = first.counts
    ends = (first.iterations, first.seconds, first.cpu_seconds, work.oracle_calls, work.trials, work.matvecs)
    for name, end in zip(_ADDED, ends, strict=True):
        after[:, COLUMNS.index(name)] += end
    bound, objective = COLUMNS.index("dual_bound"), COLUMNS.index("objective")
    after[:, bound] = np.maximum(after[:, bound], first.dual_bound)
    pairs = zip(after[:, objective].tolist(), after[:, bound].tolist(), strict=True)
    after[:, COLUMNS.index("gap")] = [second.problem.relative_gap(*pair) for pair in pairs]
    return History(np.concatenate([before, after], axis=0))


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
