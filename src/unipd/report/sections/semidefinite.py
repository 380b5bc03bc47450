"""Semidefinite programs: the DIMACS error measures, and the eigenvalues of X and of the dual slack Z."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd.atoms import LowRank
from unipd.report.sections.base import Section, Table, spectrum_figure
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
