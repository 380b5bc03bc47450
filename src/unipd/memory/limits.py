"""The memory that a run may take: what the machine has, or a limit of the caller's."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

from unipd import validate
from unipd.memory.system import container_memory, machine_memory, resident_memory

_limits: list[int] = []
_LITTLE = 1 << 20
"""Bytes that are there without a look: the machine's files about its memory take longer to read."""


@contextlib.contextmanager
def limited_memory(limit: int | None) -> Generator[None]:
    """Let forecasts count on no more than ``limit`` bytes for the whole process.

    >>> with limited_memory(1):
    ...     available_memory()
    0
    """
    if limit is None:
        yield
        return
    _limits.append(validate.integer("limit", limit, minimum=1))
    try:
        yield
    finally:
        _limits.pop()


def memory_limit() -> int | None:
    """Return the least limit that is set, None without one."""
    return min(_limits) if _limits else None


def over_limit() -> bool:
    """Whether a memory limit is set and the process holds more than that."""
    return bool(_limits) and resident_memory() > min(_limits)


def _left_of_limit() -> int:
    return max(0, min(_limits) - resident_memory()) if _limits else sys.maxsize


def room_for(needed: int) -> int:
    """Return :func:`available_memory`, or ``needed`` itself where that is too little to ask the machine about."""
    return needed if needed <= _LITTLE and not _limits else available_memory()


def available_memory() -> int:
    """Return the bytes that a new allocation can count on: the machine's, the container's or the limit's, if less."""
    return min(machine_memory(), container_memory(), _left_of_limit())
