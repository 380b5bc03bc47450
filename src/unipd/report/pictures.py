"""Pictures: their look (the style sheets beside this file, sizes, scales), and those of runs.

Pictures of runs show the convergence of one, several on one problem, and the spectrum of a solution.
"""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.files import atomic_write
from unipd._util.lazy import import_extra
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.report.curves import (
    AXES,
    LEAST,
    Curves,
    best_bound,
    clip_to_floor,
    compute_curves,
    decimate,
    group_extremes,
    positive_or_nan,
)
from unipd.run import Result
from unipd.run.comparison import common_scale

FORMATS = (".png", ".svg", ".pdf")
THEMES = ("light", "dark")
"""The themes, which are style sheets of this package: ``light.mplstyle`` and, on top of it, ``dark.mplstyle``."""
WIDTHS = {"column": 3.4, "page": 7.0}
"""Widths in inches by name."""
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>"
WIDE = 5.5
"""From this width on, panels stand side by side."""


@dataclass(frozen=True)
class Theme:
    """Colours of the style sheets, for what is coloured one by one."""

    background: str
    ink: str
    faint: str
    grid: str
    cycle: tuple[str, ...]
    """Colours of the curves."""
    phases: str
    """Matplotlib's name of a cyclic colour map, far from the background at phase 0."""


@contextmanager
def style_sheet(theme: str) -> Generator[Theme]:
    """Draw with the style sheets of a theme, and yield its colours."""
    if theme not in THEMES:
        raise InvalidInput("theme", f"one of {', '.join(THEMES)}", repr(theme))
    rcParams = import_extra("matplotlib", "plot", "a picture").rcParams
    from matplotlib.style import context

    with context([f"{__package__}.{name}" for name in THEMES[: THEMES.index(theme) + 1]]):
        yield Theme(
            background=rcParams["figure.facecolor"],
            ink=rcParams["text.color"],
            faint=rcParams["axes.edgecolor"],
            grid=rcParams["grid.color"],
            cycle=tuple(rcParams["axes.prop_cycle"].by_key()["color"]),
            phases="twilight" if theme == "light" else "twilight_shifted",
        )


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn."""

    figure: Any
    """Matplotlib's figure, empty."""
    width: float
    """Its width in inches."""
    theme: Theme

    @property
    def is_wide(self) -> bool:
        """Whether panels stand side by side."""
        return self.width >= WIDE

    def set_height(self, ratio: float) -> None:
        """Make the figure this many times as high as wide."""
        self.figure.set_figheight(ratio * self.width)


@contextmanager
def new_picture(
    path: str | os.PathLike[str] | None, width: str | float = "column", theme: str = "light"
) -> Generator[Picture]:
    """Yield an empty picture, and write it to ``path``, if there is one, at the end; equal figures give equal files.

    >>> with new_picture(None, "page") as picture:
    ...     picture.width, picture.is_wide
    (7.0, True)
    """
    target = None if path is None else check_path(path)
    if isinstance(width, str) and width not in WIDTHS:
        raise InvalidInput("width", f"one of {', '.join(WIDTHS)} or inches", repr(width))
    inches = WIDTHS[width] if isinstance(width, str) else validate.positive("width", width)
    with style_sheet(theme) as colours:
        from matplotlib.figure import Figure

        figure: Any = Figure(figsize=(inches, inches))
        yield Picture(figure, inches, colours)
        for axes in figure.axes:
            if axes.name != "3d":
                axes.tick_params(which="minor", labelbottom=False, labelleft=False)
            for axis in (axes.xaxis, axes.yaxis):  # later ticks copy the look of the first, made here
                axis.get_major_ticks(1)
                axis.get_minor_ticks(1)
        if target is not None:
            kind = target.suffix.lower()
            undated: Any = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
            with atomic_write(target) as stream:
                figure.savefig(stream, format=kind[1:], metadata=undated[kind])


def legend(axes: Any, *, title: str | None = None, columns: int = 2) -> None:
    """Put the legend of one pair of axes, under the title, above the whole picture, where no curve passes."""
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles, labels, loc="outside upper left", ncols=columns, title=title, alignment="left")


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; raise for an unknown extension or a missing folder.

    Parameters
    ----------
    path
        Path of the picture.

    Raises
    ------
    InvalidInput
        If the extension is not .png, .svg or .pdf, or the folder does not exist.

    See Also
    --------
    plot_convergence

    Examples
    --------
    >>> check_path("run.svg").suffix
    '.svg'
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput("path", f"a file name ending in {', '.join(FORMATS)}", repr(str(path)))
    if not target.parent.is_dir():
        raise InvalidInput("path", "a file in an existing folder (create it first)", repr(str(path)))
    return target


SCALES = ("auto", "log", "linear")
_SPAN = 30.0
"""Ratio of the ends of the horizontal axis from which "auto" chooses a logarithmic one."""


def set_log_limits(axes: Any, low: float, high: float) -> None:
    """Show the values from low to high on a logarithmic axis, at least one decade."""
    if not (math.isfinite(low) and math.isfinite(high) and 0.0 < low <= high):
        return
    axes.set_autoscaley_on(False)  # a level line alone has no scale of its own
    if high < 10.0 * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        axes.set_ylim(low, high if high > low else 10.0 * low)
    else:
        axes.set_ylim(0.5 * low, 2.0 * high)


def set_horizontal(axes: Any, positions: Sequence[FloatArray], xscale: str, *, whole: bool) -> None:
    """Set scale, limits and ticks of the horizontal axis; ``whole`` for counts."""
    if xscale not in SCALES:
        raise InvalidInput("xscale", f"one of {', '.join(SCALES)}", repr(xscale))
    low, high = (float(end(np.concatenate(positions))) for end in (np.nanmin, np.nanmax))
    if xscale == "log" or (xscale == "auto" and 0.0 < _SPAN * low <= high):
        low = low if low > 0 else max(high, 1.0) * 1e-4
        axes.set_xscale("log")
        axes.set_xlim(low / 1.05, max(high, 2.0 * low) * 1.12)
        return
    axes.set_xlim(0.0, 1.03 * high if high > 0 else 1.0)
    axes.xaxis.get_major_locator().set_params(integer=whole)


_VISIBLE = 5.0
"""The theorem's bound is shown up to this multiple of its least value."""


def plot_convergence(
    result: Result,
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

    Errors below a millionth of the requested accuracy are drawn at that level: smaller ones are rounding.

    Parameters
    ----------
    result
        The result of a run, fresh or loaded.
    path
        File for the picture (.png, .svg or .pdf); without one the figure is only returned.
    axis
        Horizontal axis: "iterations", "oracle_calls", "matvecs" or "seconds".
    show_bound
        Draw the bound from the proofs of the theorems, with the run's own S_k (the sum of the weights 1/M_k or t_k/M_k)
        and the best dual vector found instead of lam^*: an estimate. It bounds the infeasibility of a constrained
        problem and the objective residual of a loss. There is none for greedy weights or methods without a theorem.
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

    Raises
    ------
    InvalidInput
        If the run has no history, or ``axis``, ``xscale``, ``width`` or ``theme`` is none of these.

    See Also
    --------
    plot_comparison, plot_spectrum, compute_curves

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> figure = plot_convergence(unipd.solve(problem, accuracy=1e-2))
    >>> figure.axes[0].get_ylabel()
    'relative error'
    """
    with new_picture(path, width, theme) as picture:
        data = compute_curves(result, axis, start=start)
        draw_below = [_draw_smoothness, _draw_exponent] if data.exponent is not None else [_draw_smoothness]
        if data.smoothness is None:
            draw_below = []
        errors, *below = panels = _add_panels(picture, len(draw_below))
        draw_errors(errors, data, result.accuracy, picture.theme, show_bound=show_bound)
        legend(errors, title=title)
        for panel, draw in zip(below, draw_below, strict=True):
            draw(panel, data, picture.theme)
        for panel in panels:
            set_horizontal(panel, [data.position], xscale, whole=axis != "seconds")
            has_label = panel is panels[-1] or (picture.is_wide and panel is errors)
            panel.set_xlabel(data.label if has_label else "")
            panel.tick_params(labelbottom=has_label)
    return picture.figure


def _add_panels(picture: Picture, small: int) -> list[Any]:
    """Add a large panel and small ones, beside it on a page and below it in a column."""
    picture.set_height(0.42 if picture.is_wide else 0.85 + 0.3 * small)
    if picture.is_wide and small:
        grid = picture.figure.add_gridspec(small, 2, width_ratios=(1.55, 1.0))
        cells = [grid[:, 0], *(grid[row, 1] for row in range(small))]
    else:
        cells = list(picture.figure.add_gridspec(1 + small, 1, height_ratios=(2.4, 1.0, 1.0)[: 1 + small]))
    return [picture.figure.add_subplot(cell) for cell in cells]


def draw_errors(axes: Any, data: Curves, accuracy: float, theme: Theme, *, show_bound: bool = True) -> None:
    """Draw the errors, the theorem's bound (if there is one) and the requested accuracy."""
    blue, red, green = theme.cycle[:3]
    lines = [("objective residual", data.residual, blue, 1.0), ("certified gap", data.gap, green, 1.6)]
    if data.infeasibility is not None:
        lines.append(("infeasibility", data.infeasibility, red, 1.6))
    kept = decimate(data.position.size)
    at, marker = data.position[kept], "o" if data.position.size < 10 else None
    axes.set_yscale("log")
    requested = accuracy if LEAST <= accuracy < np.inf else np.nan
    heights = [requested]
    for label, values, colour, thickness in lines:
        shown = clip_to_floor(positive_or_nan(values), accuracy)
        if np.isfinite(shown).any():
            look = {"color": colour, "linewidth": thickness, "zorder": 4.0 - thickness}  # thin ones above thick ones
            axes.plot(at, shown[kept], label=label, marker=marker, markersize=1.0 + 2.0 * thickness, **look)
            heights += [np.nanmin(shown), np.nanmax(shown)]
    if show_bound and data.bound is not None:
        bound, colour = clip_to_floor(data.bound, accuracy), blue if data.infeasibility is None else red
        axes.plot(at, bound[kept], color=colour, linewidth=1.0, linestyle="--", label="theorem's bound (estimate)")
        heights.append(min(_VISIBLE * np.nanmin(bound), np.nanmax(bound)))
    if np.isfinite(requested):
        axes.axhline(requested, color=theme.faint, linewidth=0.9, linestyle=(0, (1, 2)), label="requested accuracy")
    set_log_limits(axes, float(np.nanmin(heights)), float(np.nanmax(heights)))
    axes.set_ylabel("relative error" if data.unit == "relative" else f"error ({data.unit})")


def _draw_smoothness(axes: Any, data: Curves, theme: Theme) -> None:
    """Draw M_k: the medians of groups of iterations as a line, their extremes as a band."""
    assert data.smoothness is not None
    colour = theme.cycle[3]
    axes.set_yscale("log")
    at, low, middle, high = group_extremes(data.position, data.smoothness)
    axes.fill_between(at, low, high, step="mid", color=colour, alpha=0.35, linewidth=0)
    axes.step(at, middle, where="mid", color=colour, linewidth=1.0)
    set_log_limits(axes, float(low.min()), float(high.max()))
    axes.set_ylabel("local\nsmoothness $M_k$")


def _draw_exponent(axes: Any, data: Curves, theme: Theme) -> None:
    """Draw the running estimate of nu between 0 (bounded gradients' differences) and 1 (Lipschitz gradients)."""
    assert data.exponent is not None
    kept = decimate(data.position.size)
    axes.plot(data.position[kept], data.exponent[kept], color=theme.cycle[4], linewidth=1.0)
    axes.set_ylim(-0.08, 1.08)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.set_ylabel("Hölder exponent\n$\\nu$ (estimate)")


QUANTITIES = {
    "objective": ("residual", "objective residual"),
    "infeasibility": ("infeasibility", "relative infeasibility"),
    "gap": ("gap", "certified gap"),
}
"""Quantities of a comparison: the field of the curves and the label."""


def _label(quantity: str, scale: float, results: Mapping[str, Result]) -> str:
    """Return the label of an axis, with the number by which residuals and gaps of all runs were divided."""
    text = QUANTITIES[quantity][1]
    if quantity == "infeasibility":
        return text
    is_plain = scale == 1.0 and all(result.gap_unit == "nats" for result in results.values())
    return f"{text} (nats)" if is_plain else f"{text}\nrelative to {scale:.4g}"


NARROW = ("oracle_calls", "seconds")
"""Measures of work that fit side by side in a narrow picture."""


def plot_comparison(
    results: Mapping[str, Result],
    path: str | os.PathLike[str] | None = None,
    *,
    axis: str | Sequence[str] = "oracle_calls",
    quantities: tuple[str, ...] | None = None,
    truth: float | None = None,
    xscale: str = "auto",
    width: str | float = "column",
    theme: str = "light",
    title: str | None = None,
    scale: float | None = None,
) -> Any:
    """Draw runs on the same problem against each other: a row for each quantity, a column for each measure of work.

    Parameters
    ----------
    results
        Results by the name that the legend shows.
    path
        File for the picture (.png, .svg or .pdf); without one the figure is only returned.
    axis
        Horizontal axis: "oracle_calls" (the fair one), "iterations", "matvecs" or "seconds"; several of these; or
        "all", which are oracle calls and seconds where the picture is narrower than a page.
    quantities
        Of "objective" (its distance to the optimal value), "gap" (certified by the run itself) and "infeasibility";
        default: the objective, the infeasibility when there are constraints, and the gap where several axes are drawn.
    truth
        The optimal value that objectives are measured against; default: the best bound that any run found.
    xscale, width, theme, title
        As in :func:`~unipd.report.plot_convergence`.
    scale
        What residuals and gaps of all runs are divided by; the axes show it. Default: the scale of the most accurate
        run.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        If there are no results, one of them has no history, ``scale`` is not above zero, or ``axis``, ``quantities``,
        ``xscale``, ``width`` or ``theme`` is none of these.

    See Also
    --------
    plot_convergence, unipd.compare

    Examples
    --------
    >>> import unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.9], loss)
    >>> runs = {name: unipd.solve(problem, name) for name in ("frank-wolfe", "accunipdgrad")}
    >>> figure = plot_comparison(runs)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['frank-wolfe', 'accunipdgrad']
    >>> len(plot_comparison(runs, axis="all", width="page").axes)
    8
    """
    if not results:
        raise InvalidInput("results", "at least one result", "none")
    scale = common_scale(results) if scale is None else validate.positive("scale", scale)
    reference = best_bound(results) if truth is None else truth
    with new_picture(path, width, theme) as picture:
        if axis == "all":
            axis = tuple(AXES) if picture.is_wide else NARROW
        curves = [
            {name: compute_curves(run, measure, best=reference, scale=scale) for name, run in results.items()}
            for measure in ([axis] if isinstance(axis, str) else axis)
        ]
        rows = _choose_quantities(curves[0], quantities, with_gap=len(curves) > 1)
        grid, side_by_side = _add_grid(picture, len(rows), len(curves))
        accuracy = min(float(result.accuracy) for result in results.values())
        for row, quantity in zip(grid, rows, strict=True):
            for axes, runs in zip(row, curves, strict=True):
                _draw_runs(axes, runs, quantity, accuracy, picture.theme)
                label = next(iter(runs.values())).label
                set_horizontal(axes, [run.position for run in runs.values()], xscale, whole=label != "seconds")
                axes.set_xlabel(label if side_by_side or quantity == rows[-1] else "")
            row[0].set_ylabel(_label(quantity, scale, results))
            _fit_limits(row)
        legend(grid[0, 0], title=title, columns=4 if picture.is_wide and len(curves) > 1 else 2)
    return picture.figure


def _add_grid(picture: Picture, rows: int, columns: int) -> tuple[Any, bool]:
    """Add panels that share axes, in a picture as high as they need; return whether the rows stand side by side."""
    if columns == 1 and picture.is_wide:
        picture.set_height(0.45)
        return picture.figure.subplots(1, rows, sharex=True, squeeze=False).T, True
    base, each = (0.35, 0.55) if columns == 1 else (0.12, 0.24 if picture.is_wide else 0.42)
    picture.set_height(base + each * rows)
    return picture.figure.subplots(rows, columns, sharex="col", sharey="row", squeeze=False), False


def _choose_quantities(
    runs: Mapping[str, Curves], quantities: tuple[str, ...] | None, *, with_gap: bool
) -> tuple[str, ...]:
    """Return the quantities to draw, of those that the runs have: no infeasibility for losses."""
    has_constraints = any(run.infeasibility is not None for run in runs.values())
    known = tuple(name for name in QUANTITIES if name != "infeasibility" or has_constraints)
    if quantities is None:
        return known if with_gap else tuple(name for name in known if name != "gap")
    if not set(quantities) <= set(known):
        raise InvalidInput("quantities", f"some of {', '.join(known)}", repr(quantities))
    return quantities


def _draw_runs(axes: Any, runs: Mapping[str, Curves], quantity: str, accuracy: float, theme: Theme) -> None:
    """Draw one quantity of every run, with a marker at its end."""
    axes.set_yscale("log")
    for place, (name, run) in enumerate(runs.items()):
        values = getattr(run, QUANTITIES[quantity][0])
        if values is None:
            continue
        shown = decimate(run.position.size)
        axes.plot(
            run.position[shown],
            clip_to_floor(positive_or_nan(values), accuracy)[shown],
            color=theme.cycle[place % len(theme.cycle)],
            linestyle=LINES[place // len(theme.cycle) % len(LINES)],
            linewidth=1.2,
            label=name,
            marker=MARKERS[place % len(MARKERS)],
            markersize=3.2,
            markevery=[len(shown) - 1],
        )


def _fit_limits(panels: Any) -> None:
    """Set the vertical limits of panels that share an axis by all their curves, at most sixteen decades."""
    drawn = np.concatenate([line.get_ydata() for axes in panels for line in axes.lines])
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size:
        highest = float(drawn.max())
        set_log_limits(panels[0], max(float(drawn.min()), 1e-16 * highest), highest)


def plot_spectrum(
    values: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    label: str = "singular value",
    floor: float = 1e-16,
    width: str | float = "column",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw magnitudes of eigenvalues or singular values in decreasing order on a logarithmic axis.

    Parameters
    ----------
    values
        The values, or several sets of them by name (such as estimate and truth).
    path
        File for the picture (.png, .svg or .pdf); without one the figure is only returned.
    label
        Label of the vertical axis.
    floor
        Values below this share of the largest are omitted as rounding.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        ``values``: expected at least one set of values.

    See Also
    --------
    spectrum_of, plot_convergence

    Examples
    --------
    >>> figure = plot_spectrum([3.0, 0.1, 1.0])
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [3.0, 1.0, 0.1]
    """
    named = values if isinstance(values, Mapping) else {"": values}
    if not named:
        raise InvalidInput("values", "at least one set of values", "none")
    with new_picture(path, width, theme) as picture:
        picture.set_height(0.4 if picture.is_wide else 0.75)
        axes = picture.figure.subplots()
        axes.set_yscale("log")
        for place, (name, given) in enumerate(named.items()):
            _draw_sizes(axes, _sort_sizes(given, floor), place, name, picture.theme)
        axes.set_xlim(0.5, 0.5 + max(line.get_xdata().size for line in axes.lines))
        axes.set_xlabel("index")
        axes.set_ylabel(label)
        axes.xaxis.get_major_locator().set_params(integer=True)
        if any(named):
            legend(axes, title=title)
        elif title:
            picture.figure.suptitle(title, x=0.015, ha="left")
    return picture.figure


def _sort_sizes(values: Any, floor: float) -> FloatArray:
    """Return the magnitudes in decreasing order, those above a share of the largest."""
    array = validate.finite_array("values", values).reshape(-1)
    if array.size == 0:
        raise InvalidInput("values", "at least one value", "none")
    sizes = np.sort(np.abs(array))[::-1].astype(np.float64)
    return sizes[sizes > floor * sizes[0]] if sizes[0] > 0 else sizes[:1]


def _draw_sizes(axes: Any, sizes: FloatArray, place: int, name: str, theme: Theme) -> None:
    colour = theme.cycle[place % len(theme.cycle)]
    axes.plot(
        np.arange(1, sizes.size + 1),
        positive_or_nan(sizes),
        color=colour,
        linewidth=0.7,
        marker=MARKERS[place % len(MARKERS)],
        markersize=(3.5 if sizes.size <= 60 else 1.5) + 1.5 * place,
        markeredgewidth=0.9 if place else 0,
        markerfacecolor="none" if place else colour,
        label=name or None,
    )


def spectrum_of(result: Result) -> FloatArray:
    """Return the singular values of a result's point (the eigenvalues of a psd one), from its factors if it has them.

    For a completion model they are those of its matrix X, without the biases.

    Parameters
    ----------
    result
        A result whose point is a matrix.

    Raises
    ------
    InvalidInput
        If the result has no point, or one that is not a matrix.

    See Also
    --------
    plot_spectrum

    Examples
    --------
    >>> import unipd
    >>> spectrum_of(unipd.Result(unipd.Status.SOLVED, x=np.diag([1.0, 3.0]))).tolist()
    [3.0, 1.0]
    """
    if "eigenvalues" in result.extras:
        return np.asarray(result.extras["eigenvalues"], dtype=np.float64)
    x, completion = result.x, result.extras.get("completion")
    if isinstance(completion, dict):
        return np.asarray(completion["singular_values"], dtype=np.float64)
    if isinstance(x, LowRank):
        left: Any = np.linalg.qr(x.left * x.weights, mode="r")
        right: Any = np.linalg.qr(x.right, mode="r")
        return np.linalg.svd(left @ right.conj().T, compute_uv=False).astype(np.float64)
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return np.linalg.svd(x, compute_uv=False).astype(np.float64)
    raise InvalidInput("result", "one whose point is a matrix", type(x).__name__)
