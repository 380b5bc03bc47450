"""The written parts of the page, as HTML in which every text is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from unipd.memory import size_text
from unipd.report.words import MEANINGS, certificate_in_words, status_of
from unipd.status import Status

FIGURES: Sequence[tuple[str, str, int]] = (
    ("objective", "objective", 10),
    ("dual_bound", "bound of the optimal value", 10),
    ("bound_kind", "kind of bound", 0),
    ("gap", "gap (relative)", 3),
    ("infeasibility", "infeasibility (relative)", 3),
    ("method", "method", 0),
    ("iterations", "iterations", 0),
    ("oracle_calls", "sharp-oracle calls", 0),
    ("line_search_trials", "line-search trials", 0),
    ("matvecs", "matrix-vector products", 0),
    ("seconds", "seconds", 4),
    ("peak_memory_bytes", "peak memory", 0),
)
"""Rows of the summary: key of the result's figures, words, digits."""
_OTHERWISE = ("status", "message")
_LONGEST = 400
RUNNING = "The run goes on; the figures are those of its last whole iteration."


def written(runs: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands before and after the curves of a page about these results."""
    after = (statuses(runs), settings(runs), versions(runs))
    return {"before": summary(runs) + certificates(runs), "after": "".join(after)}


def summary(runs: Mapping[str, Any]) -> str:
    """Return the table of the headline figures, one column a run."""
    known = {key for key, _, _ in FIGURES} | set(_OTHERWISE)
    rows = [("status", _cells(runs, _status_cell))]
    rows += [(words, [_figure(result, key, digits) for result in runs.values()]) for key, words, digits in FIGURES]
    rows.insert(5, ("accuracy asked for", _cells(runs, lambda result: _text(getattr(result, "accuracy", None), 3))))
    more = _keys(result.summary() for result in runs.values())
    rows += [(key.replace("_", " "), _column(runs, "figures", key)) for key in more if key not in known]
    return _section("Summary", _table(runs, rows))


def certificates(runs: Mapping[str, Any]) -> str:
    """Return, run by run, what is proven."""
    blocks = [
        _heading(name, runs) + "".join(f"<p>{escape(sentence)}</p>" for sentence in certificate_in_words(result))
        for name, result in runs.items()
    ]
    return _section("What is proven", "".join(blocks))


def statuses(runs: Mapping[str, Any]) -> str:
    """Return what the status of each run means, and the other statuses to unfold."""
    blocks: list[str] = []
    for name, result in runs.items():
        status = status_of(result)
        said = RUNNING if status is None else str(result.summary().get("message") or status.message)
        then = "" if status is None else f"<p>{escape(MEANINGS[status])}</p>"
        blocks.append(f"{_heading(name, runs)}<p>{_badge(status)} {escape(said)}</p>{then}")
    every = "".join(
        f"<dt>{_badge(status)}</dt><dd>{escape(status.message)} {escape(MEANINGS[status])}</dd>" for status in Status
    )
    return _section(
        "What the status means",
        f"{''.join(blocks)}<details><summary>All statuses</summary><dl>{every}</dl></details>",
    )


def settings(runs: Mapping[str, Any]) -> str:
    """Return the problem, the seed and the options of every run."""
    rows: list[tuple[str, list[str]]] = [("problem", _cells(runs, _problem))]
    rows.append(("seed", _cells(runs, lambda result: _text(getattr(result, "seed", None), 0))))
    known = _keys(getattr(result, "settings", {}) or {} for result in runs.values())
    rows += [(key, _column(runs, "settings", key)) for key in known if key != "seed"]
    return _section("Problem and settings", _table(runs, rows))


def versions(runs: Mapping[str, Any]) -> str:
    """Return the versions that made the results; nothing for results that were never saved."""
    keys = _keys(getattr(result, "versions", {}) or {} for result in runs.values())
    if not keys:
        return ""
    rows = [(key, _column(runs, "versions", key)) for key in keys]
    rows.append(("saved (UTC)", _cells(runs, lambda result: _text(getattr(result, "saved", None), 0))))
    return _section("Versions", _table(runs, rows))


def _section(title: str, content: str) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{content}</section>'


def _table(runs: Mapping[str, Any], rows: Iterable[tuple[str, list[str]]]) -> str:
    """Return a table with a column for every run; its head only when there are several."""
    head = "".join(f'<th scope="col">{_swatch(place)}{escape(name)}</th>' for place, name in enumerate(runs))
    body = "".join(
        f'<tr><th scope="row">{escape(words)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for words, cells in rows
        if any(cells)
    )
    above = f"<thead><tr><td></td>{head}</tr></thead>" if len(runs) > 1 else ""
    return f'<div class="wide"><table>{above}<tbody>{body}</tbody></table></div>'


def _heading(name: str, runs: Mapping[str, Any]) -> str:
    return f"<h3>{_swatch(list(runs).index(name))}{escape(name)}</h3>" if len(runs) > 1 else ""


def _swatch(place: int) -> str:
    return f'<i class="swatch run{place % 7}" aria-hidden="true"></i>'


def _badge(status: Status | None) -> str:
    if status is None:
        return '<span class="badge fair">running</span>'
    kind = "good" if status.success else "bad" if status is Status.INFEASIBLE else "fair"
    return f'<span class="badge {kind}">{escape(status.value.replace("_", " "))}</span>'


def _status_cell(result: Any) -> str:
    return _badge(status_of(result))


def _cells(runs: Mapping[str, Any], cell: Callable[[Any], str]) -> list[str]:
    return [cell(result) for result in runs.values()]


def _keys(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(key) for mapping in mappings for key in mapping))


def _figure(result: Any, key: str, digits: int) -> str:
    value = result.summary().get(key)
    if key == "peak_memory_bytes" and value is not None:
        return escape(size_text(value))
    return _text(value, digits)


def _problem(result: Any) -> str:
    from unipd.io.results import facts

    return _text(facts(result).get("problem"), 0)


def _column(runs: Mapping[str, Any], attribute: str, key: str) -> list[str]:
    """Return the entry of one of the results' mappings, run by run."""
    if attribute == "figures":
        return [_figure(result, key, 6) for result in runs.values()]
    return [_text((getattr(result, attribute, None) or {}).get(key), 6) for result in runs.values()]


def _text(value: Any, digits: int) -> str:
    """Return a value as escaped text of bounded length; nothing for None."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        value = f"{value + 0.0:.{digits or 6}g}" if not math.isnan(value) else "unknown"
    if isinstance(value, (list, tuple)) and all(isinstance(part, float) for part in value):
        value = ", ".join(f"{part + 0.0:.3g}" for part in value)
    text = str(value)
    return escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...")
