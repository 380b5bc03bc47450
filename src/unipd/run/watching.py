"""Watchers of runs: whoever wants to follow every run that begins in a block, however deep in an application."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from unipd.run.moment import Moment
from unipd.run.progress import plain_lines, progress_display

Show = Callable[[Moment], None]
Watcher = Callable[[str, float], Show]
"""Called with the method's name and the accuracy when a run begins; what it returns, after every iteration."""
_watcher: ContextVar[Watcher | None] = ContextVar("unipd_watcher", default=None)
_writer: ContextVar[Callable[[str], None] | None] = ContextVar("unipd_progress_writer", default=None)


@contextmanager
def watching(watcher: Watcher) -> Generator[None]:
    """Let ``watcher`` follow the runs that begin inside the block, in this thread.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> seen = []
    >>> with watching(lambda method, accuracy: lambda moment: seen.append(moment.state.iteration)):
    ...     result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(3), accuracy=1e-9)
    >>> seen
    [1, 2, 3]
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def progress_written(write: Callable[[str], None]) -> Generator[None]:
    """Let ``write`` have the lines of progress of the runs that begin inside the block, whether or not they are shown.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lines = []
    >>> with progress_written(lines.append):
    ...     result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(3), accuracy=1e-9)
    >>> len(lines), lines[0].split()[3:5]
    (1, ['iteration', '1'])
    """
    token = _writer.set(write)
    try:
        yield
    finally:
        _writer.reset(token)


@contextmanager
def shown(method: str, accuracy: float, *, verbose: bool) -> Generator[Show | None]:
    """Give a function that shows a moment to whoever follows the run: terminal, log, watcher; None when nobody does."""
    watcher, write = _watcher.get(), _writer.get()
    shows: list[Show] = []
    with ExitStack() as stack:
        if write is not None:
            shows.append(stack.enter_context(plain_lines(method, accuracy, write)))
        if verbose:
            shows.append(stack.enter_context(progress_display(method, accuracy)))
        if watcher is not None:
            shows.append(watcher(method, accuracy))

        def show_all(moment: Moment) -> None:
            for show in shows:
                show(moment)

        yield show_all if shows else None
