"""Tomography in pictures: a fit in four panels, and the sections of states and channels on the report page."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.process_tomography import QuantumChannel
from unipd.apps.tomography import QuantumState, as_state, standard_errors
from unipd.atoms import LowRank
from unipd.report import pictures
from unipd.report.curves import compute_curves
from unipd.report.pictures import draw_errors
from unipd.report.sections import COLOURS, Figure, Section, spectrum_figure
from unipd.run import Result

if TYPE_CHECKING:
    from unipd.apps.tomography import Bootstrap, Fit


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


def name_outcomes(state: QuantumState, places: IntArray) -> list[str]:
    """Return the bits of basis states, or their indices where the bits would be long."""
    form = f"0{state.qubits}b" if state.qubits <= NAMED_QUBITS else "d"
    return [format(place, form) for place in places.tolist()]


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
    names = name_outcomes(state, places[ticks])
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


PHASES = ((0.0, "#e69f00"), (0.25, "#cc79a7"), (0.5, "#0072b2"), (0.75, "#009e73"), (1.0, "#e69f00"))
"""Colours of the phases from -pi to pi, the same at both ends."""
GREY = "#b0b0b0"
"""Colour of boxes without a phase."""
USUAL_SIGMAS = 3.0
"""Standard deviations of chi-square up to which the fit is as good as the noise allows."""
_WIDTH = 0.7
_FACES = ((0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6),
          (3, 0, 4), (3, 4, 7))  # fmt: skip
"""Triangles of a box whose corners are numbered around its floor and then around its roof."""


def tomography_section(result: Result) -> Section | None:
    """Return the section of an estimated state; None for other results.

    Apart from the state it draws, where the extras have them, ``observables`` (a dictionary of ``names``, ``values``,
    ``low`` and ``high``) and ``residuals_by_basis`` (``bases``, and ``residuals`` in standard errors).
    """
    state = _state_of(result)
    if state is None:
        return None
    figures = [_city_figure(state), _spectrum(result, state)]
    observables, residuals = (result.extras.get(name) for name in ("observables", "residuals_by_basis"))
    if isinstance(observables, dict):
        figures.append(_observables_figure(observables))
    if isinstance(residuals, dict):
        figures.append(_residuals_figure(residuals))
    return Section("State", _sentences(result), [], figures)


def channel_section(result: Result) -> Section | None:
    """Return the section of an estimated channel, from its Choi matrix among the extras; None for other results."""
    choi = result.extras.get("choi")
    if choi is None or not {"unitarity", "eigenvalues"} <= set(result.extras):
        return None
    matrix = np.asarray(choi)
    city = _city_figure(as_state(matrix / np.trace(matrix).real))
    values = np.asarray(result.extras["eigenvalues"])
    channel = QuantumChannel(matrix, 1 << int(result.extras["qubits"]))
    figures = [
        replace(city, title="Choi matrix", note=f"{city.note}; trace one"),
        spectrum_figure("Spectrum of the Choi matrix", {"estimate": values}, label="eigenvalue", log=values.size > 6),
        _transfer_figure(channel),
    ]
    return Section("Channel", [], [], figures)


def _transfer_figure(channel: QuantumChannel) -> Figure:
    """Return the Pauli transfer matrix as a heat map."""
    names = ["".join(letters) for letters in product("IXYZ", repeat=channel.qubits)]
    table: Any = channel.ptm
    trace = {"type": "heatmap", "x": names, "y": names, "z": table, "zmin": -1.0, "zmax": 1.0, "colorscale": "RdBu"}
    axis = {"type": "category", "showgrid": False}
    rows = {**axis, "autorange": "reversed", "title": {"text": "output"}}
    layout = {"height": 440, "xaxis": {**axis, "title": {"text": "input"}}, "yaxis": rows}
    return Figure("Pauli transfer matrix", [trace], layout, "tr(P E(Q)) / d: what string Q becomes")


def _state_of(result: Result) -> QuantumState | None:
    """Return the state among the extras of a saved result, or the point of a fresh one; channels have no entropy."""
    if not {"qubits", "entropy"} <= set(result.extras):
        return None
    if {"eigenvalues", "eigenvectors"} <= set(result.extras):
        return as_state(result)
    return QuantumState.from_low_rank(result.x) if isinstance(result.x, LowRank) else None


def _sentences(result: Result) -> list[str]:
    """Return whether chi-square is within what its own spread, sqrt(2 degrees of freedom), explains."""
    chi_square, freedom = (result.extras.get(name) for name in ("chi_square", "degrees_of_freedom"))
    if chi_square is None or not freedom:
        return []
    sigmas = (chi_square - freedom) / math.sqrt(2.0 * freedom)
    is_usual = abs(sigmas) <= USUAL_SIGMAS
    verdict = "as expected of the noise" if is_usual else f"{'more' if sigmas > 0 else 'less'} than the noise explains"
    return [f"Chi-square is {chi_square / freedom:.3g} times its degrees of freedom ({sigmas:+.1f} sigma): {verdict}."]


def _city_figure(state: QuantumState) -> Figure:
    """Return the moduli of the entries as boxes coloured by phase, those of the likeliest outcomes."""
    places = largest_indices(state, CITY)
    block = matrix_entries(state, places)
    ticks = {"tickvals": np.arange(places.size), "ticktext": name_outcomes(state, places), "title": {"text": ""}}
    key = {"title": {"text": "phase"}, "tickvals": [-np.pi, 0.0, np.pi], "ticktext": ["-π", "0", "π"], "len": 0.6}
    is_dim = np.abs(block) < FLAT * np.abs(block).max()
    traces = [
        _boxes(block, ~is_dim) | {"cmin": -np.pi, "cmax": np.pi, "colorscale": PHASES, "colorbar": key},
        {name: value for name, value in _boxes(block, is_dim).items() if name != "intensity"} | {"color": GREY},
    ]
    camera = {"eye": {"x": 1.5, "y": 1.5, "z": 1.2}}  # at the default of 1.25 labels leave the picture
    axes = {"xaxis": ticks, "yaxis": ticks, "zaxis": {"title": {"text": "modulus"}}}
    scene = {**axes, "aspectmode": "cube", "camera": camera}
    which = "all entries" if places.size == state.dimension else f"entries of the {places.size} likeliest outcomes"
    layout = {"scene": scene, "height": 440, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}}
    note = f"modulus and phase of {which}; small ones, whose phase is noise, are grey; drag to turn"
    return Figure("Density matrix", traces, layout, note)


def _boxes(block: Array, shown: Array) -> dict[str, Any]:
    """Return the mesh of a box for every entry shown, with its phase at the corners and its value as a label."""
    rows, columns = np.nonzero(shown)
    entries = block[rows, columns]
    floor = 0.5 * _WIDTH * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    corners = np.zeros((entries.size, 8, 3))
    corners[:, :, :2] = np.tile(floor, (2, 1)) + np.stack([rows, columns], axis=1)[:, np.newaxis]
    corners[:, 4:, 2] = np.abs(entries)[:, np.newaxis]
    triangles = np.array(_FACES) + 8 * np.arange(entries.size)[:, np.newaxis, np.newaxis]
    return {
        "type": "mesh3d",
        **dict(zip("xyz", corners.reshape(-1, 3).T, strict=True)),
        **dict(zip("ijk", triangles.reshape(-1, 3).T, strict=True)),
        "intensity": np.repeat(np.angle(entries), 8),
        "flatshading": True,
        "text": np.repeat([f"{value.real:.4f} {value.imag:+.4f}i" for value in entries], 8).tolist(),
        "hoverinfo": "text",
    }


def _spectrum(result: Result, state: QuantumState) -> Figure:
    """Return the eigenvalues of the estimate, with intervals where a bootstrap gave them, and those of the target."""
    spectra = {"estimate": state.eigenvalues}
    if "target_eigenvalues" in result.extras:
        spectra["target"] = result.extras["target_eigenvalues"]
    figure = spectrum_figure("Spectrum", spectra, label="eigenvalue", log=state.rank > 6)
    ends = [
        (result.extras.get(f"eigenvalue_{place}_low"), result.extras.get(f"eigenvalue_{place}_high"))
        for place in range(1, state.rank + 1)
    ]
    if ends[0][0] is not None:
        values = np.sort(state.eigenvalues)[::-1]
        above = [None if high is None else max(0.0, high - e) for e, (_, high) in zip(values, ends, strict=True)]
        below = [None if low is None else max(0.0, e - low) for e, (low, _) in zip(values, ends, strict=True)]
        bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        figure = replace(figure, traces=[{**figure.traces[0], "error_y": bars}, *figure.traces[1:]])
    return figure


def _observables_figure(content: dict[str, Any]) -> Figure:
    values, low, high = (np.asarray(content[name], dtype=np.float64) for name in ("values", "low", "high"))
    bars = {"type": "data", "symmetric": False, "array": high - values, "arrayminus": values - low}
    trace = {
        "x": [escape(str(name), quote=False) for name in content["names"]],
        "y": values,
        "error_y": bars,
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
    }
    return Figure("Observables", [trace], {"yaxis": {"title": {"text": "expectation"}}}, "with 95 % intervals")


def _residuals_figure(content: dict[str, Any]) -> Figure:
    names = [escape(str(name), quote=False) for name in content["bases"]]
    trace = {"type": "bar", "x": names, "y": content["residuals"], "marker": {"color": COLOURS[0]}}
    note = (
        "root mean square difference of measured and fitted values, in standard errors: about 1 where the model holds"
    )
    return Figure("Residuals by basis", [trace], {"yaxis": {"title": {"text": "standard errors"}}}, note)
