"""A sharp oracle that counts its calls."""

from __future__ import annotations

import threading
import time
from typing import Any

from unipd.protocols import SharpAnswer, SharpOracle


class Counted:
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
        self.oracle = oracle
        self.reset()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Set the counters to zero."""
        self.calls = 0
        self.value_calls = 0
        self.seconds = 0.0

    @property
    def shape(self) -> Any:
        """Shape of x."""
        return self.oracle.shape

    @property
    def exact(self) -> bool:
        """Whether the oracle is exact."""
        return self.oracle.exact

    @property
    def degree(self) -> float | None:
        """The oracle's degree."""
        return self.oracle.degree

    @property
    def linear(self) -> bool:
        """Whether the oracle's f is linear."""
        return self.oracle.linear

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask the oracle and count a call."""
        began = time.perf_counter()
        try:
            return self.oracle(direction, tolerance=tolerance, start=start)
        finally:
            self._add(1, 0, time.perf_counter() - began)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for the oracle's maximum alone and count it."""
        began = time.perf_counter()
        try:
            return self.oracle.value(direction, tolerance=tolerance, start=start)
        finally:
            self._add(0, 1, time.perf_counter() - began)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for an answer with the oracle's strongest certificate and count a call."""
        began = time.perf_counter()
        ask = getattr(self.oracle, "certified", self.oracle)
        try:
            return ask(direction, tolerance=tolerance, start=start)
        finally:
            self._add(1, 0, time.perf_counter() - began)

    def objective(self, x: Any) -> float:
        """Return the oracle's f(x)."""
        return self.oracle.objective(x)

    def support(self, direction: Any) -> float:
        """Return the oracle's support function."""
        return self.oracle.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the oracle's set."""
        return self.oracle.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the oracle's maximum of f."""
        return self.oracle.maximum()

    def __getattr__(self, name: str) -> Any:
        if name == "oracle":  # not set yet, as when unpickling
            raise AttributeError(name)
        return getattr(self.oracle, name)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def _add(self, calls: int, value_calls: int, seconds: float) -> None:
        with self._lock:
            self.calls += calls
            self.value_calls += value_calls
            self.seconds += seconds
