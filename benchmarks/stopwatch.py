"""CPU time inside calls of chosen objects, for benchmarks that tell a library's own time from its parts'."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np

clock = time.process_time


class Stopwatch:
    """CPU seconds spent inside the wrapped calls, and how many there were."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self.busy = False

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call with its time added to the watch; calls inside of timed ones are part of those."""

        def run(*arguments: Any, **options: Any) -> Any:
            if self.busy:
                return call(*arguments, **options)
            self.busy, begun = True, clock()
            try:
                return call(*arguments, **options)
            finally:
                self.calls += 1
                self.seconds += clock() - begun
                self.busy = False

        return run

    def on(self, inner: Any, names: tuple[str, ...]) -> Any:
        """Return a twin of an object whose named methods are timed; all else is found as directly as before."""
        kind = type(inner)
        twin = copy.copy(inner)
        twin.__class__ = type(kind.__name__, (kind,), {name: self.timed(getattr(kind, name)) for name in names})
        return twin


def _large_product() -> Callable[[], Any]:
    large, vector = np.ones((1000, 5000)), np.ones(1000)
    return lambda: vector @ large


def stopwatch_cost(before: Callable[[], Any] | None = None, repeats: int = 200) -> float:
    """Return the seconds that one timed call adds outside of what the watch sees, where a product went before.

    A product with a large matrix, or what is given, empties the caches, so that even a call of nothing takes
    microseconds after it.
    """
    empty = before or _large_product()
    watch, around, alone = Stopwatch(), list[float](), list[float]()
    nothing = watch.timed(lambda: None)
    for _ in range(repeats):
        empty()
        begun, watch.seconds = clock(), 0.0
        nothing()
        around.append(clock() - begun - watch.seconds)
        empty()
        begun = clock()
        alone.append(clock() - begun)
    return float(np.median(around) - np.median(alone))
