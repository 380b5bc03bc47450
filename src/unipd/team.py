"""Processes that solve one problem together: alone by default.

Every member of a team runs the same program and takes the same decisions; only products are divided. The library asks
the team at a few places (where a map is made, where the clock is read, where an error ends a command) and knows nothing
of how members talk to each other. :mod:`unipd.cluster` has the team that talks by MPI.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Any


class Team:
    """One member's view of the team; this class is the team of one.

    >>> Alone = Team()
    >>> Alone.size, Alone.leads, Alone.distribute("any map")
    (1, True, 'any map')
    """

    rank: int = 0
    """Number of this member."""
    size: int = 1
    """Number of members."""

    @property
    def leads(self) -> bool:
        """Whether this member prints and writes files."""
        return self.rank == 0

    def distribute(self, map: Any) -> Any:
        """Return a map whose products are divided among the members."""
        return map

    def stacked(self, kind: Callable[..., Any], *arguments: Any) -> Any:
        """Return the map of all members' measurements, in the members' order; ``kind(*arguments)`` has this member's.

        The first argument has an entry for each of them; a member may have none.
        """
        return kind(*arguments)

    def total(self, array: Any) -> Any:
        """Return the sum of the members' arrays."""
        return array

    def joined(self, array: Any) -> Any:
        """Return the members' arrays one after the other."""
        return array

    def own(self, array: Any, count: int) -> Any:
        """Return this member's part, ``count`` entries, of an array that all members have."""
        return array

    def divided(self, problem: Any) -> Any:
        """Return a problem whose map, and oracles of separable problems, are divided among the members."""
        return problem

    def read(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return what ``reader`` makes of a file, which must be the same for all members."""
        return reader(path)

    def shard(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return this member's part of what ``reader`` makes of a file of ratings."""
        return self.read(reader, path)

    def first(self, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returns (or raises) on the first member; others need not see the same files."""
        return make()

    now: Callable[[], float] = staticmethod(time.perf_counter)
    """Return seconds from some moment on, the same number on every member."""

    def fail(self, line: str, code: int) -> None:
        """End every member when this one has failed alone; return when all have failed alike."""


_members: list[Team] = [Team()]


def team() -> Team:
    """Return the team that this process works in."""
    return _members[-1]


@contextlib.contextmanager
def working_in(other: Team) -> Generator[Team]:
    """Work in another team for a while.

    >>> with working_in(Team()) as mine:
    ...     team() is mine
    True
    """
    _members.append(other)
    try:
        yield other
    finally:
        _members.pop()
