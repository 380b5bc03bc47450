"""The context of a run: communicator, deadline, listeners, memory limit, workspace, observers, checkpoint; and signals.

One immutable :class:`RunContext` holds everything that a run finds around it rather than among its arguments. Each
thread has its own: a change lasts until the end of a ``with`` block and is seen by this thread alone. The end of the
file has what ends runs from outside: stop requests, signals, and time limits inside an iteration. It imports no NumPy,
so that a command can prepare for Ctrl-C before its imports.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import FrameType
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


class StopRequest:
    """A request to stop; single attributes, so that a signal handler can use them at any time."""

    pending = False
    """Whether runs shall end."""
    may_raise = True
    """Whether a signal raises KeyboardInterrupt: there is nothing to return yet, or the run at work can return it."""


request = StopRequest()
"""The request that all runs of this process obey."""


def is_stop_requested(communicator: Communicator | None = None) -> bool:
    """Whether this process, or another rank of the communicator, has a request to stop its runs."""
    communicator = communicator or current_communicator()
    if communicator.size == 1:
        return request.pending
    import numpy as np

    return bool(communicator.allreduce(np.array([float(request.pending)]))[0])


@contextmanager
def stop_on_signals() -> Generator[None]:
    """Let SIGINT and SIGTERM end runs with the incumbent, inside an iteration too; a second signal ends at once.

    Before the first iteration, when there is nothing to return (input is read, a problem is set up),
    ``KeyboardInterrupt`` is raised. After the first signal the default handlers are restored, so the second one
    terminates the process. Outside the main thread, where signals cannot be handled, this does nothing. For programs:
    the library itself installs no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watched = (signal.SIGINT, signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        request.pending = True
        for each in watched:
            signal.signal(each, signal.SIG_DFL)
        if not request.may_raise:
            return
        compiler = _caller_of_llvm(frame)
        if compiler is None:
            raise KeyboardInterrupt
        _interrupt_in(compiler)

    request.pending = False
    request.may_raise = current_communicator().size == 1
    before = {each: signal.signal(each, handle) for each in watched}
    try:
        with resend_lost_interrupts(handle):
            yield
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        request.pending = False


def _caller_of_llvm(frame: FrameType | None) -> FrameType | None:
    """Return the frame that compiles, if llvmlite is at work or has called the code at work; else None.

    An exception inside it would leave objects half made, whose destructors fail; and after every kernel LLVM calls
    back, so that signals arrive there: the exception would be lost in C, and the kernel half compiled.
    """
    caller = None
    while frame is not None:
        caller = frame.f_back if frame.f_globals.get("__name__", "").startswith("llvmlite.") else caller
        frame = frame.f_back
    return caller


def _interrupt_in(frame: FrameType) -> None:
    """Raise ``KeyboardInterrupt`` as soon as an outer frame resumes."""

    def interrupt(*_: object) -> None:
        sys.settrace(None)
        raise KeyboardInterrupt

    frame.f_trace = interrupt
    sys.settrace(lambda *_: None)


def may_raise_here(communicator: Communicator) -> bool:
    """Whether a signal may end an iteration of this thread's run at any point.

    MPI ranks finish their iterations, as all of them must end at the same one; so do runs in other threads than the
    main one, which alone sees signals.
    """
    return communicator.size == 1 and threading.current_thread() is threading.main_thread()


@contextmanager
def raise_on_signals() -> Generator[None]:
    """Let a signal raise ``KeyboardInterrupt`` anywhere in the block: the caller has a result, and returns that one."""
    before, request.may_raise = request.may_raise, may_raise_here(current_communicator())
    try:
        yield
    finally:
        request.may_raise = before


class TimeLimitReached(BaseException):
    """Raised inside an iteration when the time limit has passed, and caught by the run; not an error."""


@contextmanager
def abort_iteration_when(over: Callable[[], bool], whole: Callable[[], bool]) -> Generator[None]:
    """Abort the iteration inside the block, at its next product or trial, once ``over()`` is true.

    Eigensolvers and quasi-Newton steps report products, and line searches check between trials: both go through
    :func:`notify` and :func:`out_of_time`. States are immutable, so the previous one remains valid. Until ``whole()``
    is true, when there is no complete iteration to return yet, only line searches are cut short.

    >>> try:
    ...     with abort_iteration_when(lambda: True, lambda: True):
    ...         notify("eigenvector", 1)
    ... except TimeLimitReached:
    ...     print("given up")
    given up
    """

    def look() -> bool:
        if not over():
            return False
        if whole():
            raise TimeLimitReached
        return True

    def listen(work: str, products: int) -> None:
        look()

    with subscribe(listen), change_context(is_out_of_time=look):
        yield


_RETRY = 0.05
"""Seconds after which a signal that came at a bad moment is handled again."""


@contextmanager
def resend_lost_interrupts(handler: Any = signal.default_int_handler) -> Generator[None]:
    """Raise ``KeyboardInterrupt`` again, by this handler, where Python would print it and forget it.

    That happens in callbacks from C, in destructors, and at the end of every import, whose lock is a weak reference.
    """
    hook = sys.unraisablehook

    def notice(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.signal(signal.SIGINT, handler)
            threading.Timer(_RETRY, _thread.interrupt_main).start()
        else:
            hook(lost)

    sys.unraisablehook = notice
    try:
        yield
    finally:
        sys.unraisablehook = hook
