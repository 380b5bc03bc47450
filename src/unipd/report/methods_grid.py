"""The picture of several methods: every quantity against every measure of work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unipd.errors import InvalidInput
from unipd.report import style
from unipd.report.axes import set_horizontal, set_log_limits
from unipd.report.curves import AXES, Curves, best_bound, curves
from unipd.report.points import positive, thinned

MEASURES = ("iterations", "oracle_calls", "matvecs", "seconds")
IN_A_COLUMN = ("oracle_calls", "seconds")
"""Measures for which a column has room."""
LABELS = {"residual": "objective residual", "gap": "certified gap", "infeasibility": "infeasibility"}
MARKERS = "osD^v<>"


def plot_methods(
    results: Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    truth: float | None = None,
    measures: Sequence[str] | None = None,
    xscale: str = "log",
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw runs on one problem: a row for each quantity, a column for each measure of work.

    Parameters
    ----------
    results
        Results or saved results by the name that the legend shows.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    truth
        The optimal value that objectives are measured against; default: the best bound that any run found.
    measures
        Columns: some of "iterations", "oracle_calls", "matvecs", "seconds"; default: all on a page, oracle calls and
        seconds where the picture is narrower.
    xscale, width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> runs = {name: unipd.solve(problem, name) for name in ("accunipdgrad", "corrective")}
    >>> len(plot_methods(runs).axes)
    12
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if not results:
        raise InvalidInput("results", "at least one result", "none")
    if measures is None:
        measures = MEASURES if inches >= style.WIDE else IN_A_COLUMN
    wrong = [measure for measure in measures if measure not in AXES]
    if wrong or not measures:
        raise InvalidInput("measures", f"some of {', '.join(MEASURES)}", repr(tuple(measures)))
    if path is not None:
        style.check_path(path)
    reference = best_bound(results) if truth is None else truth
    columns = [{name: curves(run, measure, best=reference) for name, run in results.items()} for measure in measures]
    rows = _rows(columns[0])
    height = 0.24 if inches >= style.WIDE else 0.42
    figure = style.new_figure(inches, (0.12 + height * len(rows)) * inches, colours)
    grid = np.asarray(figure.subplots(len(rows), len(measures), sharex="col", sharey="row", squeeze=False))
    for column, runs in enumerate(columns):
        for row, quantity in enumerate(rows):
            _draw(grid[row, column], runs, quantity, colours)
        positions = [run.position for run in runs.values()]
        set_horizontal(grid[-1, column], positions, xscale, whole=measures[column] != "seconds")
        grid[-1, column].set_xlabel(next(iter(runs.values())).label)
    for row, quantity in enumerate(rows):
        grid[row, 0].set_ylabel(LABELS[quantity])
        _fit(grid[row])
    style.legend(grid[0, 0], colours, title=title, columns=4 if inches >= style.WIDE else 2)
    return style.finish(figure, path)


def _rows(runs: Mapping[str, Curves]) -> tuple[str, ...]:
    constrained = any(run.infeasibility is not None for run in runs.values())
    return ("residual", "infeasibility", "gap") if constrained else ("residual", "gap")


def _draw(axes: Any, runs: Mapping[str, Curves], quantity: str, theme: style.Theme) -> None:
    axes.set_yscale("log")
    for place, (name, run) in enumerate(runs.items()):
        values = getattr(run, quantity)
        if values is None:
            continue
        kept = thinned(run.position.size)
        axes.plot(
            run.position[kept],
            positive(values)[kept],
            color=theme.cycle[place % len(theme.cycle)],
            linestyle=style.LINES[place // len(theme.cycle) % len(style.LINES)],
            linewidth=1.1,
            label=name,
            marker=MARKERS[place % len(MARKERS)],
            markersize=3.0,
            markevery=[len(kept) - 1],
        )
    style.dress(axes, theme)


def _fit(row: Any) -> None:
    """Give a row of panels the limits of all its curves, sixteen decades at most."""
    drawn = np.concatenate([line.get_ydata() for axes in row for line in axes.lines])
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size:
        highest = float(drawn.max())
        set_log_limits(row[0], max(float(drawn.min()), 1e-16 * highest), highest)
