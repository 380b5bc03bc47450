"""How a benchmark hands its figures to ``unipd bench``.

A script prints tables for people as it likes, and beside them says ``note(name, value, unit, goal)`` for each figure
worth keeping. Run by hand this does nothing; ``unipd bench`` sets the variable ``UNIPD_BENCH_FIGURES`` to a file and
reads one JSON object a line from it: {name, value, unit, goal, met}.
"""

from __future__ import annotations

import json
import math
import os

VARIABLE = "UNIPD_BENCH_FIGURES"


def note(name: str, value: float, unit: str = "s", goal: float | None = None, *, at_least: bool = False) -> None:
    """Hand on a figure; it meets its goal when it is at most (with ``at_least``: at least) as large.

    Units: "s", "CPU s", "MB", "calls", "share", and "x" for a ratio to a peer on the same instance in the same run.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    number = float(value)
    met = None if goal is None else (number >= goal if at_least else number <= goal)
    entry = {"name": name, "value": number if math.isfinite(number) else None, "unit": unit, "goal": goal, "met": met}
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps({**entry, "at_least": at_least}, allow_nan=False) + "\n")
