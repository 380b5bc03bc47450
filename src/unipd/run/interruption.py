"""Ending a run early: stop requests and signals between iterations, time limits inside them."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import numpy as np

from unipd._util.context import Communicator, change_context, current_communicator, subscribe
from unipd._util.interrupts import resend_lost_interrupts


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
    mine, communicator = request.pending, communicator or current_communicator()
    return mine if communicator.size == 1 else bool(communicator.allreduce(np.array([float(mine)]))[0])


@contextlib.contextmanager
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
    """Raise ``KeyboardInterrupt`` as soon as a frame further out goes on."""

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
    :mod:`unipd._util.context`. States are immutable, so the previous one remains valid. Until ``whole()`` is true,
    when there is no complete iteration to return yet, only line searches are cut short.

    >>> from unipd._util.context import notify
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
