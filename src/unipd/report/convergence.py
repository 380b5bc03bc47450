"""The picture of one run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.report import style
from unipd.report.curves import Curves, curves
from unipd.report.points import banded, positive, thinned

_HEADROOM, _VISIBLE = 1e4, 5.0
_BOUND = "theorem's bound (estimate)"


def plot_convergence(
    result: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    axis: str = "iterations",
    show_bound: bool = True,
    start: Array | None = None,
    xscale: str = "auto",
    width: str | float = "column",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the errors of a run, and below them the local smoothness M_k and the running estimate of nu.

    Parameters
    ----------
    result
        What :func:`unipd.solve` or :func:`unipd.io.results.load` returned.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    axis
        What runs along the bottom: "iterations", "oracle_calls", "matvecs" or "seconds".
    show_bound
        Draw the bound of the theorems' proofs, with the run's own S_k and the best dual vector at hand in the
        place of lam^*: an estimate. It bounds the infeasibility of a constrained problem and the objective
        residual of a loss. Greedy weights and methods without a theorem have none.
    start
        lam_0 of a warm start, for that bound.
    xscale
        "log" (rates are straight lines), "linear" (linear convergence is), or "auto": by the length of the run.
    width
        "column" (3.4 in), "page" (7 in, panels side by side) or inches.
    theme
        "light" or "dark".
    title
        A line above the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> figure = plot_convergence(unipd.solve(problem, accuracy=1e-2))
    >>> figure.axes[0].get_ylabel()
    'relative error'
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if path is not None:
        style.check_path(path)
    data = curves(result, axis, start=start)
    upper, lower, figure = _panels(data, inches, colours)
    _draw_errors(upper, data, result.accuracy, colours, show_bound=show_bound)
    style.legend(upper, colours, title=title)
    if lower is not None:
        _draw_smoothness(lower, data, colours)
    for panel in (upper,) if lower is None else (upper, lower):
        style.set_horizontal(panel, [data.position], xscale, whole=axis != "seconds")
    bottom = lower if lower is not None else upper
    bottom.set_xlabel(data.label)
    if lower is not None and _side_by_side(inches):
        upper.set_xlabel(data.label)
    return style.finish(figure, path)


def _side_by_side(width: float) -> bool:
    return width >= 5.5


def _panels(data: Curves, width: float, theme: style.Theme) -> tuple[Any, Any, Any]:
    two = data.smoothness is not None
    if two and _side_by_side(width):
        figure = style.new_figure(width, 0.42 * width, theme)
        upper, lower = figure.subplots(1, 2, width_ratios=(1.55, 1.0))
    elif two:
        figure = style.new_figure(width, 1.15 * width, theme)
        upper, lower = figure.subplots(2, 1, height_ratios=(2.1, 1.0))
        upper.tick_params(labelbottom=False)
    else:
        figure = style.new_figure(width, (0.42 if _side_by_side(width) else 0.85) * width, theme)
        upper, lower = figure.subplots(), None
    return upper, lower, figure


def _draw_errors(axes: Any, data: Curves, accuracy: float, theme: style.Theme, *, show_bound: bool) -> None:
    blue, red, green = theme.cycle[:3]
    lines = [("objective residual", data.residual, blue, 1.0), ("certified gap", data.gap, green, 1.6)]
    if data.infeasibility is not None:
        lines.append(("infeasibility", data.infeasibility, red, 1.6))
    kept = thinned(data.position.size)
    at, marker = data.position[kept], "o" if data.position.size < 10 else None
    axes.set_yscale("log")
    low, high = [accuracy], [accuracy]
    for label, values, colour, thickness in lines:
        shown = positive(values)
        if np.isfinite(shown).any():
            axes.plot(at, shown[kept], color=colour, linewidth=thickness, label=label, marker=marker, markersize=3)
            low.append(np.nanmin(shown))
            high.append(np.nanmax(shown))
    top = float(np.nanmax(high))
    if show_bound and data.bound is not None and np.min(data.bound) < _HEADROOM * top:
        colour = blue if data.infeasibility is None else red
        axes.plot(at, data.bound[kept], color=colour, linewidth=1.0, linestyle="--", label=_BOUND)
        top = max(top, min(_VISIBLE * float(np.min(data.bound)), float(np.max(data.bound))))
    if np.isfinite(accuracy):
        axes.axhline(accuracy, color=theme.faint, linewidth=0.9, linestyle=(0, (1, 2)), label="asked accuracy")
    style.set_log_limits(axes, float(np.nanmin(low)), top)
    axes.set_ylabel("relative error")
    style.dress(axes, theme)


def _draw_smoothness(axes: Any, data: Curves, theme: style.Theme) -> None:
    assert data.smoothness is not None
    kept = thinned(data.position.size)
    purple, orange = theme.cycle[3], theme.cycle[4]
    axes.set_yscale("log")
    at, low, middle, high = banded(data.position, positive(data.smoothness))
    axes.fill_between(at, low, high, step="mid", color=purple, alpha=0.35, linewidth=0)
    axes.step(at, middle, where="mid", color=purple, linewidth=1.0)
    style.set_log_limits(axes, float(low.min()), float(high.max()))
    axes.set_ylabel("smoothness $M_k$")
    style.dress(axes, theme)
    axes.yaxis.label.set_color(purple)
    if data.exponent is None:
        return
    twin = axes.twinx()
    twin.plot(data.position[kept], data.exponent[kept], color=orange, linewidth=1.0)
    twin.set_ylim(-0.05, 1.05)
    twin.set_yticks([0.0, 0.5, 1.0])
    twin.set_ylabel("estimated $\\nu$")
    style.dress(twin, theme)
    twin.grid(False)
    twin.patch.set_visible(False)
    twin.spines["left"].set_visible(False)
    twin.spines["right"].set(visible=True, color=theme.faint, linewidth=0.6)
    twin.yaxis.label.set_color(orange)
