"""Run several methods on one problem and record their curves: what the paper's figures share."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd._util.files import format_csv, write_text
from unipd.methods import Method
from unipd.problem import Problem
from unipd.run import History, iterate

Progress = Callable[[str, int, float], Any]
"""Called with a run's name, the iteration and the figure of merit."""
WARM_UP = 2
"""Iterations before the clock starts."""


@dataclass(frozen=True)
class Contestant:
    """A method of the comparison."""

    name: str
    """Name in the legend."""
    family: str
    """Runs of one family share a colour."""
    has_line_search: bool
    """Whether weights (or step sizes) come from a line search; drawn dashed."""
    method: Method | str
    """The method, or its name."""
    formulation: str = ""
    """Which of the figure's problems it solves."""
    paper_trials: float | None = None
    """Line-search trials per iteration printed in the paper."""
    goal: float = 0.0
    """Certified relative gap at which the run ends; 0 for the whole number of iterations."""


@dataclass(frozen=True, eq=False)
class Trace:
    """One run of the comparison."""

    contestant: Contestant
    history: History
    merit: FloatArray
    """Figure of merit after each iteration."""

    @property
    def name(self) -> str:
        """Name in the legend."""
        return self.contestant.name

    @property
    def trials(self) -> float | None:
        """Line-search trials per iteration; None for methods without a line search."""
        total = float(self.history["trials"][-1])
        return total / len(self.history) if total else None

    def summary(self) -> dict[str, Any]:
        """Return the figures at the end of the run."""
        figures = {name: float(self.history[name][-1]) for name in ("seconds", "objective", "gap")}
        counts = {"iterations": len(self.history), "matvecs": int(self.history["matvecs"][-1])}
        return {"method": self.name, **counts, **figures, "trials_per_iteration": self.trials}


def run_trace(
    problem: Problem,
    contestant: Contestant,
    merit: Callable[[Any], float],
    *,
    accuracy: float,
    tracker: Any,
    iterations: int,
    time_limit: float | None,
    progress: Progress | None,
) -> Trace:
    """Run one method.

    The clock starts after a few iterations that compile kernels and fill caches, and stops while ``merit(state)`` is
    computed, recorded and reported.
    """
    for _ in itertools.islice(iterate(problem, contestant.method, accuracy=accuracy, tracker=tracker), WARM_UP):
        pass
    history, values, seconds, begin = History(), list[float](), 0.0, time.perf_counter()
    name = f"{contestant.name} ({contestant.formulation})" if contestant.formulation else contestant.name
    for state in iterate(problem, contestant.method, accuracy=accuracy, tracker=tracker):
        seconds += time.perf_counter() - begin
        history.record(problem, state, seconds)
        values.append(merit(state))
        if progress is not None:
            progress(name, state.iteration, values[-1])
        is_over = state.iteration >= iterations or (time_limit is not None and seconds >= time_limit)
        if is_over or abs(state.certificate.gap(problem)) <= contestant.goal:
            break
        begin = time.perf_counter()
    return Trace(contestant, history, np.array(values))


def write_table(
    path: str | os.PathLike[str], header: Sequence[str], curves: Iterable[tuple[Sequence[str], Sequence[FloatArray]]]
) -> None:
    """Write curves to a CSV file, one row per run and iteration: the labels of the run, then its columns."""
    rows = (
        (*labels, *(f"{value:.10g}" for value in row))
        for labels, columns in curves
        for row in zip(*columns, strict=True)
    )
    write_text(Path(path), format_csv(header, rows))
