"""What surrounds a command: versions and threads."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Generator
from importlib import metadata
from typing import Any

from unipd._version import __version__

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def about(name: str) -> str:
    """Return a line about what runs: command, versions, cores and threads.

    >>> about("solve").startswith("solve: unipd ")
    True
    """
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("numpy", "scipy", "numba"))
    threads = [f"{variable}={os.environ[variable]}" for variable in _THREAD_VARIABLES if variable in os.environ]
    place = f"{os.cpu_count()} cores" + "".join(f", {each}" for each in threads)
    return f"{name}: unipd {__version__}, Python {platform.python_version()}, {versions}, {place}"


@contextlib.contextmanager
def limited_threads(count: int | None) -> Generator[None]:
    """Let numba, BLAS (through threadpoolctl, when installed) and child processes use at most ``count`` threads.

    >>> with limited_threads(1):
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
    if count is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment(count))
        with contextlib.suppress(ImportError):
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(limits=count))
        stack.enter_context(_numba_threads(count))
        yield


@contextlib.contextmanager
def _environment(count: int) -> Generator[None]:
    """Set the variables that libraries not loaded yet, and child processes, read."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _numba_threads(count: int) -> Generator[None]:
    """Limit numba when it is loaded already; otherwise the environment does."""
    if "numba" not in sys.modules:
        yield
        return
    import numba
    from numba.core import config

    before = numba.get_num_threads()
    most: Any = vars(config)["NUMBA_NUM_THREADS"]
    numba.set_num_threads(min(count, int(most)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
