"""The ranks of an MPI communicator and the few exchanges that are needed, on buffers.

Sums are deterministic by construction, whatever algorithm MPI would choose: a rank adds its share of the entries
in the order of the ranks, and the shares are handed round. So all ranks have the same bits, and a run with the same
number of ranks has them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.cluster.balance import shares
from unipd.cluster.environment import available_cores
from unipd.cluster.journal import Journal, journal_of
from unipd.cluster.packing import packed, unpacked
from unipd.cluster.world import everybody, mpi, neighbours

SMALL = 1 << 13
"""Bytes up to which every rank gets all parts and adds them itself."""
NAP = 5e-5
"""Seconds between two looks at an exchange that does not come."""
EAGER, SLOW = 1e-2, 1e-8
"""Seconds of waiting, and more for every byte sent, without a nap (which would hold up long messages, that go in
pieces), where every rank has a core of its own."""
STALLED, LOOK = 2.0, 0.1
"""Seconds of waiting after which ranks ask each other whether they wait for the same exchange, and between answers."""


class Ranks:
    """Exchanges between the processes of a communicator.

    Parameters
    ----------
    comm
        An mpi4py communicator; default: all processes.

    Examples
    --------
    >>> from unipd.cluster.world import Single
    >>> ranks = Ranks(Single())
    >>> ranks.size, ranks.summed(np.array([1.0, 2.0]))
    (1, array([1., 2.]))
    """

    stands_for = "ranks"
    """What a checkpoint takes this for: any number of ranks, whatever they have sent."""

    def __init__(self, comm: Any = None) -> None:
        self.comm: Any = everybody() if comm is None else comm
        self.rank = int(self.comm.Get_rank())
        self.size = int(self.comm.Get_size())
        self.seconds = 0.0
        """Time spent in exchanges, waiting for other ranks included."""
        self.bytes = 0
        """Bytes that this rank has sent."""
        self._crowded = self.size > 1 and neighbours(self.comm) > available_cores()

    def __repr__(self) -> str:
        return f"Ranks(rank={self.rank}, size={self.size})"

    def summed(self, array: Array) -> Array:
        """Return the sum of the ranks' arrays, the same bits on every rank."""
        if self.size == 1:
            return array
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.nbytes <= SMALL:
            return _in_order(self._gathered(flat)).reshape(array.shape)
        counts = shares(flat.size, self.size)
        starts = np.cumsum(counts) - counts
        mine = int(counts[self.rank])
        parts = np.empty((self.size, mine), flat.dtype)
        held = np.full(self.size, mine), mine * np.arange(self.size)
        self._note("sum", flat.nbytes)
        self._done(self.comm.Ialltoallv([flat, (counts, starts)], [parts, held]), flat.nbytes)
        return self._spread(_in_order(parts), counts).reshape(array.shape)

    def joined(self, array: Array, counts: IntArray | None = None) -> Array:
        """Return the ranks' arrays one after the other (along the first axis).

        ``counts``, the lengths of all of them, saves an exchange where they are known.
        """
        if self.size == 1:
            return array
        rest = array.shape[1:]
        if counts is None:
            counts = self._gathered(np.array([array.shape[0]], np.int64))[:, 0]
        width = int(np.prod(rest, dtype=np.int64))
        flat = np.ascontiguousarray(array).reshape(-1)
        return self._spread(flat, counts * width).reshape(-1, *rest)

    def completed(self, array: Array, counts: IntArray) -> Array:
        """Fill in the other ranks' parts of a vector of which this rank has written its own, and return it.

        Pages of the vector that are still untouched then take no memory while the own part is computed.
        """
        if self.size > 1:
            starts = np.cumsum(counts) - counts
            self._note("complete", array.nbytes)
            request = self.comm.Iallgatherv(mpi().IN_PLACE, [array, (counts, starts)])
            self._done(request, int(counts[self.rank]) * array.itemsize)
        return array

    def of_first(self, value: float) -> float:
        """Return the number that rank 0 has."""
        if self.size == 1:
            return value
        number = np.array([value], np.float64)
        self._note("first", number.nbytes)
        self._done(self.comm.Ibcast(number, 0), number.nbytes)
        return float(number[0])

    def objects(self, value: Any) -> list[Any]:
        """Return every rank's value; arrays inside travel as buffers beside the description."""
        if self.size == 1:
            return [value]
        own = packed(value)
        sizes = self._gathered(np.array([own.size], np.int64))[:, 0]
        everything = self._spread(own, sizes)
        ends = np.cumsum(sizes)
        return [unpacked(everything[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    def exchanged(self, parts: list[Array]) -> list[Array]:
        """Give part i to rank i, and return what this rank was given, in the order of the ranks."""
        if self.size == 1:
            return parts
        counts = np.array([part.size for part in parts], np.int64)
        table = self._gathered(counts)
        incoming = table[:, self.rank]
        out = np.empty(int(incoming.sum()), parts[0].dtype)
        sent = np.concatenate(parts)
        self._note("exchange", int(table.sum()))
        request = self.comm.Ialltoallv(
            [sent, (counts, np.cumsum(counts) - counts)], [out, (incoming, np.cumsum(incoming) - incoming)]
        )
        self._done(request, sent.nbytes)
        return np.split(out, np.cumsum(incoming)[:-1])

    def part(self) -> None:
        """Wait until every rank has come to the end: one that is still in an exchange is told that nobody comes."""
        if self.size > 1:
            journal_of(self.comm).end()

    def timed(self, work: Callable[[], Any]) -> tuple[Any, float]:
        """Return what ``work`` returns and the seconds that it spent in exchanges."""
        before = self.seconds
        result = work()
        return result, self.seconds - before

    def _gathered(self, array: Array) -> Array:
        """Return the ranks' short vectors; with them go the marks, so that no other exchange is taken for this one."""
        journal = self._note("gather", array.nbytes)
        own = np.concatenate([np.array([journal.mark], np.int64).view(np.uint8), array.view(np.uint8)])
        parts = np.empty((self.size, own.size), np.uint8)
        self._done(self.comm.Iallgather(own, parts), own.nbytes)
        journal.check(parts[:, :8].copy().view(np.int64)[:, 0])
        return parts[:, 8:].copy().view(array.dtype)

    def _spread(self, share: Array, counts: IntArray) -> Array:
        out = np.empty(int(counts.sum()), share.dtype)
        starts = np.cumsum(counts) - counts
        self._note("spread", out.nbytes)
        self._done(self.comm.Iallgatherv(share, [out, (counts, starts)]), share.nbytes)
        return out

    def _note(self, kind: str, size: int) -> Journal:
        """Write an exchange down: its kind and a size that is the same on every rank."""
        journal = journal_of(self.comm)
        journal.note(kind, size)
        return journal

    def _done(self, request: Any, sent: int) -> None:
        """Wait for an exchange, never inside MPI (signals must be heard); ranks that share a core nap at once."""
        begun = time.perf_counter()
        eager = begun + (0.0 if self._crowded else EAGER + SLOW * sent)
        stalled = begun + STALLED
        while not request.Test():
            now = time.perf_counter()
            if now > eager:
                time.sleep(NAP)
            if now > stalled:
                journal_of(self.comm).compare()
                stalled = now + LOOK
        self.seconds += time.perf_counter() - begun
        self.bytes += sent


def _in_order(parts: Array) -> Array:
    """Return the sum of the rows, first to last."""
    total = parts[0].copy()
    for row in parts[1:]:
        total += row
    return total
