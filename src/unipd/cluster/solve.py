"""Solve on several ranks: shards of rating files, the communicator of applications, :func:`session` and :func:`run`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import distinct
from unipd._util.context import Communicator, use_communicator
from unipd._util.threads import limit_threads
from unipd.cluster.communicator import Ranks, abort_unless_unanimous, contiguous_bounds, require_same, require_same_file
from unipd.cluster.environment import threads_for
from unipd.cluster.maps import DistributedRows, distribute, distribute_problem, idle_ranks
from unipd.io.ratings import Ratings, Shard, detect_layout, open_lines, parse_numbers, read_ratings
from unipd.problem import Problem
from unipd.run import IterationInfo, Result, solve

_COMPRESSED = (".gz", ".parquet", ".pq")
"""Files that cannot be read from the middle."""


def read_shard(path: str | os.PathLike[str], ranks: Ranks) -> Ratings:
    r"""Return the ratings of this rank's users, or all ratings where a file cannot be read in parts.

    From a text file with numeric names a rank reads its own lines only; ratings then move to the rank of their user.
    Other files (compressed, or with texts as names) are read by every rank, and divided when the model is fitted.

    Parameters
    ----------
    path
        Path of the file of ratings, the same for all ranks.
    ranks
        The ranks.

    See Also
    --------
    unipd.io.read_ratings, session

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "ratings.csv"
    ...     _ = file.write_text("user,item,rating\n1,10,4.0\n2,10,3.0\n")
    ...     read_shard(file, Ranks()).values.size
    2
    """
    lines = _read_own_lines(Path(path), ranks)
    return read_ratings(path) if lines is None else redistribute_ratings(Ratings(*lines), ranks)


def redistribute_ratings(ratings: Ratings, ranks: Ranks) -> Shard:
    """Return the ratings of this rank's users, from ratings distributed over the ranks in any way.

    Users are divided in the order of their names, with about equally many ratings on each rank. Several ratings of one
    pair keep the order of the ranks.
    """
    users, items = (np.unique(ranks.allgather(distinct(names))) for names in (ratings.users, ratings.items))
    places = np.searchsorted(users, ratings.users)
    counts = ranks.allreduce(np.bincount(places, minlength=users.size))
    owners = np.searchsorted(contiguous_bounds(counts, ranks.size)[1:-1], places, side="right")
    order = np.argsort(owners, kind="stable")
    cuts = np.cumsum(np.bincount(owners, minlength=ranks.size))[:-1]

    def exchange(values: Array) -> Array:
        return np.concatenate(ranks.alltoall(np.split(values[order], cuts)))

    return Shard(exchange(ratings.users), exchange(ratings.items), exchange(ratings.values), users, items)


def _read_own_lines(path: Path, ranks: Ranks) -> tuple[Array, Array, FloatArray] | None:
    """Return what this rank's lines of a text file hold; None on every rank if the file cannot be read in parts."""
    if path.suffix.lower() in _COMPRESSED:
        return None
    with open_lines(path) as lines:
        layout = detect_layout(path, lines)
    text = io.TextIOWrapper(io.BytesIO(_own_bytes(path, ranks)), encoding="utf-8-sig", newline="")
    found = parse_numbers(text, replace(layout, header=layout.header and ranks.rank == 0))
    return None if ranks.allreduce(np.array([int(found is None)]))[0] else found


def _own_bytes(path: Path, ranks: Ranks) -> bytes:
    """Return the lines that begin in this rank's part of the bytes."""
    size = path.stat().st_size
    with open(path, "rb") as stream:
        begin, end = (_line_after(stream, size * part // ranks.size) for part in (ranks.rank, ranks.rank + 1))
        stream.seek(begin)
        return stream.read(end - begin)


def _line_after(stream: Any, place: int) -> int:
    """Return the position of the first line that begins at ``place`` or later."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    stream.readline()
    return int(stream.tell())


class MpiCommunicator(Ranks, Communicator):
    """The communicator of the applications, on MPI ranks."""

    def __init__(self, comm: Any = None) -> None:
        super().__init__(comm)
        self._idle: set[int] = set()
        self._failures = self.comm.Dup() if self.size > 1 else None

    def distribute(self, map: Any) -> Any:
        """Return the map distributed among the ranks."""
        return self.warn_idle_ranks(distribute(map, self)) if self.size > 1 else map

    def partition(self, problem: Any) -> Any:
        """Return the problem with its map and oracles distributed among the ranks."""
        if self.size == 1:
            return problem
        problem = distribute_problem(problem, self)
        self.warn_idle_ranks(problem.map)
        return problem

    def stack_maps(self, kind: Callable[..., Any], *arguments: Any) -> Any:
        """Return the map of all ranks' measurements; ``kind(*arguments)`` is the map of this rank's, if any."""
        if self.size == 1:
            return kind(*arguments)
        return self.warn_idle_ranks(DistributedRows(kind(*arguments) if len(arguments[0]) else None, self))

    def warn_idle_ranks(self, map: Any) -> Any:
        """Return the map; rank 0 prints the number of ranks without a part of it, once for each number."""
        idle = idle_ranks(map)
        if idle and self.is_leader and idle not in self._idle:
            self._idle.add(idle)
            print(f"unipd: {idle} of {self.size} ranks hold no rows and will idle", file=sys.stderr)
        return map

    def local_part(self, array: Any, count: int) -> Any:
        """Return this rank's part of an array that all ranks have."""
        return array[self.local_slice(self.allgather(np.array([count], np.int64)))]

    def read(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return ``reader(path)``; all ranks must see the same file."""
        require_same_file(self, path)
        return reader(path)

    def read_shard(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return the ratings of this rank's users; all ranks must see the same file."""
        return self.read(reader if self.size == 1 else lambda file: read_shard(file, self), path)

    def on_root(self, make: Callable[[], Any]) -> Any:
        """Call ``make`` on rank 0; return its result, or raise its error, on every rank."""
        outcome: Any = None
        if self.is_leader:
            try:
                outcome = (True, make())
            except Exception as error:
                outcome = (False, _serialize_error(error))
        is_value, value = self.allgather_objects(outcome)[0]
        if is_value:
            return value
        raise _rebuild_error(*value)

    def now(self) -> float:
        """Return the clock of rank 0."""
        return self.read_clocks()[0]

    def read_clocks(self) -> tuple[float, float]:
        """Return the clock of rank 0 and the sum of the ranks' CPU times."""
        own = time.perf_counter() if self.is_leader else 0.0
        wall, cpu = self.allreduce(np.array([own, time.process_time()])).tolist()
        return wall, cpu

    def fail(self, line: str, code: int) -> None:
        """Abort all ranks unless all have failed with the same message."""
        if self._failures is not None:
            abort_unless_unanimous(self._failures, line, code)


def _serialize_error(error: Exception) -> tuple[type, tuple[Any, ...], dict[str, Any]]:
    """Return an error in a form that pickles, whatever its constructor takes."""
    if isinstance(error, OSError) and error.errno is not None:
        return type(error), (error.errno, error.strerror, error.filename), {}
    return type(error), (str(error),), dict(vars(error))


def _rebuild_error(kind: Any, arguments: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    error: Exception = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    return error


@contextlib.contextmanager
def session(comm: Any = None, *, threads: int | None = None) -> Generator[MpiCommunicator]:
    """Solve on all ranks inside a ``with`` block: estimators and applications distribute their maps.

    Every rank runs the same statements. An exception on one rank (or an interruption, or ``sys.exit`` with a nonzero
    code) is printed with the rank's number and aborts all ranks.

    Parameters
    ----------
    comm
        An mpi4py communicator; default: all processes.
    threads
        Threads of each rank; default: the cores of a machine divided by its ranks.

    Returns
    -------
    context manager
        Gives the communicator of the block: its ``rank``, its ``size``, ``is_leader``.

    See Also
    --------
    run, distribute_problem, Ranks

    Examples
    --------
    The same lines on every rank, started by ``mpirun -n 4 python fit.py``; one process needs no launcher:

    >>> import unipd
    >>> with session() as communicator:
    ...     estimate = unipd.PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    >>> communicator.size
    1
    """
    communicator = MpiCommunicator(comm.comm if isinstance(comm, Ranks) else comm)
    try:
        count = threads if threads is not None else threads_for()
        with use_communicator(communicator), thread_limits(count, communicator.size):
            try:
                yield communicator
            except SystemExit as end:  # a rank that leaves early by ``sys.exit(0)`` waits for the others, too
                if not end.code:
                    communicator.barrier()
                raise
            communicator.barrier()
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        if communicator.size > 1 and not (isinstance(error, SystemExit) and not error.code):
            _report_failure(error, communicator)
        raise


@contextlib.contextmanager
def thread_limits(threads: int, size: int) -> Generator[None]:
    """Limit the threads of Numba and, given threadpoolctl, of BLAS; a single process is not limited."""
    if size == 1:
        yield
        return
    import numba  # noqa: F401  # pyright: ignore[reportUnusedImport]  (loaded, it is limited too)

    with limit_threads(threads):
        yield


def _report_failure(error: BaseException, communicator: MpiCommunicator) -> None:
    """Print which rank has failed and abort all, unless all have failed alike: then rank 0 prints the message."""
    code = 130 if isinstance(error, KeyboardInterrupt) else 1
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        code = error.code
    communicator.fail(f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": "), code)
    if not communicator.is_leader:
        sys.exit(code)


def run(
    problem: Problem,
    method: Any = "auto",
    *,
    comm: Any = None,
    threads: int | None = None,
    verbose: bool = False,
    callback: Callable[[IterationInfo], bool | None] | None = None,
    **options: Any,
) -> Result:
    """Solve a problem as :func:`unipd.solve` does, its products distributed; every rank returns the result.

    All ranks must call this with the same problem and options, which is checked. Only rank 0 shows progress and writes
    checkpoints. A callback on any rank may stop the run: then all ranks stop.

    Parameters
    ----------
    problem, method, callback
        As in :func:`unipd.solve`.
    comm
        An mpi4py communicator; default: all processes.
    threads
        Threads of each rank; default: the cores of a machine divided by its ranks.
    verbose
        Whether rank 0 shows progress.
    options
        Options of :func:`unipd.solve`: ``accuracy``, ``stop``, ``tracker``, ``start``, options of the method.

    Returns
    -------
    Result
        The same on every rank.

    See Also
    --------
    session, distribute_problem, unipd.solve

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> run(problem).status.success
    True
    """
    with session(comm, threads=threads) as communicator:
        chosen = {"method": method, **options}
        require_same(communicator, "the options", {name: _comparable(value) for name, value in chosen.items()})

        def is_true_anywhere(condition: bool) -> bool:
            return bool(communicator.allreduce(np.array([int(condition)]))[0])

        def any_rank_stops(info: IterationInfo) -> bool:
            return is_true_anywhere(bool(callback is not None and callback(info)))

        observer = any_rank_stops if is_true_anywhere(callback is not None) else None
        return solve(
            communicator.partition(problem),
            method,
            verbose=verbose and communicator.is_leader,
            callback=observer,
            **options,
        )


def _comparable(value: Any) -> Any:
    """Return what to compare: arrays and plain values themselves, the type or ``repr`` of other objects."""
    if isinstance(value, Result):
        return value.dual
    if isinstance(value, (np.ndarray, str, int, float, bool, type(None))):
        return value
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text
