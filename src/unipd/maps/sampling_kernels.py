"""Compiled products with a sampled matrix in compressed form: the inner loops of :mod:`unipd.maps.pattern`.

The entries of one line (a row, or a column in the transposed orientation) are contiguous: ``starts[i]:starts[i+1]``
are those of line i, and ``places[k]`` is the position of entry k inside its line. Indices are unsigned, so
that the loops need not look for negative ones.

Kernels work on the lines ``low:high`` without Python's global lock. Sums inside a line may be reordered by the compiler
(that is what makes them fast), but every thread runs the same compiled code on whole lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray

_ONE = np.uint64(1)
_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def gather(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Write out_i = sum over k in line i of values_k x[places_k]."""
    for line in range(low, high):
        total = out.dtype.type(0)
        for k in range(starts[line], starts[line + _ONE]):
            total += values[k] * x[places[k]]
        out[line] = total


@njit(cache=True, nogil=True)
def scatter(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Add values_k x_i to out[places_k] for the entries k of every line i."""
    for line in range(low, high):
        factor = x[line]
        for k in range(starts[line], starts[line + _ONE]):
            out[places[k]] += values[k] * factor


@njit(cache=True, nogil=True)
def gather_block(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Do as :func:`gather` for the columns of a block x at once; ``out`` is added to."""
    for line in range(low, high):
        for k in range(starts[line], starts[line + _ONE]):
            value = values[k]
            place = places[k]
            for column in range(x.shape[1]):
                out[line, column] += value * x[place, column]


@njit(cache=True, nogil=True)
def scatter_block(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Do as :func:`scatter` for the columns of a block x at once."""
    for line in range(low, high):
        for k in range(starts[line], starts[line + _ONE]):
            value = values[k]
            place = places[k]
            for column in range(x.shape[1]):
                out[place, column] += value * x[line, column]


@njit(cache=True, nogil=True)
def sample_outer(
    starts: IntArray, places: IntArray, left: Array, right: Array, order: IntArray, out: Array, low: Any, high: Any
) -> None:
    """Write the entries left_i right_j of a rank-one matrix, entry k to ``out[order[k]]`` (no order: ``out[k]``)."""
    for line in range(low, high):
        factor = left[line]
        for k in range(starts[line], starts[line + _ONE]):
            if order.size == 0:
                out[k] = factor * right[places[k]]
            else:
                out[order[k]] = factor * right[places[k]]


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def sample_factors(
    starts: IntArray, places: IntArray, left: Array, right: Array, order: IntArray, out: Array, low: Any, high: Any
) -> None:
    """Write the entries sum_q left_iq right_jq of a low-rank matrix, in the order of :func:`sample_outer`."""
    for line in range(low, high):
        for k in range(starts[line], starts[line + _ONE]):
            place = places[k]
            total = out.dtype.type(0)
            for q in range(left.shape[1]):
                total += left[line, q] * right[place, q]
            if order.size == 0:
                out[k] = total
            else:
                out[order[k]] = total


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
