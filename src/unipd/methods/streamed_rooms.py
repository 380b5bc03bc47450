"""Memory of long vectors that is used again while a run goes on.

The C library hands the memory of a long vector back to the system as soon as it is freed, and every page of the next
one is new: that takes longer than a pass over the vector (on a virtual machine, which gives its own free memory back as
well, several times as long). An iteration lets go of as many vectors as the next one makes, so in a run the memory of
those that nobody refers to is handed on: no more than was in use at once, and none after the run.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from unipd._typing import Array


class Rooms:
    """Vectors whose memory is used again once nobody refers to them.

    NumPy's views refer to the array that owns their memory, whatever they are views of. So the references to that array
    tell whether any vector in it is left, and iterates may be kept by whoever wants to.

    >>> rooms = Rooms()
    >>> first, second = rooms.like(np.ones(3)), rooms.like(np.ones(3))
    >>> part, place = first[:1], first.ctypes.data
    >>> del first
    >>> rooms.like(np.ones(3)).ctypes.data == place, len(rooms)
    (False, 3)
    >>> del part
    >>> rooms.like(np.ones(3)).ctypes.data == place, len(rooms)
    (True, 3)
    """

    def __init__(self) -> None:
        self._owners: list[Array] = []
        self._unused = [np.empty(0)]
        """An array that nothing else refers to: how many references that makes is the interpreter's affair."""

    def __len__(self) -> int:
        return len(self._owners)

    def like(self, vector: Array) -> Array:
        """Return a vector of the same size and dtype, its entries yet to be written."""
        for number in range(len(self._owners)):
            if self._is_free(number) and _is_alike(self._owners[number], vector):
                return self._owners[number][:]
        self._owners.append(np.empty(vector.shape, vector.dtype))
        return self._owners[-1][:]

    def empty(self) -> None:
        """Let go of the memory that is not in use."""
        for number in reversed(range(len(self._owners))):
            if self._is_free(number):
                del self._owners[number]

    def _is_free(self, number: int) -> bool:
        return _references(self._owners, number) == _references(self._unused, 0)


def _is_alike(owner: Array, vector: Array) -> bool:
    return owner.shape == vector.shape and owner.dtype == vector.dtype


def _references(owners: list[Array], number: int) -> int:
    return sys.getrefcount(owners[number])


_current: ContextVar[Rooms | None] = ContextVar("rooms", default=None)


@contextmanager
def rooms_kept() -> Generator[None]:
    """Use the memory of long vectors again until the end of this context.

    >>> with rooms_kept():
    ...     places = {room_like(np.ones(9)).ctypes.data for _ in range(3)}
    >>> len(places)
    1
    """
    rooms = Rooms()
    token = _current.set(rooms)
    try:
        yield
    finally:
        _current.reset(token)


def room_like(vector: Array) -> Array:
    """Return a vector of the same size and dtype, its entries yet to be written, in used memory where there is some."""
    rooms = _current.get()
    return np.empty_like(vector) if rooms is None else rooms.like(vector)


def empty_rooms() -> None:
    """Let go of the memory that is not in use, before work that needs its own."""
    rooms = _current.get()
    if rooms is not None:
        rooms.empty()
