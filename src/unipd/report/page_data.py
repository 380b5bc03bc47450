"""The numbers behind the interactive curves, as JSON that is safe inside a page."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd.report.curves import AXES, Curves, curves
from unipd.report.points import thinned

POINTS = 1200
"""Points of a curve in a page: as many dense at the beginning, and as many evenly spread."""
_DIGITS = 7

PANELS = (
    ("residual", "Objective residual", "|objective \N{MINUS SIGN} best bound of the run|, relative"),
    ("infeasibility", "Infeasibility", "distance from the constraints, relative"),
    ("gap", "Certified gap", "|objective \N{MINUS SIGN} best bound so far|, relative"),
    ("smoothness", "Local smoothness M\N{LATIN SUBSCRIPT SMALL LETTER K}", "accepted by the line search"),
    ("exponent", "Running estimate of \N{GREEK SMALL LETTER NU}", "Hölder exponent: 0 bounded, 1 Lipschitz gradient"),
)
"""The pictures of a page: key, title, and what is drawn."""


def run_data(name: str, result: Any) -> dict[str, Any]:
    """Return a run as the script of the page reads it; a run without history has empty curves.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> sorted(run_data("a", unipd.solve(problem, "unipdgrad"))["axes"])
    ['iterations', 'matvecs', 'oracle_calls', 'seconds']
    """
    accuracy = float(result.accuracy)
    known: dict[str, Any] = {"name": name, "accuracy": accuracy if math.isfinite(accuracy) else None}
    history = result.history
    if len(history) == 0:
        return {**known, "axes": {axis: [] for axis in AXES}, "curves": {}, "bound": None}
    found = curves(result)
    kept = _kept(len(history))
    columns = {axis: _plain(history[column][kept]) for axis, (column, _) in AXES.items()}
    drawn = {key: _plain(values[kept]) for key, values in _curves(found).items() if values is not None}
    bounded = "residual" if found.infeasibility is None else "infeasibility"
    bound = None if found.bound is None else {"panel": bounded, "values": _plain(found.bound[kept])}
    return {**known, "axes": columns, "curves": drawn, "bound": bound}


def page_data(runs: dict[str, Any]) -> dict[str, Any]:
    """Return everything the script of the page draws."""
    return {
        "axes": [{"key": key, "label": label} for key, (_, label) in AXES.items()],
        "panels": [{"key": key, "title": title, "note": note} for key, title, note in PANELS],
        "runs": [run_data(name, result) for name, result in runs.items()],
    }


def embedded(data: Any) -> str:
    r"""Return JSON that can stand inside a script element: nothing in it ends the element or opens another.

    >>> print(embedded({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _curves(found: Curves) -> dict[str, FloatArray | None]:
    return {key: getattr(found, key) for key, _, _ in PANELS}


def _kept(size: int) -> IntArray:
    even = np.linspace(0, size - 1, min(size, POINTS)).astype(int)
    return np.union1d(thinned(size, POINTS), even)


def _plain(values: FloatArray) -> list[float | None]:
    """Return numbers of a few digits, None for what is not one."""
    return [float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]
