"""The report: one self-contained HTML page with summary, certificate, curves and settings."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd._util.files import write_text
from unipd._version import __version__
from unipd.errors import InvalidInput
from unipd.memory import size_text
from unipd.report.certificate_text import MEANINGS, describe_certificate
from unipd.report.curves import AXES, compute_curves, decimate
from unipd.run import Result
from unipd.run.result import problem_facts
from unipd.status import Status

PAGE_POINTS = 1200
"""Points per curve: this many dense at the beginning, and this many evenly spread."""
_DIGITS = 7

PANELS = (
    ("residual", "Objective residual", "|objective \N{MINUS SIGN} best bound of the run|, relative"),
    ("infeasibility", "Infeasibility", "distance from the constraints, relative"),
    ("gap", "Certified gap", "|objective \N{MINUS SIGN} best bound so far|, relative"),
    ("smoothness", "Local smoothness M\N{LATIN SUBSCRIPT SMALL LETTER K}", "accepted by the line search"),
    ("exponent", "Running estimate of \N{GREEK SMALL LETTER NU}", "Hölder exponent: 0 bounded, 1 Lipschitz gradient"),
)
"""The pictures of a page: key, title, and what is drawn."""


def run_data(name: str, result: Result) -> dict[str, Any]:
    """Return the data of a run for the script of the page; a run without history has empty curves.

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
    columns = {axis: _plain(history[column][kept]) for axis, (column, _) in AXES.items()}
    curves = {key: getattr(found, key) for key, _, _ in PANELS}
    drawn = {key: _plain(values[kept]) for key, values in curves.items() if values is not None}
    bounded = "residual" if found.infeasibility is None else "infeasibility"
    bound = None if found.bound is None else {"panel": bounded, "values": _plain(found.bound[kept])}
    return {**known, "axes": columns, "curves": drawn, "bound": bound}


def page_data(runs: Mapping[str, Result]) -> dict[str, Any]:
    """Return everything the script of the page draws."""
    return {
        "axes": [{"key": key, "label": label} for key, (_, label) in AXES.items()],
        "panels": [{"key": key, "title": title, "note": note} for key, title, note in PANELS],
        "runs": [run_data(name, result) for name, result in runs.items()],
    }


def embed_json(data: Any) -> str:
    r"""Return JSON that is safe inside a script element.

    >>> print(embed_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _select_points(size: int) -> IntArray:
    even = np.linspace(0, size - 1, min(size, PAGE_POINTS)).astype(int)
    return np.union1d(decimate(size, PAGE_POINTS), even)


def _plain(values: FloatArray) -> list[float | None]:
    """Return numbers rounded to a few digits, None for those that are not finite."""
    return [float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]


FIGURES: Sequence[tuple[str, str, int]] = (
    ("objective", "objective", 10),
    ("dual_bound", "bound of the optimal value", 10),
    ("bound_kind", "kind of bound", 0),
    ("gap", "gap (relative)", 3),
    ("infeasibility", "infeasibility (relative)", 3),
    ("accuracy", "requested accuracy", 3),
    ("absolute_gap", "absolute gap", 3),
    ("gap_scale", "scale of the gap", 4),
    ("violation", "violation (absolute)", 3),
    ("feasibility_scale", "scale of the infeasibility", 4),
    ("method", "method", 0),
    ("iterations", "iterations", 0),
    ("oracle_calls", "sharp-oracle calls", 0),
    ("line_search_trials", "line-search trials", 0),
    ("matvecs", "matrix-vector products", 0),
    ("seconds", "seconds", 4),
    ("peak_memory_bytes", "peak memory", 0),
)
"""Rows of the summary: key of the figure, label, digits."""
_LONGEST = 400


def render_sections(runs: Mapping[str, Result]) -> dict[str, str]:
    """Return the HTML before and after the curves."""
    after = (render_statuses(runs), render_settings(runs), render_versions(runs))
    return {"before": render_summary(runs) + render_certificates(runs), "after": "".join(after)}


def render_summary(runs: Mapping[str, Result]) -> str:
    """Return the table of the headline figures, one column per run."""
    figures = [result.summary() for result in runs.values()]
    rows = [("status", [_badge(result.status) for result in runs.values()])]
    rows += [(label, [_figure(each, key, digits) for each in figures]) for key, label, digits in FIGURES]
    shown = {key for key, _, _ in FIGURES} | {"status", "message"}
    more = [key for key in _keys(figures) if key not in shown]
    rows += [(key.replace("_", " "), [_figure(each, key, 6) for each in figures]) for key in more]
    return _section("Summary", _table(runs, rows))


def render_certificates(runs: Mapping[str, Result]) -> str:
    """Return the certificates in words."""
    blocks = [
        _heading(name, runs) + "".join(f"<p>{escape(sentence)}</p>" for sentence in describe_certificate(result))
        for name, result in runs.items()
    ]
    return _section("Certificate" if len(runs) == 1 else "Certificates", "".join(blocks))


def render_statuses(runs: Mapping[str, Result]) -> str:
    """Return the meaning of each run's status, and of all statuses in a fold-out."""
    blocks: list[str] = []
    for name, result in runs.items():
        said, then = escape(result.message), escape(MEANINGS[result.status])
        blocks.append(f"{_heading(name, runs)}<p>{_badge(result.status)} {said}</p><p>{then}</p>")
    every = "".join(
        f"<dt>{_badge(status)}</dt><dd>{escape(status.message)} {escape(MEANINGS[status])}</dd>"
        for status in Status
        if status is not Status.RUNNING
    )
    return _section(
        "What the status means",
        f"{''.join(blocks)}<details><summary>All statuses</summary><dl>{every}</dl></details>",
    )


def render_settings(runs: Mapping[str, Result]) -> str:
    """Return the problem, the seed and the options of every run."""
    settings = [result.settings for result in runs.values()]
    rows = [
        ("problem", [_text(problem_facts(result).problem, 0) for result in runs.values()]),
        ("seed", [_text(result.seed, 0) for result in runs.values()]),
    ]
    rows += [(key, [_text(each.get(key), 6) for each in settings]) for key in _keys(settings) if key != "seed"]
    return _section("Problem and settings", _table(runs, rows))


def render_versions(runs: Mapping[str, Result]) -> str:
    """Return the versions that wrote the results; nothing for results that were never saved."""
    versions = [result.versions for result in runs.values()]
    if not any(versions):
        return ""
    rows = [(key, [_text(each.get(key), 0) for each in versions]) for key in _keys(versions)]
    rows.append(("saved (UTC)", [_text(result.saved, 0) for result in runs.values()]))
    return _section("Versions", _table(runs, rows))


def _section(title: str, content: str) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{content}</section>'


def _table(runs: Mapping[str, Result], rows: Iterable[tuple[str, list[str]]]) -> str:
    """Return a table with a column per run, with a head if there are several."""
    head = "".join(f'<th scope="col">{_swatch(place)}{escape(name)}</th>' for place, name in enumerate(runs))
    body = "".join(
        f'<tr><th scope="row">{escape(words)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for words, cells in rows
        if any(cells)
    )
    above = f"<thead><tr><td></td>{head}</tr></thead>" if len(runs) > 1 else ""
    return f'<div class="wide"><table>{above}<tbody>{body}</tbody></table></div>'


def _heading(name: str, runs: Mapping[str, Result]) -> str:
    return f"<h3>{_swatch(list(runs).index(name))}{escape(name)}</h3>" if len(runs) > 1 else ""


def _swatch(place: int) -> str:
    return f'<i class="swatch run{place % 7}" aria-hidden="true"></i>'


def _badge(status: Status) -> str:
    kind = "good" if status.success else "bad" if status in (Status.INFEASIBLE, Status.UNBOUNDED) else "fair"
    return f'<span class="badge {kind}">{escape(status.value.replace("_", " "))}</span>'


def _keys(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(key) for mapping in mappings for key in mapping))


def _figure(figures: Mapping[str, Any], key: str, digits: int) -> str:
    value = figures.get(key)
    return escape(size_text(value)) if key == "peak_memory_bytes" and value is not None else _text(value, digits)


def _text(value: Any, digits: int) -> str:
    """Return a value as escaped text of bounded length; empty for None."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        value = f"{value + 0.0:.{digits or 6}g}" if not math.isnan(value) else "unknown"
    if isinstance(value, (list, tuple)) and all(isinstance(part, float) for part in value):
        value = ", ".join(f"{part + 0.0:.3g}" for part in value)
    text = str(value)
    return escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...")


POLL_MILLISECONDS = 1000
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="unipd {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p id="live" role="status" class="faint">{live}</p></header>
<main>
<div id="before">{before}</div>
<section aria-labelledby="curves">
<h2 id="curves">Curves</h2>
<noscript><p>The curves need JavaScript; everything else on this page works without it.</p></noscript>
<div class="controls">
<label>Horizontal axis <select id="axis"></select></label>
<label><input type="checkbox" id="logx"> logarithmic</label>
<label><input type="checkbox" id="logy"> vertically logarithmic</label>
<label><input type="checkbox" id="theorem"> theorem's bound (dashed, an estimate)</label>
<button type="button" id="reset">Reset zoom</button>
</div>
<div id="legend" role="group" aria-label="Runs: press to hide or show"></div>
<p class="faint help">Drag to zoom, double-click to reset; with the keyboard + and \N{MINUS SIGN}, arrows, 0.
Press a run's name to hide it. The dotted line is the requested accuracy.</p>
<p id="curves-none" hidden>The run has no history to draw.</p>
<div id="panels"></div>
</section>
<div id="after">{after}</div>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def write_report(
    results: Mapping[str, Result] | Result, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write a self-contained HTML page about one or several results: summary, certificate, zoomable curves.

    Parameters
    ----------
    results
        A result, or several by the names that the legend shows.
    path
        The file, ending in .html; written atomically.
    title
        Heading of the page.

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
    """Return the page; with ``live`` its script polls that address, the only one it may reach."""
    style, script = asset("report.css"), asset("report.js")
    data = page_data(runs)
    if live is not None:
        data["live"] = {"url": live, "milliseconds": POLL_MILLISECONDS}
    heading = title or "Report: " + ", ".join(list(runs)[:4]) + (" and others" if len(runs) > 4 else "")
    return _PAGE.format(
        policy=content_policy(style, script, live=live is not None),
        version=escape(__version__),
        title=escape(heading),
        style=style,
        live="" if live is None else "Still running; this page follows the run.",
        **render_sections(runs),
        data=embed_json(data),
        script=script,
    )


def content_policy(style: str, script: str, *, live: bool) -> str:
    """Return the content security policy: the page's own style and script by their hashes, nothing else.

    >>> content_policy("", "", live=False).split(";")[0]
    "default-src 'none'"
    """
    connect = "connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; {connect}"
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """Return the text of a file of the package's ``assets``."""
    return (resources.files("unipd.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
