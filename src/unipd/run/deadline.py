"""A time limit that is kept inside long iterations too."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from unipd import pulse


class TimeIsUp(BaseException):
    """Raised from inside an iteration when the time limit has passed; no error, and caught by the run."""


@contextmanager
def given_up_when(over: Callable[[], bool], whole: Callable[[], bool]) -> Generator[None]:
    """Give up the iteration inside the block, at its next product or trial, once ``over()`` is true.

    Eigensolvers and quasi-Newton steps tell of their products, line searches ask between trials
    (:mod:`unipd.pulse`): that is where this looks. States are never changed in place, so that the one before the
    iteration stands. Until ``whole()`` says that there is one, only line searches are cut short.

    >>> try:
    ...     with given_up_when(lambda: True, lambda: True):
    ...         pulse.beat("eigenvector", 1)
    ... except TimeIsUp:
    ...     print("given up")
    given up
    """

    def look() -> bool:
        if not over():
            return False
        if whole():
            raise TimeIsUp
        return True

    def listen(work: str, products: int) -> None:
        look()

    with pulse.listening(listen), pulse.timed(look):
        yield
