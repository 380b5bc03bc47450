"""CPU time inside calls of chosen objects, for benchmarks that separate a library's own time from that of its parts."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

clock = time.process_time


class Stopwatch:
    """CPU seconds spent inside the wrapped calls, and how many there were.

    A call only writes down when it begins and when it ends, so that the watch disturbs little.
    """

    def __init__(self) -> None:
        self._stamps: list[float] = []
        """When calls began, with a minus sign, and ended."""

    def time_calls(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call with its time added to the watch; calls inside of timed ones are part of those."""
        stamp = self._stamps.append

        def run(*arguments: Any, **options: Any) -> Any:
            stamp(-clock())
            try:
                return call(*arguments, **options)
            finally:
                stamp(clock())

        return run

    def reset(self) -> None:
        """Forget all calls."""
        self._stamps.clear()

    def _outer(self) -> Iterator[float]:
        """Yield the seconds of the calls that are not inside of others."""
        depth, begun = 0, 0.0
        for stamp in self._stamps:
            if stamp < 0.0:
                depth, begun = depth + 1, begun if depth else -stamp
            else:
                depth -= 1
                if not depth:
                    yield stamp - begun

    @property
    def calls(self) -> int:
        """Outermost calls: the cost of timing them is to be subtracted from the rest of the run."""
        return sum(1 for _ in self._outer())

    @property
    def seconds(self) -> float:
        """Seconds inside calls."""
        return sum(self._outer())

    def on(self, inner: Any, names: tuple[str, ...]) -> Any:
        """Return a twin of an object whose named methods are timed; all else is found as directly as before."""
        kind = type(inner)
        twin = copy.copy(inner)
        twin.__class__ = type(kind.__name__, (kind,), {name: self.time_calls(getattr(kind, name)) for name in names})
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
    nothing = watch.time_calls(lambda: None)
    for _ in range(repeats):
        empty()
        watch.reset()
        begun = clock()
        nothing()
        around.append(clock() - begun - watch.seconds)
        empty()
        begun = clock()
        alone.append(clock() - begun)
    return float(np.median(around) - np.median(alone))
