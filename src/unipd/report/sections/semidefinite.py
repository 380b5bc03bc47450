"""Semidefinite programs: DIMACS error measures and the eigenvalues of X and of the dual slack Z; cuts of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd.atoms import LowRank
from unipd.report.sections.base import COLOURS, Figure, Section, Table, spectrum_figure
from unipd.run import Result

MEASURES = (
    "||A(X) - b|| / (1 + max |b|)",
    "how far X is from being psd",
    "||C - A*(y) - Z|| / (1 + max |C|)",
    "how far Z is from being psd",
    "gap over 1 + |primal| + |dual|",
    "<X, Z> over 1 + |primal| + |dual|",
)
"""The six error measures of the DIMACS challenge."""


def semidefinite_section(result: Result) -> Section | None:
    """Return the section of a semidefinite program; None for other results."""
    extras = result.extras
    if "dimacs_errors" not in extras:
        return None
    rows = [
        (f"{k}", meaning, f"{error:.2e}")
        for k, (meaning, error) in enumerate(zip(MEASURES, extras["dimacs_errors"], strict=True), 1)
    ]
    sentences: list[str] = []
    if extras.get("trace_bound_reason"):
        size = extras.get("trace_bound")
        known = "of any trace" if size is None else f"of trace at most {size:.6g}"
        sentences.append(f"The bound holds for every feasible X {known}: {extras['trace_bound_reason']}.")
    spectra = {"X": _eigenvalues(result.x), "Z": extras.get("slack_eigenvalues")}
    spectra = {name: values for name, values in spectra.items() if values is not None and len(values)}
    note = "at an optimum X Z = 0: the rank of X and that of Z add up to at most the order" if len(spectra) > 1 else ""
    figures = [spectrum_figure("Eigenvalues", spectra, label="eigenvalue", note=note)] if spectra else []
    table = Table(("", "DIMACS error measure", "value"), rows)
    return Section("Semidefinite program", sentences, [table], figures)


def _eigenvalues(x: Any) -> Any:
    """Return the nonzero eigenvalues of a psd point from its factors, all of a dense one; None without a point."""
    if isinstance(x, LowRank):
        factor = x.left * np.sqrt(np.maximum(x.weights, 0.0))
        return np.linalg.eigvalsh(factor.T @ factor)
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[0] == x.shape[1]:
        return np.linalg.eigvalsh(x)
    return None


def cut_section(result: Result) -> Section | None:
    """Return the section of a cut; None for other results."""
    extras = result.extras
    if not {"cut_value", "sdp_bound", "sides"} <= set(extras):
        return None
    value, bound, sides = float(extras["cut_value"]), float(extras["sdp_bound"]), np.asarray(extras["sides"])
    is_maximum = "ratio" in extras
    larger = int(np.count_nonzero(sides > 0))
    rows = [
        ("nodes, edges", f"{extras.get('nodes', sides.size):,}, {extras.get('edges', 0):,}"),
        ("sides", f"{larger:,} and {sides.size - larger:,} nodes"),
        ("cut found", f"{value:.10g}"),
        ("bound", f"{bound:.10g}"),
    ]
    sentences = [f"No {'cut is larger' if is_maximum else 'bisection is smaller'} than the bound."]
    if is_maximum:
        sentences.append(f"The cut found has at least {100.0 * float(extras['ratio']):.2f} % of the maximum weight.")
    look = {"color": [COLOURS[0], "@faint"]}
    bars = {"type": "bar", "orientation": "h", "y": ["cut found", "bound"], "x": [value, bound], "marker": look}
    layout = {"xaxis": {"title": {"text": "weight"}, "rangemode": "tozero"}, "height": 220}
    return Section("Cut", sentences, [Table(("", ""), rows)], [Figure("Cut and bound", [bars], layout)])
