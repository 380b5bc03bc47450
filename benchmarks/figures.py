"""Report figures to the benchmark runner, and keep those of long tables from run to run.

A script prints whatever tables it likes and calls ``note(name, value, unit, goal)`` for each figure worth collecting.
``runner.py`` sets ``UNIPD_BENCH_FIGURES`` to a file and reads one JSON object per line from it; without the variable,
``note`` does nothing.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


class Archive:
    """Rows of JSON in a file, kept from run to run: an interrupted table goes on where it stopped.

    Without a file the rows are kept in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.rows: dict[str, Any] = {row["key"]: row["values"] for row in map(json.loads, lines)}

    def compute(self, key: str, call: Callable[[], Any]) -> Any:
        """Return the values of a key, from the file if it has them."""
        if key not in self.rows:
            self.rows[key] = call()
            if self.path is not None:
                with self.path.open("a") as stream:
                    stream.write(json.dumps({"key": key, "values": self.rows[key]}) + "\n")
        return self.rows[key]
