"""One result from a run that went on in another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unipd.methods import Counts
from unipd.run import History, Result
from unipd.run.history import COLUMNS

_ADDED = ("iteration", "seconds", "oracle_calls", "trials", "matvecs")


def joined_counts(first: Counts, second: Counts) -> Counts:
    """Return the work of both.

    >>> joined_counts(Counts(1, 2, 3), Counts(10, 20, 30)).matvecs
    33
    """
    return first.plus(second.oracle_calls, second.trials, second.matvecs)


def joined_results(first: Result, second: Result) -> Result:
    """Return the second result with the work and the history of both, and the better of the two bounds."""
    better = first if first.dual_bound > second.dual_bound else second
    scale = second.problem.scale(second.objective)
    return replace(
        second,
        counts=joined_counts(first.counts, second.counts),
        iterations=first.iterations + second.iterations,
        seconds=first.seconds + second.seconds,
        dual_bound=better.dual_bound,
        dual=better.dual,
        bound_kind=better.bound_kind,
        gap=(second.objective - better.dual_bound) / scale,
        history=_joined_histories(first, second, scale),
    )


def _joined_histories(first: Result, second: Result, scale: float) -> History:
    """Return the rows of both: work adds up, and the best bound so far stays."""
    before, after = first.history.table, second.history.table.copy()
    ends = (first.iterations, first.seconds, first.counts.oracle_calls, first.counts.trials, first.counts.matvecs)
    for name, end in zip(_ADDED, ends, strict=True):
        after[:, COLUMNS.index(name)] += end
    bound, objective = COLUMNS.index("dual_bound"), COLUMNS.index("objective")
    after[:, bound] = np.maximum(after[:, bound], first.dual_bound)
    after[:, COLUMNS.index("gap")] = (after[:, objective] - after[:, bound]) / scale
    return History(np.concatenate([before, after], axis=0))
