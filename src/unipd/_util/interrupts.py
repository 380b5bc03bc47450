"""Interrupts that callbacks and destructors lose, sent again; imported before NumPy is."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Generator
from typing import Any

RETRY = 0.05
"""Seconds after which a signal that came at a bad moment is handled again."""


@contextlib.contextmanager
def resend_lost_interrupts(handler: Any = signal.default_int_handler) -> Generator[None]:
    """Raise ``KeyboardInterrupt`` again, by this handler, where Python would print it and forget it.

    That happens in callbacks from C, in destructors, and at the end of every import, whose lock is a weak reference.
    """
    hook = sys.unraisablehook

    def notice(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.signal(signal.SIGINT, handler)
            threading.Timer(RETRY, _thread.interrupt_main).start()
        else:
            hook(lost)

    sys.unraisablehook = notice
    try:
        yield
    finally:
        sys.unraisablehook = hook
