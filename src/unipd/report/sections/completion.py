"""Matrix completion: errors, the path of radii, and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd.report.sections.base import COLOURS, Figure, Section, Table, spectrum_figure
from unipd.run import Result

ERRORS = (("rmse_train", "training"), ("rmse_validation", "validation"), ("rmse_test", "test"))
"""Root mean squared errors among the extras, and the ratings they belong to."""


def completion_section(result: Result) -> Section | None:
    """Return the section of a completion model; None for other results.

    The model, with its ratings and the radii tried, is in ``extras["completion"]`` of a saved result.
    """
    extras = result.extras
    if not {"users", "items", "rmse_train"} <= set(extras):
        return None
    rows = [(name, f"{extras[key]:.5g}") for key, name in ERRORS if extras.get(key) is not None]
    model: Any = extras.get("completion", {})
    figures: list[Figure] = []
    if "singular_values" in model:
        figures.append(spectrum_figure("Singular values", {"model": model["singular_values"]}, label="singular value"))
    path = np.asarray(model.get("estimator", {}).get("fit", {}).get("path", ()), dtype=np.float64)
    if len(path):
        figures.append(_path_figure(path, float(extras["radius"])))
    size = f"{extras['users']:,} users, {extras['items']:,} items, {extras.get('ratings', 0):,} ratings."
    return Section("Model", [size], [Table(("ratings", "RMSE"), rows)], figures)


def _path_figure(path: Any, chosen: float) -> Figure:
    """Return the validation error against the radius."""
    ordered = path[np.argsort(path[:, 0])]
    trace = {"x": ordered[:, 0], "y": ordered[:, 1], "mode": "lines+markers", "line": {"color": COLOURS[0]}}
    mark = {"type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "xaxis": {"title": {"text": "radius of the nuclear ball"}, "type": "log"},
        "yaxis": {"title": {"text": "validation RMSE"}},
        "shapes": [{**mark, "line": {"color": "@faint", "dash": "dot"}}],
    }
    return Figure("Choice of the radius", [trace], layout, "the dotted line is the radius chosen")
