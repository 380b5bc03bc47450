"""One thread for BLAS where its matrices are small: waiting for the others costs more than they bring."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

SMALL = 50_000
"""Rows of the factors up to which one thread is enough."""


def modest_blas(rows: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS has one thread, when factors have few rows and threadpoolctl is installed.

    >>> with modest_blas(1000):
    ...     pass
    """
    if rows > SMALL:
        return contextlib.nullcontext()
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(limits=1, user_api="blas")
