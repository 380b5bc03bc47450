"""Threads that share the chunks of a kernel.

The kernels release Python's global lock and take chunk after chunk from a shared counter, so a thread that is held up
leaves its share to the others. Each chunk writes to its own memory, and the chunks depend on the strings alone: results
are the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import IntArray
from unipd.maps.chunks import on_threads


def share(threads: int, work: Callable[[IntArray], Any]) -> None:
    """Call ``work(counter)`` on so many threads, this one included, with one shared counter that starts at 0.

    >>> share(2, lambda counter: None)
    """
    counter = np.zeros(1, np.int64)
    on_threads(lambda: work(counter), threads)
