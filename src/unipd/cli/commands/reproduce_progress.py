"""The progress of the methods behind a figure of the paper, in lines."""

from __future__ import annotations

import time
from collections.abc import Callable

from unipd.cli.exits import say

INTERVAL = 5.0
"""Seconds between two lines."""


def told_now_and_then(words: Callable[[float], str]) -> Callable[[str, int, float], None]:
    """Return a function of (method, iteration, figure) that writes a line every few seconds; ``words`` say the figure.

    >>> told_now_and_then(str)("unipdgrad", 1, 0.5)
    """
    last = time.perf_counter()

    def show(name: str, iteration: int, figure: float) -> None:
        nonlocal last
        if time.perf_counter() - last >= INTERVAL:
            last = time.perf_counter()
            say(f"{name}: iteration {iteration}, {words(figure)}")

    return show
