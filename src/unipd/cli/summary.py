"""The rows that the table of every result begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unipd.cli import tables
from unipd.cli.option_values import Options
from unipd.memory import size_text
from unipd.status import Status

SHOWN = (
    "status",
    "message",
    "objective",
    "dual_bound",
    "bound_kind",
    "gap",
    "infeasibility",
    "tracker_error",
    "method",
    "iterations",
    "oracle_calls",
    "line_search_trials",
    "matvecs",
    "seconds",
    "peak_memory_bytes",
)
"""Figures that :func:`headline` takes care of."""


def headline(figures: Mapping[str, Any], accuracy: float | None = None) -> list[tuple[str, ...]]:
    """Return the rows of the table that every result has.

    >>> headline({"status": "solved", "objective": 1.5})[0][1][:17]
    'solved: The asked'
    """
    known = {**dict.fromkeys(SHOWN), **figures}
    status = Status(known["status"])
    kind = f" ({known['bound_kind']})" if known["bound_kind"] else ""
    asked = "" if accuracy is None else f", asked {accuracy:g}"
    rows = [
        ("status", f"{status.value}: {known['message'] or status.message}", True),
        ("objective", tables.number(known["objective"], 10), known["objective"] is not None),
        ("dual bound", tables.number(known["dual_bound"], 10) + kind, known["dual_bound"] is not None),
        ("gap (relative)", tables.number(known["gap"], 3) + asked, known["gap"] is not None),
        ("infeasibility", f"{tables.number(known['infeasibility'], 3)} (relative)", known["infeasibility"] is not None),
        ("error of the tracker", tables.number(known["tracker_error"], 3), known["tracker_error"] is not None),
        ("method", f"{known['method']}, {_counted(known['iterations'])}", known["method"] is not None),
        ("oracle calls", f"{known['oracle_calls']} ({known['matvecs']} products)", known["oracle_calls"] is not None),
        ("seconds", tables.number(known["seconds"], 3), known["seconds"] is not None),
        ("peak memory", size_text(known["peak_memory_bytes"] or 0), known["peak_memory_bytes"] is not None),
    ]
    return [(name, text) for name, text, present in rows if present]


def _counted(iterations: Any) -> str:
    return f"{iterations} iteration" + ("" if iterations == 1 else "s")


def with_limit(figures: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """Return the figures with the numbers of the limit that ended the run in their message.

    >>> figures = {"status": "oracle_limit", "oracle_calls": 9, "iterations": 1}
    >>> with_limit(figures, Options(max_oracle_calls=2))["message"]
    'The limit on oracle calls was reached before the asked accuracy was certified. The limit was 2, the first iteration
    alone took 9.'
    """
    status = Status(figures["status"])
    said = ""
    if status is Status.ORACLE_LIMIT and options.max_oracle_calls is not None:
        said = f"The limit was {options.max_oracle_calls}, {_calls(figures, options.max_oracle_calls)}."
    elif status is Status.MEMORY_LIMIT and options.memory_limit is not None:
        peak = figures.get("peak_memory_bytes")
        used = "" if peak is None else f", the process took {size_text(peak)}"
        said = f"The limit was {options.memory_limit}{used}."
    return {**figures, "message": f"{figures.get('message') or status.message} {said}".rstrip()}


def _calls(figures: Mapping[str, Any], limit: int) -> str:
    calls = figures["oracle_calls"]
    if figures["iterations"] == 1 and calls > limit:
        return f"the first iteration alone took {calls}"
    return f"the run took {calls}" + (" (iterations are not cut short)" if calls > limit else "")
