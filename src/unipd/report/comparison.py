"""The picture of several runs on one problem."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from unipd.errors import InvalidInput
from unipd.report import style
from unipd.report.axes import set_horizontal, set_log_limits
from unipd.report.curves import Curves, best_bound, curves
from unipd.report.points import positive, raised, thinned

QUANTITIES = {
    "objective": "relative objective residual",
    "gap": "relative certified gap",
    "infeasibility": "relative infeasibility",
}
"""What can be compared: the name and the label."""


def plot_comparison(
    results: Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    axis: str = "oracle_calls",
    quantities: tuple[str, ...] | None = None,
    xscale: str = "auto",
    width: str | float = "column",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw runs on the same problem against each other, one panel a quantity.

    Parameters
    ----------
    results
        Results or saved results by the name that the legend shows.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    axis
        What runs along the bottom: "oracle_calls" (the fair one), "iterations", "matvecs" or "seconds".
    quantities
        Of "objective" (its distance to the best bound that any run found), "gap" (certified by the run itself)
        and "infeasibility"; default: the objective, and the infeasibility when there are constraints.
    xscale, width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.9], loss)
    >>> runs = {name: unipd.solve(problem, name) for name in ("frank-wolfe", "accunipdgrad")}
    >>> figure = plot_comparison(runs)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['frank-wolfe', 'accunipdgrad']
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if not results:
        raise InvalidInput("results", "at least one result", "none")
    if path is not None:
        style.check_path(path)
    best = best_bound(results)
    runs = {name: curves(result, axis, best=best) for name, result in results.items()}
    panels = _quantities(runs, quantities)
    accuracy = min(float(result.accuracy) for result in results.values())
    wide = inches >= style.WIDE
    shape = (1, len(panels)) if wide else (len(panels), 1)
    height = 0.45 * inches if wide else (0.35 + 0.55 * len(panels)) * inches
    figure = style.new_figure(inches, height, colours)
    grid = np.atleast_1d(figure.subplots(*shape, sharex=True)).reshape(-1)
    for axes, quantity in zip(grid, panels, strict=True):
        _draw(axes, runs, quantity, accuracy, colours)
        set_horizontal(axes, [run.position for run in runs.values()], xscale, whole=axis != "seconds")
    for axes in grid if wide else grid[-1:]:
        axes.set_xlabel(next(iter(runs.values())).label)
    style.legend(grid[0], colours, title=title)
    return style.finish(figure, path)


def _quantities(runs: Mapping[str, Curves], asked: tuple[str, ...] | None) -> tuple[str, ...]:
    constrained = any(run.infeasibility is not None for run in runs.values())
    if asked is None:
        return ("objective", "infeasibility") if constrained else ("objective",)
    for name in asked:
        if name not in QUANTITIES or (name == "infeasibility" and not constrained):
            known = [key for key in QUANTITIES if key != "infeasibility" or constrained]
            raise InvalidInput("quantities", f"some of {', '.join(known)}", repr(name))
    return asked


def _draw(axes: Any, runs: Mapping[str, Curves], quantity: str, accuracy: float, theme: style.Theme) -> None:
    axes.set_yscale("log")
    for place, (name, run) in enumerate(runs.items()):
        values = {"objective": run.residual, "gap": run.gap, "infeasibility": run.infeasibility}[quantity]
        if values is None:
            continue
        kept = thinned(run.position.size)
        colour = theme.cycle[place % len(theme.cycle)]
        line = style.LINES[place // len(theme.cycle) % len(style.LINES)]
        marker = "osD^v<>"[place % 7]
        axes.plot(
            run.position[kept],
            raised(positive(values), accuracy)[kept],
            color=colour,
            linestyle=line,
            linewidth=1.3,
            label=name,
            marker=marker,
            markersize=3.5,
            markevery=[len(kept) - 1],
        )
    _fit(axes)
    axes.set_ylabel(QUANTITIES[quantity])
    style.dress(axes, theme)


def _fit(axes: Any) -> None:
    """Set the vertical limits by the curves."""
    drawn = np.concatenate([line.get_ydata() for line in axes.lines])
    if np.isfinite(drawn).any():
        set_log_limits(axes, float(np.nanmin(drawn)), float(np.nanmax(drawn)))
