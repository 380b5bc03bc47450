"""Report figures to the benchmark runner.

A script prints whatever tables it likes and calls ``note(name, value, unit, goal)`` for each figure worth collecting.
``runner.py`` sets ``UNIPD_BENCH_FIGURES`` to a file and reads one JSON object per line from it; without the variable,
``note`` does nothing.
"""

from __future__ import annotations

import json
import math
import os

VARIABLE = "UNIPD_BENCH_FIGURES"


def note(name: str, value: float, unit: str = "s", goal: float | None = None, *, at_least: bool = False) -> None:
    """Report a figure; its goal is an upper limit, with ``at_least`` a lower one.

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
