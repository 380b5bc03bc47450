"""Numba's compiler, imported with the first kernel; the first compilation of a process is logged when it begins."""

from __future__ import annotations

import logging
from typing import Any

from numba import njit
from numba.core import event

MESSAGE = "compiling kernels, once on this machine (unipd doctor --compile compiles all of them ahead)"


class _Announcement(event.Listener):
    """Logs the first compilation."""

    is_made = False

    def on_start(self, event: Any) -> None:
        """Log once."""
        if not self.is_made:
            self.is_made = True
            logging.getLogger(__name__).info(MESSAGE)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Announcement())

__all__ = ["njit"]
