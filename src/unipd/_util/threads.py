"""Threads: a pool that takes the chunks of a computation one after the other, and limits for libraries."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray


@cache
def _pool(helpers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(helpers, thread_name_prefix="unipd-chunks")


if hasattr(os, "register_at_fork"):  # a forked child has the pool but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def available_threads(requested: int | None) -> int:
    """Return ``requested``, or Numba's current number of threads (NUMBA_NUM_THREADS) when it is None.

    >>> available_threads(3)
    3
    """
    if requested is not None:
        return requested
    numba = sys.modules.get("numba")
    if numba is not None:
        return int(numba.get_num_threads())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("NUMBA_NUM_THREADS") or cores)  # what Numba would begin with


def run_chunks(work: Callable[[int], None], chunks: int, threads: int) -> None:
    """Call ``work(i)`` for every chunk i on ``threads`` threads, this one included.

    A thread that is held up leaves its share to the others, and helpers that have not begun when the work is done
    are not waited for: a busy machine makes this no slower than one thread. ``work`` should release Python's
    global lock, and chunks must write to different memory.

    >>> done = []
    >>> run_chunks(done.append, 3, threads=2)
    >>> sorted(done)
    [0, 1, 2]
    """
    if threads == 1 or chunks == 1:
        for chunk in range(chunks):
            work(chunk)
        return
    numbers = itertools.count()

    def take() -> None:
        while (chunk := next(numbers)) < chunks:
            work(chunk)

    run_on_threads(take, min(threads, chunks))


CACHE_ENTRIES = 1 << 16
"""Entries of the parts in which long arrays are processed: they and a few temporaries fit in a processor's cache."""
ENTRIES_PER_CHUNK = 1 << 19
"""Entries of the rows of a chunk: enough to outweigh the cost of handing it to a thread."""


def sum_over_rows(work: Callable[[int, int], Any], rows: int, columns: int) -> FloatArray:
    """Call ``work(first, last)`` on ranges of the rows of an array, on all threads; return the sum of what it returns.

    The ranges depend on the shape alone and their sums are added in order, so the number of threads changes nothing.

    >>> float(sum_over_rows(lambda first, last: float(last - first), 10, 1 << 18))
    10.0
    """
    length = max(1, ENTRIES_PER_CHUNK // max(1, columns))
    if rows <= length:
        return np.asarray(work(0, rows), np.float64)
    chunks = -(-rows // length)
    parts: list[Any] = [0.0] * chunks

    def run(chunk: int) -> None:
        parts[chunk] = work(chunk * length, min((chunk + 1) * length, rows))

    run_chunks(run, chunks, available_threads(None))
    return np.asarray(parts, np.float64).sum(axis=0)


def run_on_threads(work: Callable[[], object], threads: int) -> None:
    """Call ``work()`` on ``threads`` threads, this one included; helpers that have not begun by its end are cancelled.

    >>> run_on_threads(lambda: None, 2)
    """
    held = [work]  # a cancelled helper stays queued for a while: it must not keep the arrays of the work alive
    helpers = [_pool(threads - 1).submit(lambda: held[0]()) for _ in range(threads - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()
        held.clear()


def share(threads: int, work: Callable[[IntArray], Any]) -> None:
    """Call ``work(counter)`` on ``threads`` threads, this one included, with one shared counter that starts at 0.

    Compiled kernels take chunk after chunk from the counter without Python's global lock.

    >>> share(2, lambda counter: None)
    """
    counter = np.zeros(1, np.int64)
    run_on_threads(lambda: work(counter), threads)


_single = ExitStack()
_holders = 0
_lock = threading.Lock()


@contextmanager
def single_thread_blas(condition: bool = True) -> Generator[None]:
    """Use one BLAS thread, given threadpoolctl, until the last run that asks for it has ended.

    NumPy and SciPy have BLAS threads of their own, which spin while they wait for work: where calls of the two
    alternate, those of one keep the cores from the other, and small matrices may take five times as long.

    >>> with single_thread_blas():
    ...     pass
    """
    global _holders
    if not condition:
        yield
        return
    importlib.import_module("scipy.linalg")  # with its threads
    with _lock:
        _holders += 1
        if _holders == 1:
            _single.enter_context(limit_blas_threads(1))
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _single.close()


def limit_blas_threads(count: int, user_api: str | None = "blas") -> AbstractContextManager[Any]:
    """Return a context with at most ``count`` BLAS threads (``user_api=None``: OpenMP too), given threadpoolctl.

    >>> with limit_blas_threads(1):
    ...     pass
    """
    try:
        controller = _thread_controller(*(name in sys.modules for name in ("scipy.linalg", "sklearn", "numba")))
    except ImportError:
        return nullcontext()
    return controller.limit(limits=count, user_api=user_api)


@cache
def _thread_controller(*loaded: bool) -> Any:
    """Return what limits the threads of all libraries; finding them takes milliseconds, so once per set of packages."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def limit_threads(count: int) -> Generator[None]:
    """Limit BLAS, OpenMP and, if it is loaded, Numba to ``count`` threads.

    >>> with limit_threads(1):
    ...     pass
    """
    with limit_blas_threads(count, None):
        if "numba" not in sys.modules:
            yield
            return
        import numba
        from numba.core import config

        before, most = numba.get_num_threads(), int(vars(config)["NUMBA_NUM_THREADS"])
        numba.set_num_threads(max(1, min(count, most)))
        try:
            yield
        finally:
            numba.set_num_threads(before)
