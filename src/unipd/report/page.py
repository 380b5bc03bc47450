"""The report: one page that needs nothing else, neither network nor other files."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from unipd._version import __version__
from unipd.errors import InvalidInput
from unipd.replacing import write_text
from unipd.report.page_data import embedded, page_data
from unipd.report.sections import written

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
<noscript><p>The curves need JavaScript; everything else on this page does without.</p></noscript>
<div class="controls">
<label>Horizontal axis <select id="axis"></select></label>
<label><input type="checkbox" id="logx"> logarithmic</label>
<label><input type="checkbox" id="logy"> vertically logarithmic</label>
<label><input type="checkbox" id="theorem"> theorem's bound (dashed, an estimate)</label>
<button type="button" id="reset">Reset zoom</button>
</div>
<div id="legend" role="group" aria-label="Runs: press to hide or show"></div>
<p class="faint help">Drag to zoom, double-click to reset; with the keyboard + and \N{MINUS SIGN}, arrows, 0.
Press a run's name to hide it. The dotted line is the accuracy asked for.</p>
<p id="curves-none" hidden>The run left no history to draw.</p>
<div id="panels"></div>
</section>
<div id="after">{after}</div>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def write_report(results: Mapping[str, Any] | Any, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write a page about one or several results, with curves to zoom into and the certificate in words.

    Parameters
    ----------
    results
        A result or a saved result, or several by the names that the legend shows.
    path
        The file, ending in .html; written whole or not at all.
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
    named: Mapping[str, Any] = results if isinstance(results, Mapping) else {"run": results}
    if not named:
        raise InvalidInput("results", "at least one result", "none")
    write_text(target, render_page(named, title=title))
    return target


def render_page(runs: Mapping[str, Any], *, title: str | None = None, live: str | None = None) -> str:
    """Return the page; with ``live`` its script asks that address for news, and the address is all it may reach."""
    style, script = asset("report.css"), asset("report.js")
    data = page_data({**runs})
    if live is not None:
        data["live"] = {"url": live, "milliseconds": POLL_MILLISECONDS}
    heading = title or "Report: " + ", ".join(list(runs)[:4]) + (" and others" if len(runs) > 4 else "")
    return _PAGE.format(
        policy=content_policy(style, script, live=live is not None),
        version=escape(__version__),
        title=escape(heading),
        style=style,
        live="" if live is None else "The run goes on; this page follows it.",
        **written(runs),
        data=embedded(data),
        script=script,
    )


def content_policy(style: str, script: str, *, live: bool) -> str:
    """Return the policy of the page: its own style and script by their hashes, and nothing else.

    >>> content_policy("", "", live=False).split(";")[0]
    "default-src 'none'"
    """
    reach = "connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; {reach}"
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """Return the text of a file of the package's ``assets``."""
    return (resources.files("unipd.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
