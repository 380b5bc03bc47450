"""The curves of runs as one Plotly figure with a panel for each quantity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from unipd._typing import IntArray
from unipd.report.curves import AXES, LEAST, compute_curves, decimate
from unipd.report.sections import COLOURS
from unipd.report.sections.base import to_plain
from unipd.run import Result

PAGE_POINTS = 1200
"""Points per curve: this many dense at the beginning, and this many evenly spread."""

PANELS = (
    ("residual", "Objective residual", "|objective \N{MINUS SIGN} best bound of the run|, relative"),
    ("infeasibility", "Infeasibility", "distance from the constraints, relative"),
    ("gap", "Certified gap", "|objective \N{MINUS SIGN} best bound so far|, relative"),
    ("smoothness", "Local smoothness M<sub>k</sub>", "accepted by the line search"),
    ("exponent", "Hölder exponent \N{GREEK SMALL LETTER NU}", "running estimate: 0 bounded, 1 Lipschitz gradient"),
)
"""The panels of the curves: key, title, and what is drawn."""
_ROW_PIXELS, _GAP_PIXELS, _MARGIN_PIXELS = 230, 90, 60
_DASHES = ("solid", "dot", "dashdot", "longdash")


def run_data(name: str, result: Result) -> dict[str, Any]:
    """Return the curves of a run as the page draws them, decimated; a run without history has none.

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
    found = compute_curves(result)
    kept = _select_points(len(history))
    columns = {axis: to_plain(history[column][kept]) for axis, (column, _) in AXES.items()}
    curves = {key: getattr(found, key) for key, _, _ in PANELS}
    drawn = {key: to_plain(values[kept]) for key, values in curves.items() if values is not None}
    bounded = "residual" if found.infeasibility is None else "infeasibility"
    bound = None if found.bound is None else {"panel": bounded, "values": to_plain(found.bound[kept])}
    return {**known, "axes": columns, "curves": drawn, "bound": bound}


def _select_points(size: int) -> IntArray:
    even = np.linspace(0, size - 1, min(size, PAGE_POINTS)).astype(int)
    return np.union1d(decimate(size, PAGE_POINTS), even)


def curves_figure(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the Plotly figure of the curves, in two columns and, for narrow screens, in one.

    The x of a trace is that of its run (``meta.run``) for the chosen axis, which the page's script fills in.
    """
    keys = [key for key, _, _ in PANELS if any(key in run["curves"] for run in runs)]
    traces = [trace for place, key in enumerate(keys) for trace in _panel_traces(runs, key, place)]
    labels = [(title, note) for key, title, note in PANELS if key in keys]
    wide, narrow = (_panel_layout(runs, keys, labels, columns) for columns in (2, 1))
    return {"traces": to_plain(traces), "layout": to_plain(wide), "narrow": to_plain(narrow)}


def _panel_traces(runs: Sequence[Mapping[str, Any]], key: str, place: int) -> list[dict[str, Any]]:
    """Return the curve of every run in one panel, and the theorem's bounds that belong there."""
    number, traces = "" if place == 0 else str(place + 1), list[dict[str, Any]]()
    for index, run in enumerate(runs):
        look: dict[str, Any] = {
            "color": COLOURS[index % len(COLOURS)],
            "dash": _DASHES[index // len(COLOURS) % len(_DASHES)],
        }
        lines = [(escape(run["name"], quote=False), f"run{index}", run["curves"].get(key), {**look, "width": 2})]
        if run["bound"] and run["bound"]["panel"] == key:
            label = "theorem's bound (an estimate)"
            lines.append((label, "theorem", run["bound"]["values"], {**look, "width": 1.3, "dash": "dash"}))
        for name, group, values, line in lines:
            if values is None:
                continue
            shown = [value if value is None or value > 0.0 or key == "exponent" else LEAST for value in values]
            is_short = len(shown) < 10
            traces.append({
                "name": name,
                "legendgroup": group,
                "meta": {"run": index},
                "y": shown,
                "mode": "lines+markers" if is_short else "lines",
                "line": line,
                "xaxis": f"x{number}",
                "yaxis": f"y{number}",
                "showlegend": place == 0 if group != "theorem" else not any(each["name"] == name for each in traces),
            })  # fmt: skip
    return traces


def _panel_layout(
    runs: Sequence[Mapping[str, Any]], keys: Sequence[str], labels: Sequence[tuple[str, str]], columns: int
) -> dict[str, Any]:
    rows = max(1, -(-len(keys) // columns))
    inner = rows * _ROW_PIXELS + (rows - 1) * _GAP_PIXELS
    accuracies = sorted({run["accuracy"] for run in runs if run["accuracy"] and run["accuracy"] >= LEAST})
    layout: dict[str, Any] = {"height": inner + 2 * _MARGIN_PIXELS, "annotations": [], "shapes": []}
    for place, (key, (title, note)) in enumerate(zip(keys, labels, strict=True)):
        number, (row, column) = "" if place == 0 else str(place + 1), divmod(place, columns)
        top = 1.0 - row * (_ROW_PIXELS + _GAP_PIXELS) / inner
        left, right = column * 0.54, column * 0.54 + (0.46 if columns == 2 else 1.0)
        layout[f"xaxis{number}"] = {"domain": [left, right], "anchor": f"y{number}", "matches": "x" if place else None}
        scale = {"range": [-0.05, 1.05]} if key == "exponent" else {"type": "log", "exponentformat": "power"}
        layout[f"yaxis{number}"] = {"domain": [top - _ROW_PIXELS / inner, top], "anchor": f"x{number}", **scale}
        layout["annotations"].append({
            "text": f"<b>{title}</b>{'  ' if columns > 1 else '<br>'}<span style='font-size:11px'>{note}</span>",
            "x": left, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom",
            "yshift": 4, "showarrow": False, "align": "left",
        })  # fmt: skip
        if key in ("residual", "infeasibility", "gap"):
            layout["shapes"] += [
                {"type": "line", "xref": f"x{number} domain", "x0": 0, "x1": 1, "yref": f"y{number}", "y0": accuracy,
                 "y1": accuracy, "line": {"color": "@faint", "dash": "dot", "width": 1.5}}
                for accuracy in accuracies
            ]  # fmt: skip
    return layout
