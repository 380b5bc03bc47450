"""The picture of one run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.report import style
from unipd.report.axes import set_horizontal, set_log_limits
from unipd.report.curves import Curves, curves
from unipd.report.points import banded, positive, raised, shown_accuracy, thinned

_VISIBLE = 5.0
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
    """Draw the errors of a run, and for the universal methods the local smoothness M_k and the running estimate of nu.

    Errors below a millionth of the asked accuracy are drawn there: how far below says nothing but rounding.

    Parameters
    ----------
    result
        What :func:`unipd.solve` or :func:`unipd.io.results.load` returned.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    axis
        What runs along the bottom: "iterations", "oracle_calls", "matvecs" or "seconds".
    show_bound
        Draw the bound of the theorems' proofs, with the run's own S_k (the sum of the weights 1/M_k or t_k/M_k) and
        the best dual vector at hand in the place of lam^*: an estimate. It bounds the infeasibility of a constrained
        problem and the objective residual of a loss. Greedy weights and methods without a theorem have none.
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
    figure, panels = _panels(data, inches, colours)
    _draw_errors(panels[0], data, result.accuracy, colours, show_bound=show_bound)
    style.legend(panels[0], colours, title=title)
    for panel, draw in zip(panels[1:], (_draw_smoothness, _draw_exponent), strict=False):
        draw(panel, data, colours)
    for panel in panels:
        set_horizontal(panel, [data.position], xscale, whole=axis != "seconds")
    for panel in (panels[0], panels[-1]) if _side_by_side(inches) else panels[-1:]:
        panel.set_xlabel(data.label)
    return style.finish(figure, path)


def _side_by_side(width: float) -> bool:
    return width >= style.WIDE


def _panels(data: Curves, width: float, theme: style.Theme) -> tuple[Any, list[Any]]:
    """Return the figure and its panels: errors, and those of smoothness and exponent that have something to show."""
    more = (data.smoothness is not None) + (data.smoothness is not None and data.exponent is not None)
    wide = _side_by_side(width)
    height = (0.42 if wide else 0.85 + 0.3 * more) * width
    figure = style.new_figure(width, height, theme)
    if more and wide:
        grid = figure.add_gridspec(more, 2, width_ratios=(1.55, 1.0))
        panels = [figure.add_subplot(grid[:, 0]), *(figure.add_subplot(grid[row, 1]) for row in range(more))]
        inner = panels[1:-1]
    else:
        grid = figure.add_gridspec(1 + more, 1, height_ratios=(2.4, 1.0, 1.0)[: 1 + more])
        panels = [figure.add_subplot(grid[row, 0]) for row in range(1 + more)]
        inner = panels[:-1]
    for panel in inner:
        panel.tick_params(labelbottom=False)
    return figure, panels


def _draw_errors(axes: Any, data: Curves, accuracy: float, theme: style.Theme, *, show_bound: bool) -> None:
    blue, red, green = theme.cycle[:3]
    lines = [("objective residual", data.residual, blue, 1.0), ("certified gap", data.gap, green, 1.6)]
    if data.infeasibility is not None:
        lines.append(("infeasibility", data.infeasibility, red, 1.6))
    kept = thinned(data.position.size)
    at, marker = data.position[kept], "o" if data.position.size < 10 else None
    axes.set_yscale("log")
    asked = shown_accuracy(accuracy)
    low, high = [asked], [asked]
    for label, values, colour, thickness in lines:
        shown = raised(positive(values), accuracy)
        if np.isfinite(shown).any():
            look = {"color": colour, "linewidth": thickness, "zorder": 4.0 - thickness}  # thin ones above thick ones
            axes.plot(at, shown[kept], label=label, marker=marker, markersize=3, **look)
            low.append(np.nanmin(shown))
            high.append(np.nanmax(shown))
    top = float(np.nanmax(high))
    if show_bound:
        top = max(top, draw_bound(axes, data, theme))
    if np.isfinite(asked):
        axes.axhline(asked, color=theme.faint, linewidth=0.9, linestyle=(0, (1, 2)), label="asked accuracy")
    set_log_limits(axes, float(np.nanmin(low)), top)
    axes.set_ylabel("relative error")
    style.dress(axes, theme)


def draw_bound(axes: Any, data: Curves, theme: style.Theme) -> float:
    """Draw the theorem's bound, if there is one; return how far up the axis must reach to show where it ends."""
    if data.bound is None:
        return 0.0
    kept = thinned(data.position.size)
    colour = theme.cycle[0 if data.infeasibility is None else 1]
    axes.plot(data.position[kept], data.bound[kept], color=colour, linewidth=1.0, linestyle="--", label=_BOUND)
    return min(_VISIBLE * float(np.nanmin(data.bound)), float(np.nanmax(data.bound)))


def _draw_smoothness(axes: Any, data: Curves, theme: style.Theme) -> None:
    """Draw M_k: the medians of groups of iterations as a line, their extremes as a band."""
    assert data.smoothness is not None
    colour = theme.cycle[3]
    axes.set_yscale("log")
    at, low, middle, high = banded(data.position, data.smoothness)
    axes.fill_between(at, low, high, step="mid", color=colour, alpha=0.35, linewidth=0)
    axes.step(at, middle, where="mid", color=colour, linewidth=1.0)
    set_log_limits(axes, float(low.min()), float(high.max()))
    axes.set_ylabel("local\nsmoothness $M_k$")
    style.dress(axes, theme)


def _draw_exponent(axes: Any, data: Curves, theme: style.Theme) -> None:
    """Draw the running estimate of nu between 0 (bounded gradients' differences) and 1 (Lipschitz gradients)."""
    assert data.exponent is not None
    kept = thinned(data.position.size)
    axes.plot(data.position[kept], data.exponent[kept], color=theme.cycle[4], linewidth=1.0)
    axes.set_ylim(-0.08, 1.08)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.set_ylabel("Hölder exponent\n$\\nu$ (estimate)")
    style.dress(axes, theme)
