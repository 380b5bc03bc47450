"""The report: one self-contained HTML page with summary, certificate, curves, sections of applications, settings."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from unipd._util.files import write_text
from unipd._util.lazy import import_extra
from unipd._version import __version__
from unipd.errors import InvalidInput
from unipd.memory import size_text
from unipd.report.certificate_text import MEANINGS, describe_certificate
from unipd.report.curves import AXES, LEAST, compute_curves, decimate
from unipd.report.sections import (
    COLOURS,
    Figure,
    Section,
    completion_section,
    cut_section,
    implicit_section,
    semidefinite_section,
    to_plain,
)
from unipd.report.tomography import channel_section, tomography_section
from unipd.run import Result
from unipd.run.result import problem_facts
from unipd.status import Status

FIGURES = {
    "objective": ("objective", 10),
    "dual_bound": ("bound of the optimal value", 10),
    "bound_kind": ("kind of bound", 0),
    "gap": ("gap", 3),
    "infeasibility": ("infeasibility (relative)", 3),
    "accuracy": ("requested accuracy", 3),
    "absolute_gap": ("absolute gap", 3),
    "atol": ("absolute tolerance", 3),
    "gap_scale": ("scale of the gap", 4),
    "violation": ("violation (absolute)", 3),
    "feasibility_scale": ("scale of the infeasibility", 4),
    "method": ("method", 0),
    "iterations": ("iterations", 0),
    "oracle_calls": ("sharp-oracle calls", 0),
    "line_search_trials": ("line-search trials", 0),
    "matvecs": ("matrix-vector products", 0),
    "seconds": ("seconds", 4),
    "peak_memory_bytes": ("peak memory", 0),
}
"""Rows of the summary: label and digits by the key of the figure."""
_LONGEST = 400
"""Characters of a value that are shown."""
POLL_MILLISECONDS = 1000
"""Time between two requests of a live page."""
PAGE_POINTS = 1200
"""Points per curve: this many dense at the beginning, and this many evenly spread."""

PANELS = (
    ("residual", "Objective residual", "|objective \N{MINUS SIGN} best bound of the run|, {unit}"),
    ("infeasibility", "Infeasibility", "distance from the constraints, relative"),
    ("gap", "Certified gap", "|objective \N{MINUS SIGN} best bound so far|, {unit}"),
    ("smoothness", "Local smoothness M<sub>k</sub>", "accepted by the line search"),
    ("exponent", "Hölder exponent \N{GREEK SMALL LETTER NU}", "running estimate: 0 bounded, 1 Lipschitz gradient"),
)
"""The panels of the curves: key, title, and what is drawn."""
_ROW_PIXELS, _GAP_PIXELS, _MARGIN_PIXELS = 230, 90, 60
_LOG_AXIS = {"type": "log", "exponentformat": "power", "nticks": 4}
"""Few ticks: powers of ten, without digits between them unless the curve spans less than three."""
_DASHES = ("solid", "dot", "dashdot", "longdash")


BUILDERS: tuple[Callable[[Result], Section | None], ...] = (
    tomography_section,
    channel_section,
    completion_section,
    implicit_section,
    cut_section,
    semidefinite_section,
)
"""The builders, in the order of the page."""


def report_sections(result: Result) -> list[Section]:
    """Return the sections that applications have for a result, none for a plain run.

    Parameters
    ----------
    result
        The result of an application, fresh or loaded.

    Returns
    -------
    list of Section

    See Also
    --------
    write_report : The page that shows them.

    Examples
    --------
    >>> import unipd
    >>> from unipd.io import Graph
    >>> cycle = Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], [1.0] * 5)
    >>> [section.title for section in report_sections(unipd.MaxCut().fit(cycle).result_)]
    ['Cut', 'Semidefinite program']
    """
    return [section for build in BUILDERS if (section := build(result)) is not None]


def page_content(runs: Mapping[str, Result]) -> dict[str, Any]:
    """Return everything that depends on the runs: the HTML before and after the curves, and the figures."""
    figures: dict[str, Figure] = {}
    sections: list[dict[str, Any]] = []
    for place, run in enumerate(runs.values()):
        for section in report_sections(run):
            named = {f"figure-{len(figures) + k}": figure for k, figure in enumerate(section.figures)}
            figures |= named
            sections.append({"run": place, "content": section, "figures": list(named.items())})
    known: dict[str, Any] = {
        "names": list(runs),
        "runs": [
            {"certificate": describe_certificate(run), "status": _describe_status(run.status), "message": run.message}
            for run in runs.values()
        ],
        "summary": _rows([_summary_texts(run) for run in runs.values()]),
        "sections": sections,
        "settings": _rows(
            [{"problem": problem_facts(run).problem, **run.settings, "seed": run.seed} for run in runs.values()]
        ),
        "versions": _rows([{**run.versions, "saved (UTC)": run.saved} for run in runs.values()]),
        "statuses": [_describe_status(status) for status in Status if status is not Status.RUNNING],
    }
    data = [run_data(name, run) for name, run in runs.items()]
    drawn = {key: {"traces": to_plain(each.traces), "layout": to_plain(each.layout)} for key, each in figures.items()}
    return {
        "before": _environment().get_template("before.html").render(known),
        "after": _environment().get_template("after.html").render(known),
        "runs": [{"name": run["name"], "axes": run["axes"]} for run in data],
        "figures": {"curves": curves_figure(data), **drawn},
    }


def _describe_status(status: Status) -> dict[str, str]:
    kind = "good" if status.success else "bad" if status in (Status.INFEASIBLE, Status.UNBOUNDED) else "fair"
    label = status.value.replace("_", " ")
    return {"kind": kind, "label": label, "message": status.message, "meaning": MEANINGS[status]}


def _rows(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return a row for every key: the key, and the text of its value in each record."""
    keys = dict.fromkeys(str(key) for record in records for key in record)
    rows = [(key, [_text(record.get(key)) for record in records]) for key in keys]
    return [(key, cells) for key, cells in rows if any(cells)]


def _summary_texts(result: Result) -> dict[str, str]:
    """Return the figures of a result as text: those of every result, then those of its application."""
    figures = {**result.summary(), "atol": result.atol or None}
    if (memory := figures.get("peak_memory_bytes")) is not None:
        figures["peak_memory_bytes"] = size_text(memory)
    labels = {**FIGURES, "gap": (f"gap ({result.gap_unit})", 3)}
    texts = {label: _text(figures.get(key), digits) for key, (label, digits) in labels.items()}
    for key in (key for key in figures if key not in {*FIGURES, "gap_unit", "status", "message"}):
        name = re.sub("_(stderr|low|high)$", "", key)
        interval = [_text(figures.get(f"{name}_{end}"), 5) for end in ("low", "high")]
        if all(interval):
            texts[name.replace("_", " ")] = f"{_text(figures.get(name))} [{', '.join(interval)}]".strip()
        else:
            texts[key.replace("_", " ")] = _text(figures[key])
    return texts


def _text(value: Any, digits: int = 6) -> str:
    """Return a value as text of bounded length; empty for None."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        value = f"{value + 0.0:.{digits or 6}g}" if not math.isnan(value) else "unknown"
    if isinstance(value, (list, tuple)) and all(isinstance(part, float) for part in value):
        value = ", ".join(f"{part + 0.0:.3g}" for part in value)
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def write_report(
    results: Mapping[str, Result] | Result, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write a self-contained, interactive HTML page about one or several results.

    It has the summary, the certificate in words, zoomable curves, what the application adds
    (:func:`~unipd.report.report_sections`), settings and versions. Plotly is part of the page (about 5 MB), which
    loads nothing.

    Parameters
    ----------
    results
        A result, or several by the names that the legend shows.
    path
        The file, ending in .html; written atomically.
    title
        Heading of the page.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InvalidInput
        If there is no result, or the path does not end in .html.
    MissingExtra
        Without Jinja2 and Plotly, the extra ``report``.

    See Also
    --------
    LiveServer : The same page of a run that continues.
    plot_convergence : The curves as a picture.

    Examples
    --------
    >>> import tempfile, numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(unipd.solve(problem), f"{folder}/run.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput("path", "a file name ending in .html", repr(str(path)))
    named: Mapping[str, Result] = results if isinstance(results, Mapping) else {"run": results}
    if not named:
        raise InvalidInput("results", "at least one result", "none")
    write_text(target, render_page(named, title=title))
    return target


def render_page(runs: Mapping[str, Result], *, title: str | None = None, live: str | None = None) -> str:
    """Return the page as text.

    Parameters
    ----------
    runs
        The results by name.
    title
        Heading of the page.
    live
        Address that the page polls for fresh data, the only one it may reach; None for a page that stays as it is.

    Returns
    -------
    str

    See Also
    --------
    write_report, LiveServer

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> render_page({"run": unipd.solve(problem)}).lower().startswith("<!doctype html>")
    True
    """
    plotly, script = _plotly(), _asset("report.js")
    content = page_content(runs)
    follow = None if live is None else {"url": live, "milliseconds": POLL_MILLISECONDS}
    axes = [{"key": key, "label": label} for key, (_, label) in AXES.items()]
    return (
        _environment()
        .get_template("page.html")
        .render(
            policy=content_policy(plotly, script, live=live is not None),
            version=__version__,
            title=title or "Report: " + ", ".join(list(runs)[:4]) + (" and others" if len(runs) > 4 else ""),
            style=_asset("report.css"),
            before=content["before"],
            after=content["after"],
            axes=axes,
            data={"runs": content["runs"], "figures": content["figures"], "axes": axes, "live": follow},
            plotly=plotly,
            script=script,
        )
    )


def content_policy(*scripts: str, live: bool) -> str:
    """Return the content security policy: the page's own scripts by their hashes, inline styles, nothing loaded.

    >>> content_policy("", live=False).split(";")[0]
    "default-src 'none'"
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    connect = "connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; {connect}"
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Any:
    jinja2 = import_extra("jinja2", "report", "a report page")
    loader = jinja2.PackageLoader("unipd.report", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _asset(name: str) -> str:
    """Return the text of a file of the package's ``templates`` as it is."""
    return _environment().loader.get_source(_environment(), name)[0]


@cache
def _plotly() -> str:
    """Return Plotly's own bundle."""
    return str(import_extra("plotly.offline", "report", "a report page").get_plotlyjs())


def run_data(name: str, result: Result) -> dict[str, Any]:
    """Return the curves of a run as the page draws them, decimated; a run without history has none.

    Parameters
    ----------
    name
        Name of the run in the legend.
    result
        The result of a run, fresh or loaded.

    See Also
    --------
    compute_curves, decimate

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> sorted(run_data("a", unipd.solve(problem, "unipdgrad"))["axes"])
    ['iterations', 'matvecs', 'oracle_calls', 'seconds']
    """
    history, accuracy = result.history, float(result.accuracy)
    known: dict[str, Any] = {
        "name": name,
        "accuracy": accuracy if math.isfinite(accuracy) else None,
        "unit": result.gap_unit,
    }
    if len(history) == 0:
        return {**known, "axes": {axis: [] for axis in AXES}, "curves": {}, "bound": None}
    found = compute_curves(result)
    even = np.linspace(0, len(history) - 1, min(len(history), PAGE_POINTS)).astype(int)
    kept = np.union1d(decimate(len(history), PAGE_POINTS), even)
    curves = {key: getattr(found, key) for key, _, _ in PANELS}
    bounded = "residual" if found.infeasibility is None else "infeasibility"
    return {
        **known,
        "axes": {axis: to_plain(history[column][kept]) for axis, (column, _) in AXES.items()},
        "curves": {key: to_plain(values[kept]) for key, values in curves.items() if values is not None},
        "bound": None if found.bound is None else {"panel": bounded, "values": to_plain(found.bound[kept])},
    }


def curves_figure(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the Plotly figure of the curves, in two columns and, for narrow screens, in one.

    The x of a trace is that of its run (``meta.run``) for the chosen axis, which the page's script fills in.
    """
    keys = [key for key, _, _ in PANELS if any(key in run["curves"] for run in runs)]
    traces = [trace for place, key in enumerate(keys) for trace in _panel_traces(runs, key, place)]
    units = {run["unit"] for run in runs}
    unit = f"in {units.pop()}" if units == {"nats"} else "relative"
    labels = [(title, note.format(unit=unit)) for key, title, note in PANELS if key in keys]
    wide, narrow = (_panel_layout(runs, keys, labels, columns) for columns in (2, 1))
    return {"traces": to_plain(traces), "layout": to_plain(wide), "narrow": to_plain(narrow)}


def _panel_traces(runs: Sequence[Mapping[str, Any]], key: str, place: int) -> list[dict[str, Any]]:
    """Return the curve of every run in one panel, and the theorem's bounds that belong there."""
    number, traces = "" if place == 0 else str(place + 1), list[dict[str, Any]]()
    for index, run in enumerate(runs):
        colour, dash = COLOURS[index % len(COLOURS)], _DASHES[index // len(COLOURS) % len(_DASHES)]
        lines: list[tuple[str, str, Any, dict[str, Any]]] = []
        if key in run["curves"]:
            look = {"color": colour, "dash": dash, "width": 2}
            lines.append((escape(run["name"], quote=False), f"run{index}", run["curves"][key], look))
        if run["bound"] and run["bound"]["panel"] == key:
            look = {"color": colour, "dash": "dash", "width": 1.3}
            lines.append(("theorem's bound (an estimate)", "theorem", run["bound"]["values"], look))
        for name, group, values, line in lines:
            shown = [value if value is None or value > 0.0 or key == "exponent" else LEAST for value in values]
            traces.append({
                "name": name,
                "legendgroup": group,
                "meta": {"run": index},
                "y": shown,
                "mode": "lines+markers" if len(shown) < 10 else "lines",
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
        scale = {"range": [-0.05, 1.05]} if key == "exponent" else _LOG_AXIS
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
