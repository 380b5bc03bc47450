"""The state as a city: towers for the moduli of the largest entries, coloured by their phases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.report import style

if TYPE_CHECKING:
    from unipd.apps.tomography import QuantumState

CITY = 16
"""Rows and columns of the density matrix that are drawn when there are no more than these."""
CROWDED = 8
"""Rows and columns drawn of a larger one."""
FLAT = 0.03
"""Towers below this share of the highest are grey: their phases mean nothing."""
NAMED_QUBITS = 5
"""Up to so many qubits outcomes are named by their bits, above by their index."""


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


def power_of_ten(largest: float, least: float = 0.05) -> int:
    """Return the power of ten to take out of small numbers, 0 for those of usual size.

    >>> power_of_ten(0.5), power_of_ten(4.2e-5)
    (0, -5)
    """
    return 0 if not largest > 0.0 or largest >= least else math.floor(math.log10(largest))


def draw_city(axes: Any, state: QuantumState, theme: style.Theme) -> None:
    """Draw moduli as towers, coloured by the phase, with the key of the colours."""
    from matplotlib import colormaps

    whole = state.dimension <= CITY
    places = largest_indices(state, CITY if whole else CROWDED)
    block = entries(state, places)
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
    axes.set_title(what + unit, fontsize=7, color=theme.ink, pad=0)
    _draw_key(axes, theme)


def _label(axes: Any, state: QuantumState, places: IntArray, theme: style.Theme) -> None:
    ticks = np.arange(0, places.size, max(1, places.size // 4))
    named = state.qubits <= NAMED_QUBITS
    names = [format(int(places[tick]), f"0{state.qubits}b") if named else str(places[tick]) for tick in ticks]
    axes.set_xticks(ticks + 0.4, names, fontsize=6, color=theme.ink)
    axes.set_yticks(ticks + 0.4, names, fontsize=6, color=theme.ink)
    axes.tick_params(axis="both", pad=-3)
    axes.tick_params(axis="z", labelsize=6, colors=theme.ink, pad=1)
    axes.zaxis.get_major_locator().set_params(nbins=4)
    axes.set_facecolor(theme.background)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(theme.faint)


def _draw_key(axes: Any, theme: style.Theme) -> None:
    """Draw the colours of the phases from -pi to pi."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    colours = ScalarMappable(Normalize(-np.pi, np.pi), theme.phases)
    key = axes.figure.colorbar(colours, ax=axes, shrink=0.5, aspect=14, pad=0.12, ticks=[-np.pi, 0.0, np.pi])
    key.ax.set_label("phase")
    key.ax.set_yticklabels(["$-\\pi$", "0", "$\\pi$"], fontsize=6, color=theme.ink)
    key.ax.set_title("phase", fontsize=6, color=theme.ink, pad=4)
    key.ax.tick_params(length=2, width=0.4, colors=theme.ink)
    key.outline.set_visible(False)
