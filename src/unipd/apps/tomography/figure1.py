"""The paper's Figure 1: universal methods and Frank-Wolfe on one noiseless tomography problem."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unipd import validate
from unipd.apps.tomography.mapping import pauli_map
from unipd.apps.tomography.measurements import require_room
from unipd.apps.tomography.paulis import Paulis
from unipd.apps.tomography.problem import tomography_problem
from unipd.apps.tomography.settings import PAPER_EPS
from unipd.apps.tomography.simulate import simulate
from unipd.methods import AccUniPDGrad, FrankWolfe, Method, UniPDGrad
from unipd.problem import Problem
from unipd.replacing import write_text
from unipd.run import History, iterate
from unipd.spectral import Engine

ORACLE_ACCURACY = 1e-6
"""Accuracy, relative to 1/2 ||b||^2, that the eigenvectors of the Frank-Wolfe methods are computed for."""
COLUMNS = ("iteration", "seconds", "objective", "oracle_calls", "trials", "matvecs")
"""What the CSV file has of every run."""


@dataclass(frozen=True)
class Contestant:
    """A method of the comparison."""

    name: str
    """Name in the legend."""
    family: str
    """Runs of one family share a colour."""
    searched: bool
    """Whether weights (or step sizes) are found by line search."""
    method: Method
    paper_trials: float | None = None
    """Line-search trials an iteration that the paper prints."""


METHODS = (
    Contestant("UniPDGrad", "uni", False, UniPDGrad(eps=PAPER_EPS), 1.978),
    Contestant("AccUniPDGrad", "acc", False, AccUniPDGrad(eps=PAPER_EPS), 1.057),
    Contestant("UniPDGrad, greedy weights", "uni", True, UniPDGrad(eps=PAPER_EPS, weights="greedy")),
    Contestant("AccUniPDGrad, greedy weights", "acc", True, AccUniPDGrad(eps=PAPER_EPS, weights="greedy")),
    Contestant("Frank-Wolfe", "fw", False, FrankWolfe("open-loop")),
    Contestant("Frank-Wolfe, line search", "fw", True, FrankWolfe("line-search")),
)
"""The six curves of the figure."""


@dataclass(frozen=True)
class Trace:
    """One run of the comparison."""

    name: str
    family: str
    searched: bool
    history: History
    paper_trials: float | None

    @property
    def trials(self) -> float | None:
        """Average number of line-search trials an iteration; None for methods without."""
        total = float(self.history["trials"][-1])
        return total / len(self.history) if total else None

    def summary(self) -> dict[str, Any]:
        """Return the figures at the end of the run."""
        ends = {name: float(self.history[name][-1]) for name in ("iteration", "seconds", "objective", "matvecs")}
        return {
            "method": self.name,
            "iterations": int(ends["iteration"]),
            "seconds": ends["seconds"],
            "objective": ends["objective"],
            "matvecs": int(ends["matvecs"]),
            "trials_per_iteration": self.trials,
            "paper_trials_per_iteration": self.paper_trials,
        }


def figure1_problem(qubits: int, seed: int = 0, threads: int | None = None) -> Problem:
    """Return the noiseless problem of a random pure state, with the paper's number of measurements.

    All methods share one careful eigensolver, as in the paper.
    """
    require_room(qubits)
    data = simulate("random", qubits, seed=seed, threads=threads).data
    measured = pauli_map(Paulis(qubits, data.x, data.z), threads=threads)
    return tomography_problem(measured, data, "least-squares", engine=Engine())


def run_figure1(
    problem: Problem,
    *,
    iterations: int = 100,
    time_limit: float | None = None,
    methods: Sequence[Contestant] = METHODS,
    progress: Callable[[str, int, float], Any] | None = None,
) -> list[Trace]:
    """Run the methods one after the other and return their histories.

    Parameters
    ----------
    problem
        The problem, of :func:`figure1_problem`.
    iterations
        Iterations of each method.
    time_limit
        Seconds for each method at most.
    methods
        The methods; the paper's six by default.
    progress
        Called with the method's name, the iteration and the objective.

    Examples
    --------
    >>> traces = run_figure1(figure1_problem(3), iterations=5)
    >>> len(traces), len(traces[0].history)
    (6, 5)
    """
    limit = validate.integer("iterations", iterations, minimum=1)
    traces: list[Trace] = []
    for contestant in methods:
        history, begun = History(), time.perf_counter()
        for state in iterate(problem, contestant.method, accuracy=ORACLE_ACCURACY, tracker="image"):
            seconds = time.perf_counter() - begun
            history.record(problem, state, seconds)
            if progress is not None:
                progress(contestant.name, state.iteration, state.certificate.objective)
            if state.iteration >= limit or (time_limit is not None and seconds >= time_limit):
                break
        traces.append(Trace(contestant.name, contestant.family, contestant.searched, history, contestant.paper_trials))
    return traces


def write_figure1(traces: Sequence[Trace], path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row a method and iteration."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("method", *COLUMNS))
    for trace in traces:
        columns = [trace.history[name] for name in COLUMNS]
        writer.writerows((trace.name, *(f"{value:.10g}" for value in row)) for row in zip(*columns, strict=True))
    write_text(Path(path), table.getvalue())
