"""The paper's Figure 2: methods and formulations of matrix completion, against iterations and seconds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd.report import style
from unipd.report.convergence import positive, thinned

if TYPE_CHECKING:
    from unipd.apps.completion.figure2 import Figure2, Trace

FAMILIES = {"fw": 1, "uni": 2, "acc": 0}
"""Colours of the families of methods, by their place in the theme's cycle."""
HIGHEST = 2.2
"""Largest test error shown, as a multiple of the best."""
TICKS = (
    1.0,
    1.05,
    1.1,
    1.15,
    1.2,
    1.3,
    1.4,
    1.6,
    1.8,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
    6.0,
    7.0,
    8.0,
    9.0,
    9.5,
    10.0,
    11.0,
    12.0,
    14.0,
    17.0,
    20.0,
)
_MARKS = 6
_PANELS = ("objective, by iterations", "objective, by seconds", "test error, by iterations", "test error, by seconds")


def plot_figure2(
    figure2: Figure2,
    path: str | os.PathLike[str] | None = None,
    *,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw normalised objective residuals and test errors of every run, each to the optimum of its formulation.

    As in the paper, dashed lines have a line search in the weighting step (or for the step size), empty markers
    belong to formulation (a), the nuclear ball, and filled ones to (b), the squared nuclear norm.

    Parameters
    ----------
    figure2
        The runs of :func:`unipd.apps.completion.figure2.run_figure2`.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from unipd.apps.completion.figure2 import residual
    from unipd.apps.completion.figure2_methods import BALL, NORM

    colours, inches = style.as_theme(theme), style.as_width(width)
    figure = style.new_figure(inches, (0.8 if inches >= style.WIDE else 1.7) * inches, colours)
    panels = figure.subplots(2, 2, sharey="row", sharex="col")
    for place, column in enumerate(("iteration", "seconds")):
        top, bottom = panels[0][place], panels[1][place]
        for trace in figure2.traces:
            _draw(top, trace, column, positive(residual(figure2, trace)), colours, labelled=False)
            _draw(bottom, trace, column, trace.rmse, colours, labelled=place == 0)
        for letter, optimum in zip("ab", (figure2.optima[BALL], figure2.optima[NORM]), strict=True):
            label = f"RMSE at the optimum of ({letter})" if place == 0 else None
            dots = (0, (1, 2)) if letter == "a" else (0, (4, 2))
            bottom.axhline(optimum.rmse, color=colours.faint, linewidth=0.9, linestyle=dots, label=label)
        bottom.set_xlabel({"iteration": "iterations", "seconds": "seconds"}[column])
        for axes in (top, bottom):
            axes.set_xscale("log")
            style.dress(axes, colours)
        top.set_yscale("log")
    panels[0][0].set_ylabel("objective residual, $|f - f^\\star|\\,/\\,f^\\star$")
    panels[1][0].set_ylabel("RMSE on the test ratings")
    for letter, axes, name in zip("ABCD", panels.flat, _PANELS, strict=True):
        axes.set_title(f"{letter}  {name}", loc="left", fontsize=7, color=colours.ink)
    _fit(panels, figure2)
    style.legend(panels[1][0], colours, title=title, columns=3 if inches >= style.WIDE else 1)
    return style.finish(figure, path)


def _draw(axes: Any, trace: Trace, column: str, values: Any, theme: style.Theme, *, labelled: bool) -> None:
    from unipd.apps.completion.figure2_methods import BALL

    run = trace.contestant
    colour = theme.cycle[FAMILIES[run.family]]
    empty = run.formulation == BALL
    kept = thinned(len(trace.history))
    marks = np.unique(np.geomspace(1, len(kept), _MARKS).astype(int)) - 1
    axes.plot(
        trace.history[column][kept],
        values[kept],
        color=colour,
        linestyle="--" if run.searched else "-",
        linewidth=1.2,
        marker="o" if empty else "s",
        markersize=3.8,
        markevery=marks.tolist(),
        markerfacecolor=theme.background if empty else colour,
        markeredgewidth=0.9,
        label=f"({'a' if empty else 'b'}) {run.name}" if labelled else None,
    )


def _fit(panels: Any, figure2: Figure2) -> None:
    """Show the errors from a little below the best to those of the first iterations, on a logarithmic axis."""
    from matplotlib.ticker import FixedLocator, NullLocator

    optima = (optimum.rmse for optimum in figure2.optima.values())
    best = min(*optima, *(float(trace.rmse.min()) for trace in figure2.traces))
    first = min(float(trace.rmse[0]) for trace in figure2.traces)
    high = max(min(first, HIGHEST * best), 1.1 * best)
    axes = panels[1][0]
    axes.set_yscale("log")
    axes.set_ylim(0.97 * best, high)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in _ticks(best) if 0.97 * best <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    for place, column in enumerate(("iteration", "seconds")):
        start = min(float(trace.history[column][0]) for trace in figure2.traces)
        end = max(float(trace.history[column][-1]) for trace in figure2.traces)
        panels[0][place].set_xlim(max(start, 1e-5) / 1.05, max(end, 2.0 * start) * 1.12)


def _ticks(best: float) -> list[float]:
    """Return round numbers above the best error, denser near it."""
    unit = 10.0 ** np.floor(np.log10(best))
    return [float(np.round(unit * share, 12)) for share in TICKS]
