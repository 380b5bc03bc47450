"""The picture of a tomography fit: convergence, state, spectrum, and measured against fitted values."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.report import pictures
from unipd.report.curves import compute_curves
from unipd.report.pictures import draw_errors

if TYPE_CHECKING:
    from unipd.apps.tomography import Bootstrap, Fit, QuantumState


CITY = 16
"""Largest density matrix that is drawn whole."""
CROWDED = 8
"""Rows and columns drawn of a larger one, those of the likeliest outcomes."""
FLAT = 0.03
"""Bars below this share of the highest are grey: their phases are noise."""
NAMED_QUBITS = 5
"""Outcomes are labelled by their bits up to this number of qubits, by their index above."""


def largest_indices(state: QuantumState, count: int = CITY) -> IntArray:
    """Return the basis states of largest probability, in increasing order.

    >>> from unipd.apps.tomography import QuantumState
    >>> largest_indices(QuantumState([0, 1, 0, 1j]), 2)
    array([1, 3])
    """
    probabilities = np.sum(state.eigenvalues * np.abs(state.eigenvectors) ** 2, axis=1)
    return np.sort(np.argsort(-probabilities, kind="stable")[:count])


def matrix_entries(state: QuantumState, places: IntArray) -> Array:
    """Return the block of the density matrix at these rows and columns, from the factors."""
    rows = state.eigenvectors[places]
    return (rows * state.eigenvalues) @ rows.conj().T


def power_of_ten(largest: float, least: float = 0.05) -> int:
    """Return the power of ten to take out of small numbers, 0 for those of usual size.

    >>> power_of_ten(0.5), power_of_ten(4.2e-5)
    (0, -5)
    """
    return 0 if not largest > 0.0 or largest >= least else math.floor(math.log10(largest))


def draw_city(axes: Any, state: QuantumState, theme: pictures.Theme) -> None:
    """Draw moduli as bars coloured by phase, with a colour key."""
    from matplotlib import colormaps

    whole = state.dimension <= CITY
    places = largest_indices(state, CITY if whole else CROWDED)
    block = matrix_entries(state, places)
    power = power_of_ten(float(np.abs(block).max()))
    rows, cols = np.meshgrid(np.arange(places.size), np.arange(places.size), indexing="ij")
    height = np.abs(block).reshape(-1)
    shades = colormaps[theme.phases]((np.angle(block).reshape(-1) / (2.0 * np.pi) + 0.5) % 1.0)
    shades[height < FLAT * height.max()] = (0.85, 0.85, 0.85, 1.0)
    base, towers = np.zeros(height.size), height / 10.0**power
    axes.bar3d(rows.reshape(-1), cols.reshape(-1), base, 0.75, 0.75, towers, color=shades, shade=True)
    _label(axes, state, places, theme)
    what = "|entries| of the state" if whole else f"|entries| at the {places.size} likeliest outcomes"
    unit = f", in units of $10^{{{power}}}$" if power else ""
    axes.set_title(what + unit, pad=0)
    axes.set_in_layout(False)  # before Matplotlib 3.11 the layout of bars in space collapses
    _draw_key(axes, theme)


def _label(axes: Any, state: QuantumState, places: IntArray, theme: pictures.Theme) -> None:
    ticks = np.arange(0, places.size, max(1, places.size // 4))
    named = state.qubits <= NAMED_QUBITS
    names = [format(int(places[tick]), f"0{state.qubits}b") if named else str(places[tick]) for tick in ticks]
    axes.set_xticks(ticks + 0.4, names, fontsize=6)
    axes.set_yticks(ticks + 0.4, names, fontsize=6)
    axes.tick_params(axis="both", pad=-3)
    axes.tick_params(axis="z", labelsize=6, pad=1)
    axes.zaxis.get_major_locator().set_params(nbins=4)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(theme.faint)


def _draw_key(axes: Any, theme: pictures.Theme) -> None:
    """Draw the colours of the phases from -pi to pi."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    colours = ScalarMappable(Normalize(-np.pi, np.pi), theme.phases)
    key = axes.figure.colorbar(colours, ax=axes, shrink=0.5, aspect=14, pad=0.12, ticks=[-np.pi, 0.0, np.pi])
    key.ax.set_label("phase")
    key.ax.set_yticklabels(["$-\\pi$", "0", "$\\pi$"], fontsize=6)
    key.ax.set_title("phase", fontsize=6, pad=4)
    key.ax.tick_params(length=2, width=0.4)
    key.outline.set_visible(False)


EIGENVALUES = 30
"""Eigenvalues drawn at most."""
FEW = 6
"""Up to this many eigenvalues are drawn as bars, more as a curve."""
MOST_MEASUREMENTS = 4000
"""Measurements drawn at most."""


def draw_convergence(axes: Any, fit: Fit, theme: pictures.Theme) -> None:
    """Draw the relative errors against matrix-vector products."""
    data = compute_curves(fit.result, "matvecs")
    draw_errors(axes, data, fit.result.accuracy, theme)
    pictures.set_horizontal(axes, [data.position], "linear", whole=True)
    axes.xaxis.get_major_locator().set_params(nbins=4)
    first = float(data.position[0])
    if first > 0.25 * data.position[-1]:
        axes.axvspan(0.0, first, color=theme.grid, alpha=0.45, linewidth=0)
        axes.text(
            0.5 * first, 0.9, "first eigenvector\nand first steps", transform=axes.get_xaxis_transform(),
            ha="center", va="center", fontsize=6.5, color=theme.faint,
        )  # fmt: skip
    axes.set_xlabel(data.label)
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.16, 1.0), ncols=2, fontsize=6.0, handlelength=1.5, columnspacing=0.8
    )


def draw_spectrum(
    axes: Any, state: QuantumState, target: QuantumState | None, theme: pictures.Theme, errors: Bootstrap | None = None
) -> None:
    """Draw eigenvalues: bars when there are few, else a curve on a logarithmic axis; and figures of the state.

    With a bootstrap its intervals are drawn too.
    """
    shown = state.eigenvalues[:EIGENVALUES]
    places = np.arange(1, shown.size + 1)
    if shown.size <= FEW:
        axes.bar(places, shown, width=0.55, color=theme.cycle[0], label="estimate")
        axes.set_ylim(0.0, 1.08)
    else:
        axes.set_yscale("log")
        axes.plot(places, shown, color=theme.cycle[0], linewidth=0.7, marker="o", markersize=3.5, label="estimate")
    intervals = _intervals(errors)
    known = [place for place in places if f"eigenvalue_{place}" in intervals]
    if known:
        ends = np.maximum([intervals[f"eigenvalue_{place}"] for place in known], 0.0).T
        middle = shown[np.array(known) - 1]
        reach = np.maximum([middle - ends[0], ends[1] - middle], 0.0)
        axes.errorbar(known, middle, reach, fmt="none", ecolor=theme.ink, elinewidth=0.8, capsize=2.5, label="95 %")
    if target is not None:
        true = target.eigenvalues[:EIGENVALUES]
        style_of = {"linewidth": 0.0, "marker": "x", "markersize": 5, "color": theme.cycle[1], "label": "target"}
        axes.plot(np.arange(1, true.size + 1), true, **style_of)
    axes.set_xlim(0.4, max(4, shown.size) + 0.6)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("index")
    axes.set_ylabel("eigenvalue")
    axes.grid(visible=False, axis="x")
    axes.legend(fontsize=6.5, loc="upper right", frameon=True, edgecolor="none", framealpha=0.8)
    corner = (0.97, 0.66, "right", "top") if shown.size <= FEW else (0.04, 0.05, "left", "bottom")
    _note(axes, _figures(state, target, intervals), corner)


def _intervals(errors: Bootstrap | None) -> dict[str, tuple[float, float]]:
    """Return the intervals of a bootstrap by name; none without one, or where an interruption left one replicate."""
    if errors is None or errors.replicates < 2:
        return {}
    return {name: (row["low"], row["high"]) for name, row in errors.summary().items()}


def _figures(state: QuantumState, target: QuantumState | None, intervals: dict[str, tuple[float, float]]) -> str:
    """Return rank, purity, entropy and, with a target, the fidelity, a line each; with intervals where known."""

    def end(name: str, digits: int) -> str:
        if name not in intervals:
            return ""
        low, high = intervals[name]
        return f" [{low:.{digits}f}, {high:.{digits}f}]"

    purity = f"purity {state.purity:.4f}{end('purity', 4)}"
    lines = [f"rank {state.effective_rank()}", purity, f"entropy {abs(state.entropy):.3f} bits{end('entropy', 3)}"]
    if target is not None:
        missing = max(0.0, 1.0 - state.fidelity(target))
        is_tiny = missing < 1e-3 and "fidelity" not in intervals
        lines.append(f"infidelity {missing:.1e}" if is_tiny else f"fidelity {1.0 - missing:.4f}{end('fidelity', 4)}")
    return "\n".join(lines)


def draw_data(axes: Any, fit: Fit, theme: pictures.Theme) -> None:
    """Draw measured against fitted values, with their distance."""
    count = fit.data.size
    some = np.arange(count) if count <= MOST_MEASUREMENTS else np.linspace(0, count - 1, MOST_MEASUREMENTS).astype(int)
    measured, fitted = fit.data.expectations[some], fit.fitted[some]
    largest = max(float(np.abs(measured).max()), float(np.abs(fitted).max()), 1e-9)
    power = power_of_ten(largest)
    scale, limit = 10.0**-power, 1.05 * largest * 10.0**-power
    axes.plot([-limit, limit], [-limit, limit], color=theme.faint, linewidth=0.8)
    axes.plot(
        scale * fitted, scale * measured, linewidth=0.0, marker=".", markersize=2.2, alpha=0.5, color=theme.cycle[0]
    )
    axes.set_xlim(-limit, limit)
    axes.set_ylim(-limit, limit)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(nbins=5, symmetric=True)
    unit = f"  ($10^{{{power}}}$)" if power else ""
    axes.set_xlabel(f"fitted expectation value{unit}")
    axes.set_ylabel(f"measured{unit}")
    _note(axes, _differences(fit), (0.97, 0.05, "right", "bottom"))


def _differences(fit: Fit) -> str:
    """Return the number of values, their distance and, when errors are known, that distance in units of them."""
    from unipd.apps.tomography import standard_errors

    difference = fit.fitted - fit.data.expectations
    lines = [f"{fit.data.size:,} values", f"rms difference {_rms(difference):.1e}"]
    errors = standard_errors(fit.data)
    if errors is not None:
        lines.append(f"= {_rms(difference / errors):.2f} standard errors")
    return "\n".join(lines)


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _note(axes: Any, text: str, corner: tuple[float, float, str, str]) -> None:
    x, y, horizontal, vertical = corner
    axes.text(x, y, text, transform=axes.transAxes, ha=horizontal, va=vertical, fontsize=6.5)


def plot_tomography(
    fit: Fit,
    path: str | os.PathLike[str] | None = None,
    *,
    target: Any = None,
    errors: Bootstrap | None = None,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw a fit in four panels: convergence, the largest entries of the state, its eigenvalues, and the data.

    Where the picture is narrow they stand one below the other.

    Parameters
    ----------
    fit
        The fit of :class:`~unipd.apps.tomography.PauliTomography`, its attribute ``fit_``.
    path
        File for the picture (.png, .svg or .pdf); without one the figure is only returned.
    target
        The state aimed at, whose eigenvalues are then drawn as well: a state, a vector, a density matrix, or anything
        else that :func:`~unipd.apps.tomography.as_state` reads.
    errors
        A bootstrap of the fit, whose intervals are then drawn.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    See Also
    --------
    plot_convergence, unipd.PauliTomography

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    >>> figure = plot_tomography(estimate.fit_)
    >>> [panel.get_label() for panel in figure.axes]
    ['convergence', 'state', 'spectrum', 'data', 'phase']
    """
    from unipd.apps.tomography import as_state

    goal = None if target is None else as_state(target)
    with pictures.new_picture(path, width, theme) as picture:
        rows, columns, height = (2, 2, 0.78) if picture.is_wide else (4, 1, 2.9)
        picture.set_height(height)
        figure, colours = picture.figure, picture.theme
        cells = list(figure.add_gridspec(rows, columns))
        draw_convergence(figure.add_subplot(cells[0], label="convergence"), fit, colours)
        state = figure.add_subplot(cells[1], label="state", projection="3d")
        draw_spectrum(figure.add_subplot(cells[2], label="spectrum"), fit.state, goal, colours, errors)
        draw_data(figure.add_subplot(cells[3], label="data"), fit, colours)
        draw_city(state, fit.state, colours)
        if title:
            figure.suptitle(title, x=0.015, ha="left")
    return figure
