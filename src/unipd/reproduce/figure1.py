"""The paper's Figure 1: universal methods and Frank-Wolfe on one noiseless tomography problem."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unipd._util import validate
from unipd.apps.tomography import PAPER_EPS, Paulis, QuantumState, pauli_map, simulate, tomography_problem
from unipd.errors import InvalidInput
from unipd.methods import AccUniPDGrad, FrankWolfe, UniPDGrad
from unipd.problem import Problem
from unipd.report import pictures
from unipd.report.curves import positive_or_nan
from unipd.reproduce.comparison import Contestant, Progress, Trace, run_trace, write_table
from unipd.spectral import Engine
from unipd.trackers.atoms import HasAtoms

ORACLE_ACCURACY = 1e-6
"""Accuracy of the eigenvectors of the Frank-Wolfe methods, relative to 1/2 ||b||^2."""
COLUMNS = ("iteration", "seconds", "objective", "oracle_calls", "trials", "matvecs")
"""Columns of the CSV file from the history of a run; the last one is the relative error."""
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


def figure1_experiment(qubits: int, seed: int = 0, threads: int | None = None) -> tuple[Problem, QuantumState]:
    """Return the noiseless problem of a random pure state, with the paper's number of measurements, and that state.

    All methods share one accurate eigensolver, as in the paper.

    Parameters
    ----------
    qubits
        The number of qubits.
    seed
        Seed of the random numbers; equal seeds give equal results.
    threads
        The number of threads; None for all cores.

    See Also
    --------
    run_figure1

    Examples
    --------
    >>> problem, state = figure1_experiment(2)
    >>> problem, state.qubits
    (Problem(Spectrahedron, PauliMap, n=..., LeastSquares...), 2)
    """
    experiment = simulate("random", qubits, seed=seed, threads=threads)
    data = experiment.data
    measured = pauli_map(Paulis(qubits, data.x, data.z), threads=threads)
    return tomography_problem(measured, data, "least-squares", engine=Engine()), experiment.state


def measure_error(truth: QuantumState) -> Callable[[Any], float]:
    """Return the function of a method's state that is ||X - X*||_F / ||X*||_F for a pure X* = v v^*.

    With the columns of X = sum_i w_i l_i l_i^* split into l = a v + r, r orthogonal to v, its square is
    (sum w |r|^2)^2 + 2 |sum w a^* r|^2 + ||sum w r r^*||^2 for X of trace one: nothing cancels, and nothing of the size
    of X is formed.
    """
    vector = truth.eigenvectors[:, 0]

    def error(state: Any) -> float:
        primal: Any = state.primal
        if isinstance(primal, HasAtoms):
            parts: list[tuple[Any, float]] = list(zip(primal.atoms, primal.weights.tolist(), strict=True))
        else:
            parts = [(primal.point(), 1.0)]
        columns = np.concatenate([atom.left for atom, _ in parts], axis=1)
        weights = np.concatenate([np.real(atom.weights) * weight for atom, weight in parts]).astype(np.float64)
        along = vector.conj() @ columns
        rest = columns - np.outer(vector, along)
        gram = (rest.conj().T @ rest) * np.sqrt(np.outer(weights, weights))
        cross = rest @ (weights * along.conj())
        lost = float(np.trace(gram).real)
        return math.sqrt(lost**2 + 2.0 * float(np.vdot(cross, cross).real) + float(np.sum(np.abs(gram) ** 2)))

    return error


def run_figure1(
    problem: Problem,
    truth: QuantumState,
    *,
    iterations: int = 100,
    time_limit: float | None = None,
    methods: Sequence[Contestant] = METHODS,
    progress: Progress | None = None,
) -> list[Trace]:
    """Run the methods one after the other and return their histories.

    Parameters
    ----------
    problem, truth
        The problem and its solution, from :func:`figure1_experiment`; the merit of a run is the relative error of X.
    iterations, time_limit
        Iterations and seconds of each method.
    methods
        The methods; the paper's six by default.
    progress
        Called with the method's name, the iteration and the merit.

    Returns
    -------
    list of Trace

    Raises
    ------
    InvalidInput
        ``iterations``: expected an integer of at least 1.

    See Also
    --------
    figure1_experiment, plot_figure1, write_figure1

    Examples
    --------
    >>> traces = run_figure1(*figure1_experiment(3), iterations=5)
    >>> len(traces), len(traces[0].history)
    (6, 5)
    """
    limit = validate.integer("iterations", iterations, minimum=1)
    return [
        run_trace(
            problem,
            contestant,
            measure_error(truth),
            accuracy=ORACLE_ACCURACY,
            tracker="atoms",
            iterations=limit,
            time_limit=time_limit,
            progress=progress,
        )
        for contestant in methods
    ]


def summarize_trace(trace: Trace) -> dict[str, Any]:
    """Return the figures at the end of a run, with the paper's trials per iteration."""
    more = {"relative_error": float(trace.merit[-1]), "paper_trials_per_iteration": trace.contestant.paper_trials}
    return {**trace.summary(), **more}


def write_figure1(traces: Sequence[Trace], path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row per method and iteration.

    Parameters
    ----------
    traces
        The runs of :func:`run_figure1`.
    path
        Path of the file.

    See Also
    --------
    run_figure1, plot_figure1

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_figure1(run_figure1(*figure1_experiment(2), iterations=3), f"{folder}/figure1.csv")
    ...     "objective" in Path(folder, "figure1.csv").read_text()
    True
    """
    curves = (((trace.name,), [*(trace.history[name] for name in COLUMNS), trace.merit]) for trace in traces)
    write_table(path, ("method", *COLUMNS, "relative_error"), curves)


def plot_figure1(
    traces: Sequence[Trace],
    path: str | os.PathLike[str] | None = None,
    *,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw objective and relative error against iterations and seconds; runs with a line search are dashed.

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

    Raises
    ------
    InvalidInput
        ``traces``: expected at least one run.

    See Also
    --------
    run_figure1, write_figure1, plot_figure2

    Examples
    --------
    >>> traces = run_figure1(*figure1_experiment(2), iterations=3)
    >>> len(plot_figure1(traces).axes)
    4
    """
    if not traces:
        raise InvalidInput("traces", "at least one run", "none")
    families = list(dict.fromkeys(trace.contestant.family for trace in traces))
    names = ("objective  $\\frac{1}{2}||A(X) - b||^2$", "relative error  $||X - X^*|| / ||X^*||$")
    with pictures.new_picture(path, width, theme) as picture:
        wide = picture.is_wide
        picture.set_height(1.0 if wide else 3.2)
        shape = (2, 2) if wide else (4, 1)
        panels: Any = picture.figure.subplots(*shape, sharey="row" if wide else False, squeeze=False)
        for place, axes in enumerate(panels.reshape(-1)):
            column, label = (("iteration", "iterations"), ("seconds", "seconds"))[place % 2]
            axes.set_xscale("log")
            axes.set_yscale("log")
            for trace in traces:
                axes.plot(
                    trace.history[column],
                    positive_or_nan(trace.history["objective"] if place < 2 else trace.merit),
                    color=picture.theme.cycle[families.index(trace.contestant.family)],
                    linestyle="--" if trace.contestant.has_line_search else "-",
                    linewidth=1.3,
                    marker="*" if trace.contestant.goal else "o",
                    markersize=9 if trace.contestant.goal else 3.5,
                    markevery=[len(trace.history) - 1],
                    label=trace.name + _trials_text(trace),
                )
            axes.set_xlabel(label)
            if not wide or place % 2 == 0:
                axes.set_ylabel(names[place // 2])
        pictures.legend(panels[0, 0], title=title, columns=3 if wide else 1)
    return picture.figure


def _trials_text(trace: Trace) -> str:
    """Return the trials per iteration next to those of the paper, where it reports them."""
    paper = trace.contestant.paper_trials
    return "" if trace.trials is None or paper is None else f" ({trace.trials:.3f} trials; paper {paper:.3f})"
