"""The context of a run: communicator, deadline, listeners, memory limit, workspace, observers, checkpoint.

One immutable :class:`RunContext` holds everything that a run finds around it rather than among its arguments. Each
thread has its own: a change lasts until the end of a ``with`` block and is seen by this thread alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")
Listener = Callable[[str, int], None]
"""Called with the name of the work and the number of products just done."""


class Communicator:
    """The processes that solve one problem together; this class is the single process.

    Every process runs the same program and takes the same decisions; only products are divided.
    :mod:`unipd.cluster` has the communicator that uses MPI.

    >>> alone = Communicator()
    >>> alone.size, alone.is_leader, alone.distribute("any map")
    (1, True, 'any map')
    """

    rank: int = 0
    """Number of this process."""
    size: int = 1
    """Number of processes."""

    @property
    def is_leader(self) -> bool:
        """Whether this process prints and writes files."""
        return self.rank == 0

    def distribute(self, map: Any) -> Any:
        """Return a map whose products are divided among the processes."""
        return map

    def stack_maps(self, kind: Callable[..., Any], *arguments: Any) -> Any:
        """Return the map of all measurements, in the order of the ranks; ``kind(*arguments)`` has this rank's.

        The first argument has an entry for each of them; a rank may have none.
        """
        return kind(*arguments)

    def allreduce(self, array: Any) -> Any:
        """Return the sum of all ranks' arrays."""
        return array

    def allgather(self, array: Any) -> Any:
        """Return all ranks' arrays, concatenated."""
        return array

    def local_part(self, array: Any, count: int) -> Any:
        """Return this rank's part, ``count`` entries, of an array that all ranks have."""
        return array

    def partition(self, problem: Any) -> Any:
        """Return a problem whose map, and oracles of separable problems, are divided among the ranks."""
        return problem

    def read(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return ``reader(path)`` of a file that must be the same for all ranks."""
        return reader(path)

    def read_shard(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return this rank's part of the ratings in a file."""
        return self.read(reader, path)

    def on_root(self, make: Callable[[], Any]) -> Any:
        """Call ``make`` on rank 0 and return its result or raise its error; other ranks need not see the same files."""
        return make()

    now: Callable[[], float] = staticmethod(time.perf_counter)
    """Return a time in seconds, the same number on every rank."""

    def read_clocks(self) -> tuple[float, float]:
        """Return :attr:`now` and the CPU time of all processes and threads, the same numbers on every rank."""
        return self.now(), time.process_time()

    def fail(self, line: str, code: int) -> None:
        """End every process when this one alone has failed; return if all ranks failed with the same error."""


_SINGLE_PROCESS = Communicator()


@dataclass(frozen=True)
class RunContext:
    """Settings and resources of a run."""

    communicator: Communicator = _SINGLE_PROCESS
    """The processes that solve the problem together."""
    listeners: tuple[Listener, ...] = ()
    """Called after products inside an iteration, in the order in which they subscribed."""
    is_out_of_time: Callable[[], bool] | None = None
    """Whether the run's deadline has passed; None without a deadline."""
    memory_limit: int | None = None
    """Bytes that this process may hold; None without a limit."""
    seen_atoms: Any = None
    """The latest atoms that a user-supplied oracle has returned (``append``); None elsewhere."""
    workspace: Any = None
    """Buffers of long vectors that one iteration hands to the next; None outside a run."""
    watcher: Callable[[str, float], Callable[[Any], None]] | None = None
    """Called with method and accuracy when a run begins; returns what to call after every iteration."""
    progress_writer: Callable[[str], None] | None = None
    """Receives the progress lines of runs, whether or not they are displayed."""
    checkpoint: Any = None
    """The checkpoint that serves the runs of a ``with`` block."""


_DEFAULT = RunContext()
_context: ContextVar[RunContext] = ContextVar("unipd_run_context", default=_DEFAULT)


def current_context() -> RunContext:
    """Return the context of this thread."""
    return _context.get()


@contextmanager
def change_context(**changes: Any) -> Generator[RunContext]:
    """Change fields of the context inside a ``with`` block, for this thread.

    >>> with change_context(memory_limit=1_000_000):
    ...     current_context().memory_limit
    1000000
    >>> current_context().memory_limit is None
    True
    """
    context = replace(_context.get(), **changes)
    token = _context.set(context)
    try:
        yield context
    finally:
        _context.reset(token)


def bind_process_context(work: Callable[[A], B]) -> Callable[[A], B]:
    """Return ``work`` for another thread, where it has this thread's communicator and memory limit.

    Listeners, deadline, workspace, observers and checkpoint belong to one run and stay with their thread.
    """
    here = _context.get()
    shared = RunContext(communicator=here.communicator, memory_limit=here.memory_limit)

    def run(argument: A) -> B:
        token = _context.set(shared)
        try:
            return work(argument)
        finally:
            _context.reset(token)

    return run


def current_communicator() -> Communicator:
    """Return the communicator that this process works in."""
    return _context.get().communicator


def use_communicator(communicator: Communicator) -> AbstractContextManager[RunContext]:
    """Work in another communicator inside a ``with`` block.

    >>> mine = Communicator()
    >>> with use_communicator(mine):
    ...     current_communicator() is mine
    True
    """
    return change_context(communicator=communicator)


def notify(work: str, products: int) -> None:
    """Report products done inside an iteration to the listeners."""
    for listener in _context.get().listeners:
        listener(work, products)


def subscribe(listener: Listener | None) -> AbstractContextManager[RunContext]:
    """Report products to ``listener`` as well inside a ``with`` block; None silences all listeners.

    >>> heard = []
    >>> with subscribe(lambda work, products: heard.append((work, products))):
    ...     notify("eigenvector", 2)
    >>> notify("eigenvector", 1)
    >>> heard
    [('eigenvector', 2)]
    """
    return change_context(listeners=() if listener is None else (*_context.get().listeners, listener))


def out_of_time() -> bool:
    """Whether the run's deadline has passed; line searches check between trials.

    Once the run has a complete iteration to return, the deadline aborts the current one instead of returning True.
    """
    check = _context.get().is_out_of_time
    return check is not None and check()
