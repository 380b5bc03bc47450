"""Threads that share the chunks of a kernel.

The kernels release Python's global lock and take chunk after chunk from a shared counter, so a thread that is held up
leaves its share to the others. Each chunk writes to its own memory, and the chunks depend on the strings alone: results
are the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from unipd._typing import IntArray


@cache
def _pool(helpers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(helpers, thread_name_prefix="unipd-pauli")


if hasattr(os, "register_at_fork"):  # a forked child has the pool but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def available_threads(asked: int | None) -> int:
    """Return ``asked``, or Numba's current number of threads (NUMBA_NUM_THREADS) when it is None.

    >>> available_threads(3)
    3
    """
    if asked is not None:
        return asked
    import numba

    return int(numba.get_num_threads())


def share(threads: int, work: Callable[[IntArray], Any]) -> None:
    """Call ``work(counter)`` on so many threads, this one included, with one shared counter that starts at 0.

    >>> share(2, lambda counter: None)
    """
    counter = np.zeros(1, np.int64)
    helpers = [_pool(threads - 1).submit(work, counter) for _ in range(threads - 1)]
    try:
        work(counter)
    finally:
        for helper in helpers:
            if not helper.cancel():  # one that has not begun has nothing left to do
                helper.result()
