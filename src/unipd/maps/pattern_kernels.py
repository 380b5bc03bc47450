"""Compiled passes over places that come before any product: counting, sorting, duplicates.

Lines, starts and places are those of :mod:`unipd.maps.sampling_kernels`; indices are unsigned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def count(lines: IntArray, starts: IntArray) -> None:
    """Add the number of entries of line i to ``starts[i + 1]``."""
    for k in range(lines.size):
        starts[lines[k] + _ONE] += _ONE


@njit(cache=True, nogil=True)
def counting_sort(lines: IntArray, starts: IntArray, order: IntArray) -> None:
    """Write to ``order`` the entries sorted by line, those of one line in the order given (a stable sort)."""
    nexts = starts.copy()
    for k in range(lines.size):
        line = lines[k]
        order[nexts[line]] = k
        nexts[line] += _ONE


@njit(cache=True, nogil=True)
def has_duplicates(starts: IntArray, places: IntArray, width: int) -> bool:
    """Whether a line holds one place twice."""
    last = np.zeros(width, np.uint64)
    for line in range(starts.size - 1):
        for k in range(starts[line], starts[line + 1]):
            if last[places[k]] == line + 1:
                return True
            last[places[k]] = line + 1
    return False


@njit(cache=True, nogil=True)
def squared_norm(starts: IntArray, places: IntArray, values: Array, width: int) -> float:
    """Return the sum of squares of the matrix's entries, duplicated measurements added up first."""
    work = np.zeros(width, values.dtype)
    total = 0.0
    for line in range(starts.size - 1):
        for k in range(starts[line], starts[line + 1]):
            work[places[k]] += values[k]
        for k in range(starts[line], starts[line + 1]):
            entry: Any = work[places[k]]
            total += entry.real**2 + entry.imag**2
            work[places[k]] = 0
    return total
