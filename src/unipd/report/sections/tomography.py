"""Tomography: the state as a city, its spectrum, observables with error bars, residuals by basis, chi-square."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape
from itertools import product
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.process_tomography import QuantumChannel
from unipd.apps.tomography import QuantumState, as_state
from unipd.atoms import LowRank
from unipd.report.sections.base import COLOURS, Figure, Section, spectrum_figure
from unipd.report.tomography import CITY, FLAT, NAMED_QUBITS, largest_indices, matrix_entries
from unipd.run import Result

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
    names = [
        format(int(place), f"0{state.qubits}b") if state.qubits <= NAMED_QUBITS else str(place) for place in places
    ]
    ticks = {"tickvals": np.arange(places.size), "ticktext": names, "title": {"text": ""}}
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
