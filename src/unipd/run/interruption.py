"""Ending a run from outside: a request that every run looks at after each iteration."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator
from typing import Any

import numpy as np

from unipd.team import Team, team


class Request:
    """Whether the end is asked for; one attribute, so that a signal's handler can set it at any time."""

    pending = False

    def set(self) -> None:
        """Ask for the end."""
        self.pending = True

    def clear(self) -> None:
        """Take the request back."""
        self.pending = False


request = Request()
"""The request that runs of this process look at."""


def requested(crew: Team | None = None) -> bool:
    """Whether somebody has asked the runs of this process, or of a member of its team, to end."""
    mine, crew = request.pending, crew or team()
    return mine if crew.size == 1 else bool(crew.total(np.array([float(mine)]))[0])


@contextlib.contextmanager
def signals_end_runs() -> Generator[None]:
    """Let SIGINT and SIGTERM end runs at their next iteration, with what they have reached; a second one at once.

    After the first signal the system's own handling is back, so that the second ends the process wherever it is.
    Outside the main thread, where signals cannot be handled, this does nothing. For programs: the library itself
    leaves signals alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watched = (signal.SIGINT, signal.SIGTERM)

    def handle(number: int, frame: Any) -> None:
        request.set()
        for each in watched:
            signal.signal(each, signal.SIG_DFL)

    request.clear()
    before = {each: signal.signal(each, handle) for each in watched}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        request.clear()
