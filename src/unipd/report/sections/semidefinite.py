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
    errors: Any = extras["dimacs_errors"]
    rows = [
        (f"{k}", meaning, f"{error:.2e}") for k, (meaning, error) in enumerate(zip(MEASURES, errors, strict=True), 1)
    ]
    sentences: list[str] = []
    if extras.get("trace_bound_reason"):
        size = extras.get("trace_bound")
        known = "of any trace" if size is None else f"of trace at most {size:.6g}"
        sentences.append(f"The bound holds for every feasible X {known}: {extras['trace_bound_reason']}.")
    spectra = {"X": _eigenvalues(result.x), "Z": extras.get("slack_eigenvalues")}
    known_spectra = {name: values for name, values in spectra.items() if values is not None and len(values)}
    note = "at an optimum X Z = 0: the rank of X and that of Z add up to at most the order"
    figures = (
        [spectrum_figure("Eigenvalues", known_spectra, label="eigenvalue", note=note if len(known_spectra) > 1 else "")]
        if known_spectra
        else []
    )
    return Section(
        "Semidefinite program", sentences, [Table(("", "DIMACS error measure", "value"), rows)], figures
    )  # fmt: skip


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
    limit = "larger" if is_maximum else "smaller"
    sentences = [f"No {'cut' if is_maximum else 'bisection'} is {limit} than the bound."]
    if is_maximum:
        share = f"{100.0 * float(extras['ratio']):.2f} %"
        sentences.append(f"The cut found has at least {share} of the maximum weight.")
    traces = [
        {"type": "bar", "orientation": "h", "y": ["cut found", "bound"], "x": [value, bound], "marker": {
            "color": [COLOURS[0], "@faint"]}}
    ]  # fmt: skip
    layout = {"xaxis": {"title": {"text": "weight"}, "rangemode": "tozero"}, "height": 220}
    return Section("Cut", sentences, [Table(("", ""), rows)], [Figure("Cut and bound", traces, layout)])
