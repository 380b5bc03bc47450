"""How often a checkpoint is written: after so many seconds, or so many iterations."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from unipd.errors import InvalidInput

_EXPECTED = 'an interval such as "60s", "5m", "1h", "10it", or a number of seconds'
_SECONDS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SECONDS_LONG = {"": 1.0, "seconds": 1.0, "minutes": 60.0, "hours": 3600.0}
_ITERATIONS = ("it", "iteration", "iterations")


@dataclass(frozen=True)
class Every:
    """An interval in seconds or in iterations; one of the two is None.

    >>> Every.parse("5m"), Every.parse("10 iterations"), Every.parse(0.5)
    (Every(seconds=300.0, iterations=None), Every(seconds=None, iterations=10), Every(seconds=0.5, iterations=None))
    """

    seconds: float | None = None
    iterations: int | None = None

    @staticmethod
    def parse(text: str | float) -> Every:
        """Return the interval that a text or a number of seconds means."""
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            return Every._of(float(text), "", repr(text))
        found = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-z]*)\s*", text) if isinstance(text, str) else None
        try:
            return Every._of(float(found[1]), found[2], repr(text)) if found else Every._of(-1.0, "", repr(text))
        except ValueError:
            raise InvalidInput("every", _EXPECTED, repr(text)) from None

    @staticmethod
    def _of(number: float, unit: str, given: str) -> Every:
        if not (math.isfinite(number) and number >= 0.0):
            raise InvalidInput("every", _EXPECTED, given)
        if unit in _ITERATIONS and number == int(number) and number >= 1.0:
            return Every(iterations=int(number))
        scale = _SECONDS.get(unit, _SECONDS_LONG.get(unit))
        if scale is None:
            raise InvalidInput("every", _EXPECTED, given)
        return Every(seconds=number * scale)

    def due(self, seconds: float, iterations: int) -> bool:
        """Whether to write after so many seconds and iterations since the last time.

        >>> Every(seconds=60.0).due(59.0, 1000), Every(iterations=10).due(0.0, 10)
        (False, True)
        """
        return seconds >= self.seconds if self.seconds is not None else iterations >= (self.iterations or 1)
