"""The paper's Figure 1: universal methods and Frank-Wolfe on one noiseless tomography problem."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from unipd._util import validate
from unipd.apps.tomography import PAPER_EPS, Paulis, pauli_map, simulate, tomography_problem
from unipd.errors import InvalidInput
from unipd.methods import AccUniPDGrad, FrankWolfe, UniPDGrad
from unipd.problem import Problem
from unipd.report import style
from unipd.report.curves import positive_or_nan
from unipd.reproduce.comparison import Contestant, Progress, Trace, run_trace, write_table
from unipd.spectral import Engine

ORACLE_ACCURACY = 1e-6
"""Accuracy of the eigenvectors of the Frank-Wolfe methods, relative to 1/2 ||b||^2."""
COLUMNS = ("iteration", "seconds", "objective", "oracle_calls", "trials", "matvecs")
"""Columns of the CSV file."""
METHODS = (
    Contestant("UniPDGrad", "uni", False, UniPDGrad(eps=PAPER_EPS), paper_trials=1.978),
    Contestant("AccUniPDGrad", "acc", False, AccUniPDGrad(eps=PAPER_EPS), paper_trials=1.057),
    Contestant("UniPDGrad, greedy weights", "uni", True, UniPDGrad(eps=PAPER_EPS, weights="greedy")),
    Contestant("AccUniPDGrad, greedy weights", "acc", True, AccUniPDGrad(eps=PAPER_EPS, weights="greedy")),
    Contestant("Frank-Wolfe", "fw", False, FrankWolfe("open-loop")),
    Contestant("Frank-Wolfe, line search", "fw", True, FrankWolfe("line-search")),
)
"""The six curves of the figure."""
DEFAULT = Contestant("default (factored)", "default", False, "auto", goal=ORACLE_ACCURACY)
"""What :func:`unipd.solve` does by default with the problem, until its gap is certified."""


def figure1_problem(qubits: int, seed: int = 0, threads: int | None = None) -> Problem:
    """Return the noiseless problem of a random pure state, with the paper's number of measurements.

    All methods share one accurate eigensolver, as in the paper.
    """
    data = simulate("random", qubits, seed=seed, threads=threads).data
    measured = pauli_map(Paulis(qubits, data.x, data.z), threads=threads)
    return tomography_problem(measured, data, "least-squares", engine=Engine())


def run_figure1(
    problem: Problem,
    *,
    iterations: int = 100,
    time_limit: float | None = None,
    methods: Sequence[Contestant] = METHODS,
    progress: Progress | None = None,
) -> list[Trace]:
    """Run the methods one after the other and return their histories.

    Parameters
    ----------
    problem
        The problem, from :func:`figure1_problem`.
    iterations, time_limit
        Iterations and seconds of each method.
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
    return [
        run_trace(
            problem,
            contestant,
            lambda state: float(state.certificate.objective),
            accuracy=ORACLE_ACCURACY,
            tracker="image",
            iterations=limit,
            time_limit=time_limit,
            progress=progress,
        )
        for contestant in methods
    ]


def summarize_trace(trace: Trace) -> dict[str, Any]:
    """Return the figures at the end of a run, with the paper's trials per iteration."""
    return {**trace.summary(), "paper_trials_per_iteration": trace.contestant.paper_trials}


def write_figure1(traces: Sequence[Trace], path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row per method and iteration."""
    curves = (((trace.name,), [trace.history[name] for name in COLUMNS]) for trace in traces)
    write_table(path, ("method", *COLUMNS), curves)


def plot_figure1(
    traces: Sequence[Trace],
    path: str | os.PathLike[str] | None = None,
    *,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the objective against iterations and seconds; runs with a line search are dashed, as in the paper.

    Parameters
    ----------
    traces
        The runs of :func:`run_figure1`.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    colours, inches = style.check_look(width, theme, path)
    if not traces:
        raise InvalidInput("traces", "at least one run", "none")
    wide = inches >= style.WIDE
    figure = style.new_figure(inches, (0.5 if wide else 1.6) * inches, colours)
    panels = figure.subplots(*((1, 2) if wide else (2, 1)), sharey=True)
    families = list(dict.fromkeys(trace.contestant.family for trace in traces))
    for axes, column, label in zip(panels, ("iteration", "seconds"), ("iterations", "seconds"), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for trace in traces:
            axes.plot(
                trace.history[column],
                positive_or_nan(trace.history["objective"]),
                color=colours.cycle[families.index(trace.contestant.family)],
                linestyle="--" if trace.contestant.has_line_search else "-",
                linewidth=1.3,
                marker="*" if trace.contestant.goal else "o",
                markersize=9 if trace.contestant.goal else 3.5,
                markevery=[len(trace.history) - 1],
                label=_legend_label(trace),
            )
        axes.set_xlabel(label)
        style.dress(axes, colours)
    for axes in panels[: 1 if wide else 2]:
        axes.set_ylabel("objective  $\\frac{1}{2}||A(X) - b||^2$")
    style.legend(panels[0], colours, title=title, columns=3 if wide else 1)
    return style.finish(figure, path)


def _legend_label(trace: Trace) -> str:
    """Return the name with the trials per iteration and, where the paper prints them, the paper's."""
    paper = trace.contestant.paper_trials
    if trace.trials is None or paper is None:
        return trace.name
    return f"{trace.name} ({trace.trials:.3f} trials; paper {paper:.3f})"
