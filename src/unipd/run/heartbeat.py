"""What a display says while an iteration takes long: the work at hand and its products."""

from __future__ import annotations

import time
from collections.abc import Callable

SILENCE = 5.0
"""Seconds without a sign after which the work at hand is shown; later a tenth of the time spent."""
QUIET_SHARE = 0.1


class Heartbeat:
    """Listener of products: after a silence it says what is being done.

    Parameters
    ----------
    say
        Called with the seconds since the beginning and one line of text.
    silence
        Seconds between lines at least; None for one that grows with the run.
    clock
        Returns seconds.

    Examples
    --------
    >>> times = iter([0.0, 1.0, 8.0])
    >>> lines = []
    >>> pulse = Heartbeat(lambda seconds, text: lines.append(text), clock=lambda: next(times))
    >>> pulse("eigenvector", 1); pulse("eigenvector", 3)
    >>> lines
    ['eigenvector: 4 products, 0.5 a second']
    """

    def __init__(
        self,
        say: Callable[[float, str], None],
        silence: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._say, self._silence, self._clock = say, silence, clock
        self._begun = self._heard = self._phase = clock()
        self._work, self._products, self._before = "", 0, self._begun

    def __call__(self, work: str, products: int) -> None:
        """Count products and, after a silence, say so."""
        now = self._clock()
        if work != self._work:
            self._work, self._products, self._phase = work, 0, self._before
        self._products, self._before = self._products + products, now
        spent = now - self._begun
        silence = max(SILENCE, QUIET_SHARE * spent) if self._silence is None else self._silence
        if now - self._heard >= silence:
            self._heard = now
            rate = self._products / max(now - self._phase, 1e-9)
            self._say(spent, f"{work}: {self._products} products, {rate:.2g} a second")

    def iterated(self) -> None:
        """Begin a new count: an iteration was shown."""
        self._work, self._heard = "", self._clock()
