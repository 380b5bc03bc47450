"""A sharp oracle that counts its calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.wrapper import Wrapper


class Counted(Wrapper):
    """An oracle with counters of its calls and of the seconds spent in them; everything else is the oracle's own.

    The counters describe the work done and never the answers, which stay those of the oracle.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> counted = Counted(Simplex(3))
    >>> counted(np.zeros(3)).value, counted.value(np.ones(3)).value
    (0.0, 1.0)
    >>> counted.calls, counted.value_calls
    (1, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        super().__init__(oracle)
        self.reset()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Set the counters to zero."""
        self.calls = 0
        self.value_calls = 0
        self.seconds = 0.0

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask the oracle and count a call."""
        with self._counting(calls=1):
            return super().__call__(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for the oracle's maximum alone and count it."""
        with self._counting(value_calls=1):
            return super().value(direction, tolerance=tolerance, start=start)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for an answer with the oracle's strongest certificate and count a call."""
        with self._counting(calls=1):
            return super().certified(direction, tolerance=tolerance, start=start)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @contextmanager
    def _counting(self, calls: int = 0, value_calls: int = 0) -> Generator[None, None, None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.calls += calls
                self.value_calls += value_calls
                self.seconds += time.perf_counter() - began


def bare(oracle: Any) -> Any:
    """Return an oracle without the counter around it.

    >>> from unipd.sharp import Simplex
    >>> bare(Counted(Simplex(3)))
    Simplex(size=3, scale=1)
    """
    return bare(oracle.oracle) if type(oracle) is Counted else oracle
