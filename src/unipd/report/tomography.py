"""The picture of a tomography run: how it converged, the state, its spectrum, and measured against fitted values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.report import style
from unipd.report.convergence import positive
from unipd.report.curves import curves

if TYPE_CHECKING:
    from unipd.apps.tomography import Fit, QuantumState

CITY = 16
"""Rows and columns of the density matrix that are drawn at most."""
FLAT = 0.03
"""Towers below this share of the highest are grey: their phases mean nothing."""
EIGENVALUES = 30
"""Eigenvalues drawn at most."""
POINTS = 4000
"""Measurements drawn at most."""


def plot_tomography(
    fit: Fit,
    path: str | os.PathLike[str] | None = None,
    *,
    target: QuantumState | None = None,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw a fit in four panels: convergence, the largest entries of the state, its eigenvalues, and the data.

    Parameters
    ----------
    fit
        The fit of :class:`~unipd.apps.tomography.PauliTomography`, its attribute ``fit_``.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    target
        The true state, whose eigenvalues are then drawn as well.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    >>> len(plot_tomography(estimate.fit_).axes)
    4
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if path is not None:
        style.check_path(path)
    figure = style.new_figure(inches, 0.78 * inches, colours)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.05))
    _draw_convergence(figure.add_subplot(grid[0, 0]), fit, colours)
    _draw_city(figure.add_subplot(grid[0, 1], projection="3d"), fit.state, colours)
    _draw_spectrum(figure.add_subplot(grid[1, 0]), fit.state, target, colours)
    _draw_data(figure.add_subplot(grid[1, 1]), fit, colours)
    style.caption(figure, title, colours)
    return style.finish(figure, path)


def _draw_convergence(axes: Any, fit: Fit, theme: style.Theme) -> None:
    data = curves(fit.result, "matvecs")
    marker = "o" if data.position.size < 10 else None
    axes.set_yscale("log")
    lines = (("objective above the bound", data.residual, theme.cycle[0]), ("certified gap", data.gap, theme.cycle[2]))
    for label, values, colour in lines:
        axes.plot(
            data.position, positive(values), color=colour, linewidth=1.3, marker=marker, markersize=3, label=label
        )
    axes.set_xlim(0.0, 1.05 * float(data.position[-1]))
    axes.axhline(fit.result.accuracy, color=theme.faint, linewidth=0.9, linestyle=(0, (1, 2)), label="asked accuracy")
    axes.set_xlabel(data.label)
    axes.set_ylabel("relative error")
    style.dress(axes, theme)
    _legend(axes, theme)


def largest_indices(state: QuantumState, count: int = CITY) -> IntArray:
    """Return the basis states of largest probability, in increasing order.

    >>> from unipd.apps.tomography import QuantumState
    >>> largest_indices(QuantumState([0, 1, 0, 1j]), 2)
    array([1, 3])
    """
    chances = np.sum(state.eigenvalues * np.abs(state.eigenvectors) ** 2, axis=1)
    return np.sort(np.argsort(-chances, kind="stable")[:count])


def entries(state: QuantumState, places: IntArray) -> Array:
    """Return the block of the density matrix at these rows and columns, from the factors."""
    rows = state.eigenvectors[places]
    return (rows * state.eigenvalues) @ rows.conj().T


def _draw_city(axes: Any, state: QuantumState, theme: style.Theme) -> None:
    """Draw moduli as towers, coloured by the phase."""
    from matplotlib import colormaps

    places = largest_indices(state)
    block = entries(state, places)
    rows, cols = np.meshgrid(np.arange(places.size), np.arange(places.size), indexing="ij")
    height = np.abs(block).reshape(-1)
    phase = (np.angle(np.where(height.reshape(block.shape) > 1e-6, block, 1.0)) + np.pi) / (2.0 * np.pi)
    shades = colormaps["twilight"](phase.reshape(-1))
    shades[height < FLAT * height.max()] = (0.85, 0.85, 0.85, 1.0)
    axes.bar3d(rows.reshape(-1), cols.reshape(-1), 0.0 * height, 0.75, 0.75, height, color=shades, shade=True)
    step = max(1, places.size // 4)
    ticks = np.arange(0, places.size, step)
    names = [
        format(int(places[tick]), f"0{state.qubits}b") if state.qubits <= 5 else str(places[tick]) for tick in ticks
    ]
    axes.set_xticks(ticks + 0.4, names, fontsize=6, color=theme.ink)
    axes.set_yticks(ticks + 0.4, names, fontsize=6, color=theme.ink)
    axes.tick_params(axis="both", pad=-3)
    axes.tick_params(axis="z", labelsize=6, colors=theme.ink, pad=1)
    axes.zaxis.get_major_locator().set_params(nbins=4)
    axes.set_facecolor(theme.background)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
    whole = places.size == state.dimension
    label = "|entries| of the state" if whole else f"|entries| at the {places.size} likeliest outcomes"
    axes.set_title(label, fontsize=7, color=theme.ink, pad=0)


def _draw_spectrum(axes: Any, state: QuantumState, target: QuantumState | None, theme: style.Theme) -> None:
    shown = state.eigenvalues[:EIGENVALUES]
    axes.set_yscale("log")
    places = np.arange(1, shown.size + 1)
    axes.plot(places, shown, color=theme.cycle[0], linewidth=0.7, marker="o", markersize=4, label="estimate")
    if target is not None:
        true = target.eigenvalues[:EIGENVALUES]
        style_of = {"linewidth": 0.0, "marker": "x", "markersize": 5, "color": theme.cycle[1], "label": "true state"}
        axes.plot(np.arange(1, true.size + 1), true, **style_of)
        _legend(axes, theme)
    axes.set_xlim(0.5, max(4, shown.size) + 0.5)
    axes.set_ylim(0.5 * min(float(shown[-1]), 1e-2), 2.0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("index")
    axes.set_ylabel("eigenvalue")
    style.dress(axes, theme)


def _draw_data(axes: Any, fit: Fit, theme: style.Theme) -> None:
    count = fit.data.size
    some = np.arange(count) if count <= POINTS else np.linspace(0, count - 1, POINTS).astype(int)
    measured, fitted = fit.data.expectations[some], fit.fitted[some]
    reach = 1.05 * max(float(np.abs(measured).max()), float(np.abs(fitted).max()), 1e-6)
    axes.plot([-reach, reach], [-reach, reach], color=theme.faint, linewidth=0.8)
    axes.plot(fitted, measured, linewidth=0.0, marker=".", markersize=2.0, alpha=0.6, color=theme.cycle[0])
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_xlabel("fitted expectation value")
    axes.set_ylabel("measured")
    style.dress(axes, theme)


def _legend(axes: Any, theme: style.Theme) -> None:
    axes.legend(frameon=False, fontsize=6.5, labelcolor=theme.ink, handlelength=1.8)
