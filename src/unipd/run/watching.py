"""Watchers of runs: whoever wants to follow every run that begins in a block, however deep in an application."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from unipd.problem import Problem
from unipd.run.moment import Moment
from unipd.run.progress import progress_display

Show = Callable[[Moment], None]
Watcher = Callable[[Problem, str, float], Show]
"""Called with problem, name of the method and accuracy when a run begins; what it returns, after every iteration."""
_watcher: ContextVar[Watcher | None] = ContextVar("unipd_watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Generator[None]:
    """Let ``watcher`` follow the runs that begin inside the block, in this thread.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> seen = []
    >>> with watching(lambda problem, method, accuracy: lambda moment: seen.append(moment.state.iteration)):
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
def shown(problem: Problem, method: str, accuracy: float, *, verbose: bool) -> Generator[Show | None]:
    """Give a function that shows a moment to the reader of the terminal and to the watcher; None without both."""
    watcher = _watcher.get()
    watch = None if watcher is None else watcher(problem, method, accuracy)
    with progress_display(problem, method, accuracy) if verbose else nullcontext(None) as display:
        if watch is None or display is None:
            yield watch or display
            return

        def both(moment: Moment) -> None:
            display(moment)
            watch(moment)

        yield both
