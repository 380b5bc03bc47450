"""Compiled products with a sampled matrix in compressed form: the inner loops of :mod:`unipd.maps.pattern`.

The entries of one line (a row, or a column of the transposed orientation) are contiguous: ``starts[i]:starts[i+1]``
are those of line i and ``places[k]`` is the position of entry k inside its line. Indices are unsigned so
that no negative index has to be looked for in the loops.

Each kernel works on the lines ``low:high``; its parallel twin runs the same code over chunks of lines that write
to disjoint places, so that no result depends on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from unipd._typing import Array, IntArray

_ONE, _TWO, _THREE, _FOUR = (np.uint64(number) for number in (1, 2, 3, 4))
_LONG_LINE = np.uint64(24)
_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True)
def gather(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Write out_i = sum over k in line i of values_k x[places_k].

    Long lines are summed in four strands, which the processor adds side by side; the order of additions is
    written out, so that it is the same wherever this is compiled into.
    """
    for line in range(low, high):
        start, stop = starts[line], starts[line + _ONE]
        first = out.dtype.type(0)
        if stop - start >= _LONG_LINE:
            second, third, fourth = first, first, first
            while start + _THREE < stop:
                first += values[start] * x[places[start]]
                second += values[start + _ONE] * x[places[start + _ONE]]
                third += values[start + _TWO] * x[places[start + _TWO]]
                fourth += values[start + _THREE] * x[places[start + _THREE]]
                start += _FOUR
            first = (first + second) + (third + fourth)
        for k in range(start, stop):
            first += values[k] * x[places[k]]
        out[line] = first


@njit(cache=True, parallel=True)
def gather_parallel(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray) -> None:
    """Run :func:`gather` over chunks of lines in parallel."""
    for chunk in prange(bounds.size - 1):
        gather(starts, places, values, x, out, bounds[chunk], bounds[chunk + 1])


@njit(cache=True, nogil=True)
def scatter(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """Add values_k x_i to out[places_k] for the entries k of every line i."""
    for line in range(low, high):
        factor = x[line]
        for k in range(starts[line], starts[line + _ONE]):
            out[places[k]] += values[k] * factor


@njit(cache=True, parallel=True)
def scatter_parallel(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray) -> None:
    """Run :func:`scatter` over chunks of lines, each into its own ``out[chunk]``."""
    for chunk in prange(bounds.size - 1):
        scatter(starts, places, values, x, out[chunk], bounds[chunk], bounds[chunk + 1])


@njit(cache=True, nogil=True)
def gather_block(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """:func:`gather` for the columns of a block x at once; ``out`` is added to."""
    for line in range(low, high):
        for k in range(starts[line], starts[line + _ONE]):
            value = values[k]
            place = places[k]
            for column in range(x.shape[1]):
                out[line, column] += value * x[place, column]


@njit(cache=True, parallel=True)
def gather_block_parallel(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray
) -> None:
    """Run :func:`gather_block` over chunks of lines in parallel."""
    for chunk in prange(bounds.size - 1):
        gather_block(starts, places, values, x, out, bounds[chunk], bounds[chunk + 1])


@njit(cache=True, nogil=True)
def scatter_block(starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, low: Any, high: Any) -> None:
    """:func:`scatter` for the columns of a block x at once."""
    for line in range(low, high):
        for k in range(starts[line], starts[line + _ONE]):
            value = values[k]
            place = places[k]
            for column in range(x.shape[1]):
                out[place, column] += value * x[line, column]


@njit(cache=True, parallel=True)
def scatter_block_parallel(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray
) -> None:
    """Run :func:`scatter_block` over chunks of lines, each into its own ``out[chunk]``."""
    for chunk in prange(bounds.size - 1):
        scatter_block(starts, places, values, x, out[chunk], bounds[chunk], bounds[chunk + 1])


@njit(cache=True, nogil=True)
def sample_outer(
    starts: IntArray,
    places: IntArray,
    order: IntArray,
    left: Array,
    right: Array,
    out: Array,
    low: Any,
    high: Any,
) -> None:
    """Write the entries left_i right_j of a rank-one matrix; entry k goes to ``out[order[k]]`` (``out[k]`` if empty)."""
    for line in range(low, high):
        factor = left[line]
        for k in range(starts[line], starts[line + _ONE]):
            if order.size == 0:
                out[k] = factor * right[places[k]]
            else:
                out[order[k]] = factor * right[places[k]]


@njit(cache=True, parallel=True)
def sample_outer_parallel(
    starts: IntArray, places: IntArray, order: IntArray, left: Array, right: Array, out: Array, bounds: IntArray
) -> None:
    """Run :func:`sample_outer` over chunks of lines in parallel."""
    for chunk in prange(bounds.size - 1):
        sample_outer(starts, places, order, left, right, out, bounds[chunk], bounds[chunk + 1])


# The sums over the rank may be reordered (that is what makes them fast), so there is one compiled version only:
# the parallel one, whatever the number of threads.
@njit(cache=True, parallel=True, fastmath=_REORDERED)
def sample_factors(
    starts: IntArray, places: IntArray, order: IntArray, left: Array, right: Array, out: Array, bounds: IntArray
) -> None:
    """Write the entries sum_q left_iq right_jq of a low-rank matrix; entry k goes to ``out[order[k]]`` (``out[k]`` if empty)."""
    for chunk in prange(bounds.size - 1):
        for line in range(bounds[chunk], bounds[chunk + 1]):
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
