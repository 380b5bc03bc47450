"""What a rank has exchanged so far: ranks that have come apart find it out instead of waiting for each other.

When ranks take different decisions they soon stand in different exchanges, which MPI need not notice: it may wait for
ever. So every rank keeps a running mark of its exchanges, which costs nothing to speak of, and ranks that have waited
for long tell each other the marks.
"""

from __future__ import annotations

import time
import zlib
from functools import cache
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.cluster.world import mpi
from unipd.errors import UnipdError

KEPT = 64
"""Marks that are remembered."""
TAG = 30_011
"""Tag of the messages."""
NAP = 1e-3
"""Seconds between two looks at the messages while a rank waits for the others' end."""
ADVICE = "have all ranks the same data, options and callbacks, and are the machines alike?"


class Disagreement(UnipdError, RuntimeError):
    """Ranks that must agree do not."""


class Journal:
    """The exchanges of a rank on one communicator, in their order.

    Parameters
    ----------
    comm
        The communicator; messages between waiting ranks are sent on it.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._count = 0
        self._marks = {0: 0}
        self._heard: dict[int, tuple[int, int]] = {}
        self._told = 0
        self._requests: list[Any] = []

    @property
    def mark(self) -> int:
        """A number that tells the exchanges so far, in their order, from others."""
        return self._marks[self._count]

    def note(self, kind: str, size: int) -> None:
        """Write down an exchange that is beginning."""
        mark = zlib.crc32(f"{kind}{size}".encode(), self.mark)
        self._count += 1
        self._marks[self._count] = mark
        self._marks.pop(self._count - KEPT, None)

    def compare(self) -> None:
        """Tell the other ranks where this one waits, hear where they do, and raise if they are not on the same way."""
        self._requests = [request for request in self._requests if not request.Test()]
        if self._told != self._count:
            self._told = self._count
            self._send(np.array([self._count, self.mark], np.int64))
        self._receive()
        self._refuse([rank for rank, (count, mark) in self._heard.items() if self._marks.get(count, mark) != mark])

    def end(self) -> None:
        """Wait until all ranks are here, by messages alone: a collective of MPI might end with another one's answer."""
        self.note("end", 0)
        others = self._comm.Get_size() - 1
        while True:
            self.compare()
            if sum(count >= self._count for count, _ in self._heard.values()) == others:
                return
            time.sleep(NAP)

    def check(self, marks: IntArray) -> None:
        """Raise unless all ranks have sent the mark of this one with an exchange."""
        self._refuse(np.flatnonzero(marks != self.mark).tolist())

    def _refuse(self, strays: list[int]) -> None:
        if strays:
            who = ", ".join(str(rank) for rank in sorted(strays))
            raise Disagreement(f"the ranks have come apart: rank {who} is in another exchange than this rank; {ADVICE}")

    def _send(self, place: Array) -> None:
        others = set(range(self._comm.Get_size())) - {self._comm.Get_rank()}
        self._requests += [self._comm.Isend(place, other, TAG) for other in sorted(others)]

    def _receive(self) -> None:
        status, place = mpi().Status(), np.empty(2, np.int64)
        while self._comm.Iprobe(mpi().ANY_SOURCE, TAG, status):
            self._comm.Recv(place, status.Get_source(), TAG)
            self._heard[status.Get_source()] = int(place[0]), int(place[1])


def journal_of(comm: Any) -> Journal:
    """Return the journal of a communicator: one, however many objects exchange on it."""
    found = comm.Get_attr(_key())
    if found is None:
        found = Journal(comm)
        comm.Set_attr(_key(), found)
    return found


@cache
def _key() -> int:
    return mpi().Comm.Create_keyval()
