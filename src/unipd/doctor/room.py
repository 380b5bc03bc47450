"""The memory that a run will take, for each way to keep x."""

from __future__ import annotations

from unipd.doctor.report import NOTE, PASS, Check
from unipd.memory import available_memory, forecast, size_text
from unipd.problem import Problem

TRACKERS = ("image", "atoms", "dense")
_TIGHT = 0.5


def check_memory(problem: Problem, available: int | None = None) -> tuple[Check, ...]:
    """Compare the forecast for each tracker with the memory that is left.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> [check.outcome for check in check_memory(problem)]
    ['pass', 'pass', 'pass']
    """
    room = available_memory() if available is None else available
    checks: list[Check] = []
    for tracker in TRACKERS:
        needed = forecast(problem, tracker).total
        text = f"{size_text(needed)} of {size_text(room)}"
        outcome = PASS if needed <= _TIGHT * room else NOTE
        if needed > room:
            text += f': does not fit, so do not use tracker="{tracker}"'
        elif outcome == NOTE:
            text += ": tight"
        checks.append(Check(f"memory, {tracker}", outcome, text))
    return tuple(checks)
