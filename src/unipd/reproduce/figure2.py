"""The paper's Figure 2: universal methods and Frank-Wolfe on matrix completion, in both formulations."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.apps.completion import SolverOptions, ball_formulation, norm_problem, solve_completion
from unipd.apps.completion.problem import CompletionProblem
from unipd.apps.completion.solver import factored_norm_method, root_mean_square
from unipd.io.ratings import Ratings
from unipd.maps import Sampling
from unipd.methods import AccUniPDGrad, FrankWolfe, UniPDGrad
from unipd.problem import Problem
from unipd.protocols import TrackerDefaults
from unipd.report import pictures
from unipd.report.curves import decimate, positive_or_nan
from unipd.reproduce.comparison import Contestant, Progress, Trace, run_trace, write_table
from unipd.run import MaxIterations, MaxSeconds, Result, solve
from unipd.spectral import PRECISION, fixed_tolerance_engine
from unipd.status import Status

EPS = 1e-3
"""The paper's accuracy."""
NORM_EPS_SHARE = 1.0
"""Accuracy for formulation (b) as a share of its optimum: with the paper's 1e-3 the methods hardly move."""
BALL, NORM = "ball", "norm"
COLUMNS = ("iteration", "seconds", "objective", "infeasibility", "oracle_calls", "trials", "matvecs")
REFERENCE_ACCURACY = 1e-6
NORM_ACCURACY = 1e-2
"""Certified accuracy of the optimum of (b), far finer than the methods reach."""
_NORM_STEPS, _NORM_COLUMNS = 200, 220

FAMILIES = {"fw": 1, "uni": 2, "acc": 0}
"""Colours of the families of methods, by their place in the theme's cycle."""
HIGHEST = 2.2
"""Largest test error shown, as a multiple of the best."""
_MARKS = 6
_PANELS = tuple(
    f"{what}, by {unit}"
    for what in ("objective", "infeasibility of (b)", "test error")
    for unit in ("iterations", "seconds")
)
REFERENCES = {BALL: "optimum of (a)", NORM: "optimum of (b)"}
"""Names of the reference solves in progress reports."""


def contestants(norm_eps: float) -> tuple[Contestant, ...]:
    """Return the curves of the figure; ``norm_eps`` is the accuracy of formulation (b)."""
    return (
        Contestant("Frank-Wolfe", "fw", False, FrankWolfe("open-loop"), BALL),
        Contestant("Frank-Wolfe, line search", "fw", True, FrankWolfe("line-search"), BALL),
        Contestant("UniPDGrad", "uni", False, UniPDGrad(eps=EPS), BALL),
        Contestant("AccUniPDGrad", "acc", False, AccUniPDGrad(eps=EPS), BALL),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, AccUniPDGrad(eps=EPS, weights="greedy"), BALL),
        Contestant("UniPDGrad", "uni", False, UniPDGrad(eps=norm_eps), NORM),
        Contestant("AccUniPDGrad", "acc", False, AccUniPDGrad(eps=norm_eps), NORM),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, AccUniPDGrad(eps=norm_eps, weights="greedy"), NORM),
    )


@dataclass(frozen=True, eq=False)
class TestImage(TrackerDefaults):
    """Tracker of the predictions on the test ratings, all that the figure needs of xbar."""

    sampling: Sampling
    image: Array

    __test__ = False

    def mix(self, gamma: float, atom: Any) -> TestImage:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        return TestImage(self.sampling, (1.0 - gamma) * self.image + gamma * self.sampling.image(atom))

    def point(self) -> None:
        """Return None: the matrix is not kept."""
        return


@dataclass(frozen=True, eq=False)
class Figure2:
    """Curves and reference optima."""

    traces: list[Trace]
    optima: dict[str, Result]
    """Reference solves by formulation; the point of (b) is nearly feasible, so its objective may be below psi^*."""
    test_errors: dict[str, float]
    """Test errors at the reference optima."""

    def reference_name(self, formulation: str) -> str:
        """Return what the reference solve found: the optimum, or where the time limit ended it."""
        name = REFERENCES[formulation]
        return f"time limit before the {name}" if self.optima[formulation].status is Status.TIME_LIMIT else name


def run_figure2(
    train: Ratings,
    test: Ratings,
    shape: tuple[int, int],
    radius: float,
    *,
    iterations: int = 500,
    time_limit: float | None = None,
    precision: float | None = PRECISION,
    progress: Progress | None = None,
) -> Figure2:
    """Run the methods one after the other and return their curves.

    Parameters
    ----------
    train, test
        Ratings whose users and items are rows and columns from 0.
    shape, radius
        Shape of the matrix, and kappa of formulation (a).
    iterations, time_limit
        Limits of each run; the time limit holds for each of the two reference solves, too. The clock of a run
        excludes two warm-up iterations, test errors and progress.
    precision
        Largest relative residual of the oracle's singular vectors; None for the tolerance each method requests.
    progress
        Called with a run's name, the iteration and the test error; first for the reference solves.

    Returns
    -------
    Figure2

    Raises
    ------
    InvalidInput
        ``iterations``: expected an integer of at least 1.

    See Also
    --------
    generate_ratings, plot_figure2, write_figure2

    Examples
    --------
    >>> from unipd.io import Ratings
    >>> from unipd.reproduce import generate_ratings
    >>> made = generate_ratings((12, 10), 40, rank=1)
    >>> ratings = Ratings(made.users, made.items, made.values)
    >>> curves = run_figure2(ratings, ratings, made.shape, 10.0, iterations=3)
    >>> sorted(curves.optima)
    ['ball', 'norm']
    """
    limit = validate.integer("iterations", iterations, minimum=1)
    data = (train.users, train.items, train.values, shape)
    ball = ball_formulation(*data)
    sampling = Sampling(test.users, test.items, shape)
    start = TestImage(sampling, np.zeros(test.values.size))
    problems = {BALL: ball.problem(radius, fixed_tolerance_engine(precision))}
    problems[NORM] = norm_problem(*data, precision=precision)

    def test_error(predictions: Array) -> float:
        return root_mean_square(predictions - test.values)[1]

    def reporter(formulation: str) -> Callable[[Any], None]:
        """Return the callback of a reference solve, which is announced at once."""
        name, say = REFERENCES[formulation], progress or (lambda *_: None)
        say(name, 0, test_error(start.image))
        return lambda info: say(name, info.iteration, test_error(sampling.image(info.state.primal.point())))

    options = SolverOptions(accuracy=REFERENCE_ACCURACY, seconds=time_limit, callback=reporter(BALL))
    optima = {BALL: solve_completion(ball, radius, options)}
    optima[NORM] = _solve_norm(ball, norm_problem(*data, precision=None), time_limit, reporter(NORM))
    norm_eps = NORM_EPS_SHARE * radius**2 / train.values.size
    traces = [
        run_trace(
            problems[contestant.formulation],
            contestant,
            lambda state: test_error(state.primal.image),
            accuracy=EPS,
            tracker=start,
            iterations=limit,
            time_limit=time_limit,
            progress=progress,
        )
        for contestant in contestants(norm_eps)
    ]
    return Figure2(traces, optima, {name: test_error(sampling.image(best.x)) for name, best in optima.items()})


def _solve_norm(
    ball: CompletionProblem, norm: Problem, time_limit: float | None, callback: Callable[[Any], None]
) -> Result:
    """Return the optimum of formulation (b), nearly."""
    method = factored_norm_method(ball, norm, min(_NORM_COLUMNS, *ball.shape))
    stop = MaxIterations(_NORM_STEPS) if time_limit is None else MaxIterations(_NORM_STEPS) | MaxSeconds(time_limit)
    return solve(norm, method, accuracy=NORM_ACCURACY, stop=stop, callback=callback)


def summarize_trace(trace: Trace) -> dict[str, Any]:
    """Return the figures at the end of a run, with its test error and infeasibility."""
    return {
        **trace.summary(),
        "formulation": trace.contestant.formulation,
        "infeasibility": float(trace.history["infeasibility"][-1]),
        "rmse": float(trace.merit[-1]),
        "oracle_calls": int(trace.history["oracle_calls"][-1]),
    }


def write_figure2(figure: Figure2, path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row per run and iteration.

    Parameters
    ----------
    figure
        The runs of :func:`run_figure2`.
    path
        Path of the file.

    See Also
    --------
    run_figure2, plot_figure2

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unipd.io import Ratings
    >>> from unipd.reproduce import generate_ratings
    >>> made = generate_ratings((12, 10), 40, rank=1)
    >>> ratings = Ratings(made.users, made.items, made.values)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_figure2(run_figure2(ratings, ratings, made.shape, 10.0, iterations=3), f"{folder}/figure2.csv")
    ...     Path(folder, "figure2.csv").stat().st_size > 0
    True
    """
    curves = (
        (
            (trace.contestant.formulation, trace.name),
            [*(trace.history[column] for column in COLUMNS), residual(figure, trace), trace.merit],
        )
        for trace in figure.traces
    )
    write_table(path, ("formulation", "method", *COLUMNS, "objective_residual", "test_rmse"), curves)


def residual(figure: Figure2, trace: Trace) -> FloatArray:
    """Return |phi - phi^*| / phi^*, and |psi - psi^*| / psi^* for formulation (b).

    Iterates of (b) do not satisfy A(X) = b, so psi may be below its optimum; it is the weighted mean of psi at the
    atoms, which bounds psi at their mean from above.
    """
    best = figure.optima[trace.contestant.formulation].objective
    return np.abs(trace.history["objective"] - best) / best


def plot_figure2(
    figure2: Figure2,
    path: str | os.PathLike[str] | None = None,
    *,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the relative objective residual and the test error of every run, and the infeasibility of those of (b).

    Iterates of (b) approach A(X) = b only slowly: their objective is a residual of the solution's as long as the
    infeasibility is small.

    As in the paper, dashed runs use a line search for the weights (or the step size); empty markers are
    formulation (a), the nuclear ball, and filled ones (b), the squared nuclear norm.

    Parameters
    ----------
    figure2
        The runs of :func:`run_figure2`.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    See Also
    --------
    run_figure2, write_figure2, plot_figure1

    Examples
    --------
    >>> from unipd.io import Ratings
    >>> from unipd.reproduce import generate_ratings
    >>> made = generate_ratings((12, 10), 40, rank=1)
    >>> ratings = Ratings(made.users, made.items, made.values)
    >>> figure = plot_figure2(run_figure2(ratings, ratings, made.shape, 10.0, iterations=3))
    >>> len(figure.axes) >= 2
    True
    """
    with pictures.new_picture(path, width, theme) as picture:
        picture.set_height(1.1 if picture.is_wide else 2.3)
        colours = picture.theme
        panels = picture.figure.subplots(3, 2, sharey="row", sharex="col")
        for place, column in enumerate(("iteration", "seconds")):
            top, middle, bottom = (row[place] for row in panels)
            for trace in figure2.traces:
                if trace.contestant.formulation == NORM:
                    _draw(
                        middle, trace, column, positive_or_nan(trace.history["infeasibility"]), colours, labelled=False
                    )
                _draw(top, trace, column, positive_or_nan(residual(figure2, trace)), colours, labelled=False)
                _draw(bottom, trace, column, trace.merit, colours, labelled=place == 0)
            for formulation, dots in ((BALL, (0, (1, 2))), (NORM, (0, (4, 2)))):
                label = f"RMSE at the {figure2.reference_name(formulation)}" if place == 0 else None
                error = figure2.test_errors[formulation]
                bottom.axhline(error, color=colours.faint, linewidth=0.9, linestyle=dots, label=label)
            bottom.set_xlabel({"iteration": "iterations", "seconds": "seconds"}[column])
            for axes in (top, middle, bottom):
                pictures.set_horizontal(axes, [trace.history[column] for trace in figure2.traces], "log", whole=False)
            top.set_yscale("log")
            middle.set_yscale("log")
        _label_panels(panels, figure2)
        _set_error_axis(panels[2][0], figure2)
        pictures.legend(panels[2][0], title=title, columns=3 if picture.is_wide else 1)
    return picture.figure


def _label_panels(panels: Any, figure2: Figure2) -> None:
    first = next(trace for trace in figure2.traces if trace.contestant.formulation == NORM)
    start = (first.history["iteration"][0], residual(figure2, first)[0])
    text = "(b): near 1 while far from A(X) = b, see C"
    panels[0][0].annotate(text, start, (4, 5), textcoords="offset points", size="x-small")
    panels[0][0].set_ylabel("objective residual, $|f - f^\\star|\\,/\\,f^\\star$")
    panels[1][0].set_ylabel(r"$\|A(X) - b\|\,/\,\|b\|$")
    panels[2][0].set_ylabel("RMSE on the test ratings")
    for letter, axes, name in zip("ABCDEF", panels.flat, _PANELS, strict=True):
        axes.set_title(f"{letter}  {name}", loc="left")


def _draw(axes: Any, trace: Trace, column: str, values: Any, theme: pictures.Theme, *, labelled: bool) -> None:
    run = trace.contestant
    colour = theme.cycle[FAMILIES[run.family]]
    empty = run.formulation == BALL
    points = decimate(len(trace.history))
    marks = np.unique(np.geomspace(1, len(points), _MARKS).astype(int)) - 1
    axes.plot(
        trace.history[column][points],
        values[points],
        color=colour,
        linestyle="--" if run.has_line_search else "-",
        linewidth=1.2,
        marker="o" if empty else "s",
        markersize=3.8,
        markevery=marks.tolist(),
        markerfacecolor=theme.background if empty else colour,
        markeredgewidth=0.9,
        label=f"({'a' if empty else 'b'}) {run.name}" if labelled else None,
    )


def _set_error_axis(axes: Any, figure2: Figure2) -> None:
    """Show test errors from just below the best to those of the first iterations, logarithmically."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    best = min(*figure2.test_errors.values(), *(float(trace.merit.min()) for trace in figure2.traces))
    first = min(float(trace.merit[0]) for trace in figure2.traces)
    axes.set_yscale("log")
    axes.set_ylim(0.97 * best, max(min(first, HIGHEST * best), 1.1 * best))
    axes.yaxis.set_major_locator(MaxNLocator(8))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
