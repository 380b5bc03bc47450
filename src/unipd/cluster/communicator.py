"""The ranks of an MPI communicator: balanced shares of work, deterministic collectives, ranks that must agree.

Sums are deterministic by construction, whatever algorithm MPI would choose: a rank adds its share of the entries in the
order of the ranks, and the shares are gathered. So all ranks have the same bits, and a run with the same number of
ranks reproduces them.

Ranks that take different decisions soon wait in different exchanges, which MPI need not notice: it may wait forever. So
every rank keeps a running digest of its exchanges (:class:`ExchangeLog`), at negligible cost, and ranks that have
waited for long compare their digests. Data, options and dual vectors are compared by hashes, and ranks fail together.
"""

from __future__ import annotations

import heapq
import os
import pickle
import sys
import time
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.lazy import import_extra
from unipd.cluster.environment import available_cores, processes
from unipd.errors import InvalidInput, MissingExtra, UnipdError


def mpi() -> Any:
    """Return mpi4py's MPI module, imported on first use."""
    return import_extra("mpi4py.MPI", "cluster", "running under MPI")


class SingleProcess:
    """The communicator of one process, without MPI.

    See Also
    --------
    Ranks

    Examples
    --------
    >>> SingleProcess().Get_rank(), SingleProcess().Get_size()
    (0, 1)
    """

    def Get_rank(self) -> int:  # noqa: N802  (mpi4py's name)
        """Return 0."""
        return 0

    def Get_size(self) -> int:  # noqa: N802
        """Return 1."""
        return 1


def world_communicator() -> Any:
    """Return the communicator of all processes; a process that no launcher started does not need mpi4py."""
    try:
        return mpi().COMM_WORLD
    except MissingExtra:
        if processes() > 1:
            raise
        return SingleProcess()


def ranks_on_machine(comm: Any) -> int:
    """Return the number of processes of a communicator on this machine, this one included."""
    local = comm.Split_type(mpi().COMM_TYPE_SHARED)
    count = int(local.Get_size())
    local.Free()
    return count


def shares(count: int, parts: int) -> IntArray:
    """Return the sizes of ``parts`` nearly equal parts of ``count`` items.

    >>> shares(7, 3)
    array([3, 2, 2])
    """
    return (count + parts - 1 - np.arange(parts)) // parts


def contiguous_bounds(work: Any, parts: int) -> IntArray:
    """Return the bounds of ``parts`` runs of consecutive items with about equal work; runs may be empty.

    Parameters
    ----------
    work
        Work of each item.
    parts
        Number of runs.

    See Also
    --------
    assign_evenly, partition_strings

    Examples
    --------
    >>> contiguous_bounds([1, 1, 4, 1, 1], 3)
    array([0, 2, 3, 5])
    """
    total = np.concatenate([[0], np.cumsum(np.asarray(work, np.float64))])
    goals = np.linspace(0.0, total[-1], parts + 1)
    bounds = np.minimum(np.searchsorted(total, goals), total.size - 1)
    closer = np.maximum(bounds - 1, 0)
    bounds = np.where(goals - total[closer] < total[bounds] - goals, closer, bounds)
    bounds[0], bounds[-1] = 0, total.size - 1
    return np.maximum.accumulate(bounds)


def assign_evenly(work: Any, parts: int) -> IntArray:
    """Return the part of each item: the largest first, each to the part with the least work so far.

    Parameters
    ----------
    work
        Work of each item.
    parts
        Number of parts.

    See Also
    --------
    contiguous_bounds

    Examples
    --------
    >>> assign_evenly([5.0, 1.0, 1.0, 3.0], 2)
    array([0, 1, 1, 1])
    """
    sizes = np.asarray(work, np.float64)
    if (sizes == sizes[0]).all():
        return np.arange(sizes.size) % parts
    owners = np.zeros(sizes.size, np.int64)
    loads = [(0.0, part) for part in range(parts)]
    for item in np.argsort(-sizes, kind="stable").tolist():
        load, owner = loads[0]
        owners[item] = owner
        heapq.heapreplace(loads, (load + float(sizes[item]), owner))
    return owners


DIGESTS_KEPT = 64
"""Number of digests of past exchanges to keep."""
LOG_TAG = 30_011
"""MPI tag of the log's messages."""
BARRIER_POLL_SECONDS = 1e-3
"""Seconds between two polls while a rank waits at a barrier."""
ADVICE = "do all ranks have the same data, options and callbacks, and are the machines alike?"


class Disagreement(UnipdError, RuntimeError):
    """Ranks have diverged.

    See Also
    --------
    require_same, run

    Examples
    --------
    >>> issubclass(Disagreement, UnipdError)
    True
    """


def raise_for_ranks(ranks: list[int], problem: str = "rank {} is in another exchange than this rank") -> None:
    """Raise if some ranks have diverged; the message names them."""
    if ranks:
        who = ", ".join(map(str, sorted(ranks)))
        raise Disagreement(f"the ranks have diverged: {problem.format(who)}; {ADVICE}")


class ExchangeLog:
    """The exchanges of a rank on one communicator, in order.

    Parameters
    ----------
    comm
        The communicator; messages between waiting ranks are sent on it.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._count = 0
        self._digests = {0: 0}
        self._received: dict[int, tuple[int, int]] = {}
        self._sent = 0
        self._requests: list[Any] = []

    @property
    def digest(self) -> int:
        """A hash of the exchanges so far, in order."""
        return self._digests[self._count]

    def record(self, kind: str, size: int) -> None:
        """Record the start of an exchange."""
        digest = zlib.crc32(f"{kind}{size}".encode(), self.digest)
        self._count += 1
        self._digests[self._count] = digest
        self._digests.pop(self._count - DIGESTS_KEPT, None)

    def compare(self) -> None:
        """Send this rank's position to the others, receive theirs, and raise if they have diverged."""
        self._requests = [request for request in self._requests if not request.Test()]
        if self._sent != self._count:
            self._sent = self._count
            position = np.array([self._count, self.digest], np.int64)
            others = sorted(set(range(self._comm.Get_size())) - {self._comm.Get_rank()})
            self._requests += [self._comm.Isend(position, other, LOG_TAG) for other in others]
        status, position = mpi().Status(), np.empty(2, np.int64)
        while self._comm.Iprobe(mpi().ANY_SOURCE, LOG_TAG, status):
            self._comm.Recv(position, status.Get_source(), LOG_TAG)
            self._received[status.Get_source()] = int(position[0]), int(position[1])
        ours, theirs = self._digests, self._received.items()
        raise_for_ranks([rank for rank, (count, digest) in theirs if ours.get(count, digest) != digest])

    def barrier(self) -> None:
        """Wait for all ranks, by messages alone: an MPI collective might complete with another one's data."""
        self.record("end", 0)
        others = self._comm.Get_size() - 1
        while True:
            self.compare()
            if sum(count >= self._count for count, _ in self._received.values()) == others:
                return
            time.sleep(BARRIER_POLL_SECONDS)

    def check(self, digests: IntArray) -> None:
        """Raise unless all ranks have sent this rank's digest with an exchange."""
        raise_for_ranks(np.flatnonzero(digests != self.digest).tolist())


def get_exchange_log(comm: Any) -> ExchangeLog:
    """Return the log of a communicator, shared by all objects that use it."""
    log = comm.Get_attr(_exchange_log_key())
    if log is None:
        log = ExchangeLog(comm)
        comm.Set_attr(_exchange_log_key(), log)
    return log


@cache
def _exchange_log_key() -> int:
    return mpi().Comm.Create_keyval()


SMALL_BYTES = 1 << 13
"""Bytes up to which every rank receives all parts and adds them itself."""
POLL_SECONDS = 5e-5
"""Seconds of sleep between two polls of a slow exchange."""
SPIN_SECONDS, SPIN_SECONDS_PER_BYTE = 1e-2, 1e-8
"""Seconds of polling without sleep, and more for every byte sent, where every rank has a core of its own: sleep would
delay long messages, which travel in pieces."""
STALL_SECONDS, STALL_POLL_SECONDS = 2.0, 0.1
"""Seconds of waiting after which ranks compare their logs, and between two comparisons."""


class Ranks:
    """Collective operations between the processes of a communicator.

    Parameters
    ----------
    comm
        An mpi4py communicator; default: all processes.

    See Also
    --------
    SingleProcess, session

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> ranks = Ranks(SingleProcess())
    >>> ranks.size, ranks.allreduce(np.array([1.0, 2.0]))
    (1, array([1., 2.]))
    """

    checkpoint_identity = "ranks"
    """What a checkpoint compares: the number of ranks may differ."""

    def __init__(self, comm: Any = None) -> None:
        self.comm: Any = world_communicator() if comm is None else comm
        self.rank = int(self.comm.Get_rank())
        self.size = int(self.comm.Get_size())
        self.seconds = 0.0
        """Time spent in exchanges, waiting for other ranks included."""
        self.bytes = 0
        """Bytes that this rank has sent."""
        self._crowded = self.size > 1 and ranks_on_machine(self.comm) > available_cores()

    def __repr__(self) -> str:
        return f"Ranks(rank={self.rank}, size={self.size})"

    def allreduce(self, array: Array) -> Array:
        """Return the sum of the ranks' arrays, the same bits on every rank."""
        array = np.asarray(array)
        if self.size == 1:
            return array
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.nbytes <= SMALL_BYTES:
            return _sum_in_order(self._allgather_short(flat)).reshape(array.shape)
        counts = shares(flat.size, self.size)
        mine = int(counts[self.rank])
        parts = np.empty((self.size, mine), flat.dtype)
        self._log("sum", flat.nbytes)
        request = self.comm.Ialltoallv([flat, _spans(counts)], [parts, _spans(np.full(self.size, mine))])
        self._wait(request, flat.nbytes)
        return self._allgatherv(_sum_in_order(parts), counts).reshape(array.shape)

    def allgather(self, array: Array, counts: IntArray | None = None) -> Array:
        """Return the ranks' arrays, concatenated along the first axis; known lengths ``counts`` save an exchange.

        Parameters
        ----------
        array
            This rank's array; all but the first length are the same on every rank.
        counts
            The first lengths by rank; None to exchange them.
        """
        array = np.asarray(array)
        if self.size == 1:
            return array
        rest = array.shape[1:]
        if counts is None:
            counts = self._allgather_short(np.array([array.shape[0]], np.int64))[:, 0]
        width = int(np.prod(rest, dtype=np.int64))
        flat = np.ascontiguousarray(array).reshape(-1)
        return self._allgatherv(flat, counts * width).reshape(-1, *rest)

    def local_slice(self, counts: IntArray) -> slice:
        """Return this rank's part of a vector to which rank r contributes ``counts[r]`` entries."""
        first = int(counts[: self.rank].sum())
        return slice(first, first + int(counts[self.rank]))

    def allgather_objects(self, value: Any) -> list[Any]:
        """Return every rank's value (pickled)."""
        if self.size == 1:
            return [value]
        own = np.frombuffer(pickle.dumps(value, protocol=5), np.uint8)
        sizes = self._allgather_short(np.array([own.size], np.int64))[:, 0]
        parts = np.split(self._allgatherv(own, sizes), np.cumsum(sizes)[:-1])
        return [pickle.loads(part.data) for part in parts]

    def alltoall(self, parts: list[Array]) -> list[Array]:
        """Send part i to rank i, and return the parts received, in the order of the ranks."""
        if self.size == 1:
            return parts
        counts = np.array([part.size for part in parts], np.int64)
        table = self._allgather_short(counts)
        incoming = table[:, self.rank]
        out = np.empty(int(incoming.sum()), parts[0].dtype)
        sent = np.concatenate(parts)
        self._log("exchange", int(table.sum()))
        self._wait(self.comm.Ialltoallv([sent, _spans(counts)], [out, _spans(incoming)]), sent.nbytes)
        return np.split(out, np.cumsum(incoming)[:-1])

    def barrier(self) -> None:
        """Wait until every rank is here; a rank that waits in another exchange raises :class:`Disagreement`."""
        if self.size > 1:
            get_exchange_log(self.comm).barrier()

    def _allgather_short(self, array: Array) -> Array:
        """Return the ranks' short vectors; the digests of the logs travel with them and are compared."""
        log = self._log("gather", array.nbytes)
        own = np.concatenate([np.array([log.digest], np.int64).view(np.uint8), array.view(np.uint8)])
        parts = np.empty((self.size, own.size), np.uint8)
        self._wait(self.comm.Iallgather(own, parts), own.nbytes)
        log.check(parts[:, :8].copy().view(np.int64)[:, 0])
        return parts[:, 8:].copy().view(array.dtype)

    def _allgatherv(self, part: Array, counts: IntArray) -> Array:
        out = np.empty(int(counts.sum()), part.dtype)
        self._log("spread", out.nbytes)
        self._wait(self.comm.Iallgatherv(part, [out, _spans(counts)]), part.nbytes)
        return out

    def _log(self, kind: str, size: int) -> ExchangeLog:
        """Record an exchange: its kind and a size that is the same on every rank."""
        log = get_exchange_log(self.comm)
        log.record(kind, size)
        return log

    def _wait(self, request: Any, sent: int) -> None:
        """Wait for an exchange by polling, so that signals are handled; ranks that share a core sleep at once."""
        begun = time.perf_counter()
        spin_end = begun + (0.0 if self._crowded else SPIN_SECONDS + SPIN_SECONDS_PER_BYTE * sent)
        stalled = begun + STALL_SECONDS
        while not request.Test():
            now = time.perf_counter()
            if now > spin_end:
                time.sleep(POLL_SECONDS)
            if now > stalled:
                get_exchange_log(self.comm).compare()
                stalled = now + STALL_POLL_SECONDS
        self.seconds += time.perf_counter() - begun
        self.bytes += sent


def _spans(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return counts and displacements as MPI takes them."""
    return counts, np.cumsum(counts) - counts


def _sum_in_order(parts: Array) -> Array:
    """Return the sum of the rows, first to last."""
    total = parts[0].copy()
    for row in parts[1:]:
        total += row
    return total


CHECK_EVERY = 8
"""The dual vector is compared at the first 8 products with the adjoint, then at every eighth."""
FILE_BLOCKS, FILE_BLOCK_BYTES = 16, 1 << 16
"""Number and bytes of the evenly spread blocks by which files are compared: up to a megabyte entirely."""


def digest(value: Any) -> int:
    """Return a hash of a value: of an array's bytes, or of the ``repr`` of anything else.

    >>> digest(np.array([1.0])) == digest(np.array([1.0])), digest("a") == digest("b")
    (True, False)
    """
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return zlib.crc32(array.reshape(-1).view(np.uint8).data, zlib.crc32(f"{array.dtype}{array.shape}".encode()))
    return zlib.crc32(repr(value).encode())


def require_same(ranks: Ranks, what: str, values: Mapping[str, Any]) -> None:
    """Raise on every rank unless all have the same values; the message names those that differ.

    Parameters
    ----------
    ranks
        The ranks.
    what
        Subject of the message, such as "the options".
    values
        What is compared, by name.

    Raises
    ------
    InvalidInput
        If the values of two ranks differ.

    See Also
    --------
    file_fingerprint, Disagreement

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> require_same(Ranks(SingleProcess()), "options", {"seed": 1})
    """
    if ranks.size == 1:
        return
    mine = {name: (digest(value), _abbreviate(value)) for name, value in values.items()}
    everyone: list[dict[str, tuple[int, str]]] = ranks.allgather_objects(mine)
    differing, first = dict[str, str](), everyone[0]
    for rank, theirs in enumerate(everyone):
        for name in dict.fromkeys([*first, *theirs]):
            (code, text), (other, other_text) = (one.get(name, (None, "nothing")) for one in (first, theirs))
            if code != other:
                differing.setdefault(name, f"{name} ({text} on rank 0, {other_text} on rank {rank})")
    if differing:
        raise InvalidInput(what, "the same on every rank", "; ".join(differing.values()))


def require_same_file(ranks: Ranks, path: str | os.PathLike[str]) -> None:
    """Raise on every rank unless all see a file of the same size and the same hash of blocks."""
    if ranks.size > 1:
        size, content = file_fingerprint(Path(path))
        require_same(ranks, f"the file {Path(path).name}", {"size": size, "content": content})


def file_fingerprint(path: Path) -> tuple[int, str]:
    """Return the size of a file and a hash of blocks of it.

    Parameters
    ----------
    path
        Path of the file.

    See Also
    --------
    require_same

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "data.txt"
    ...     _ = file.write_text("abc")
    ...     file_fingerprint(file)[0]
    3
    """
    size = path.stat().st_size
    gaps, checksum = max(size - FILE_BLOCKS * FILE_BLOCK_BYTES, 0), 0
    with open(path, "rb") as stream:
        for block in range(FILE_BLOCKS):
            stream.seek(gaps * block // (FILE_BLOCKS - 1) + block * FILE_BLOCK_BYTES)
            checksum = zlib.crc32(stream.read(FILE_BLOCK_BYTES), checksum)
    return size, f"{checksum:08x}"


def _abbreviate(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {digest(value):08x} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Distributed:
    """A map or oracle divided among the ranks; checkpoints take it for the whole, whatever the number of ranks."""

    ranks: Ranks
    """The ranks."""
    whole: Any
    """The undivided map or oracle, which checkpoints compare."""
    work: IntArray
    """Parts of each rank: measurements, or blocks."""
    _products = 0

    @property
    def checkpoint_identity(self) -> Any:
        """The undivided map or oracle."""
        return self.whole

    def require_same_dual(self, dual: Array) -> None:
        """Raise on every rank unless all have the same dual vector, at the first products and then at every eighth.

        The first products are all compared: ranks with different data then stop before their decisions differ and they
        wait for each other in different exchanges.
        """
        self._products += 1
        if self.ranks.size == 1 or (self._products > CHECK_EVERY and self._products % CHECK_EVERY):
            return
        hashes = self.ranks.allgather(np.array([digest(dual)], np.int64))
        problem = f"the dual vector of rank {{}} is not that of rank 0 (product {self._products})"
        raise_for_ranks(np.flatnonzero(hashes != hashes[0]).tolist(), problem)


FAILURE_TIMEOUT = 2.0
"""Seconds that a failed rank waits for the others to fail with the same message."""
FAILURE_POLL_SECONDS = 1e-3


def abort_unless_unanimous(comm: Any, line: str, code: int) -> None:
    """Return if every rank has failed with the same message; otherwise print which rank failed and abort all.

    Parameters
    ----------
    comm
        A communicator of this purpose alone, so that these messages never mix with the solver's.
    line, code
        The message, and the exit code of all ranks.
    """
    mine, everyone = np.array([digest(line)], np.int64), np.empty(comm.Get_size(), np.int64)
    request = comm.Iallgather(mine, everyone)
    until = time.perf_counter() + FAILURE_TIMEOUT
    while not (is_complete := request.Test()) and time.perf_counter() < until:
        time.sleep(FAILURE_POLL_SECONDS)
    if is_complete and (everyone == mine).all():
        return
    print(f"unipd: rank {comm.Get_rank()} of {comm.Get_size()}: {line}", file=sys.__stderr__, flush=True)
    time.sleep(0.1)  # for the launcher to forward the line
    comm.Abort(code)
