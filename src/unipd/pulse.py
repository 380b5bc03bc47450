"""Signs of life from inside an iteration, for displays and time limits of runs whose iterations take minutes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int], None]
"""Called with the name of the work and the number of products just done."""
_listener: ContextVar[Listener | None] = ContextVar("unipd_pulse", default=None)
_clock: ContextVar[Callable[[], bool] | None] = ContextVar("unipd_clock", default=None)


def beat(work: str, products: int) -> None:
    """Tell the listener, if there is one, that so many products were done."""
    listener = _listener.get()
    if listener is not None:
        listener(work, products)


@contextmanager
def listening(listener: Listener | None) -> Generator[None]:
    """Let ``listener`` hear the products done inside the block, in this thread, after those who listen already.

    With None nobody hears them.

    >>> heard = []
    >>> with listening(lambda work, products: heard.append((work, products))):
    ...     beat("eigenvector", 2)
    >>> beat("eigenvector", 1)
    >>> heard
    [('eigenvector', 2)]
    """
    others = _listener.get()

    def all_hear(work: str, products: int) -> None:
        for each in (others, listener):
            if each is not None:
                each(work, products)

    token = _listener.set(None if listener is None else all_hear)
    try:
        yield
    finally:
        _listener.reset(token)


def out_of_time() -> bool:
    """Whether the run's time is up: asked between the trials of a line search, which may be long.

    Where a whole iteration stands that the run can return, this does not return but gives the present one up.
    """
    over = _clock.get()
    return over is not None and over()


@contextmanager
def timed(over: Callable[[], bool]) -> Generator[None]:
    """Let ``over`` say inside the block, in this thread, whether the time is up.

    >>> with timed(lambda: True):
    ...     out_of_time()
    True
    """
    token = _clock.set(over)
    try:
        yield
    finally:
        _clock.reset(token)
