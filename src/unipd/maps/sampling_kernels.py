"""Compiled products with a sampled matrix in compressed form: the inner loops of :mod:`unipd.maps.pattern`.

The entries of one line (a row, or a column in the transposed orientation) are contiguous: ``starts[i]:starts[i+1]``
are those of line i, and ``places[k]`` is the position of entry k inside its line. Indices are unsigned, so
that the loops need not look for negative ones.

Kernels take chunk after chunk of the lines, ``bounds[c]:bounds[c+1]``, from a counter that threads may share, without
Python's global lock. Sums inside a line may be reordered by the compiler (that is what makes them fast), but every
thread runs the same compiled code on whole lines. What other kernels call is forced into them (``forceinline``), where
sums are reordered: else the process that compiles them would link other copies of it than those that find them in the
cache, whose sums are added in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray
from unipd.maps.pauli.pointers import pointer, take

_ONE = np.uint64(1)
_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def gather(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write out_i = sum over k in line i of values_k x[places_k]."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
        k = starts[bounds[chunk]]
        for line in range(bounds[chunk], bounds[chunk + 1]):
            end = starts[line + _ONE]
            total = out.dtype.type(0)
            while k < end:
                total += values[k] * x[places[k]]
                k += _ONE
            out[line] = total
        chunk = take(pointer(counter))


@njit(cache=True, nogil=True)
def scatter(
    starts: IntArray, places: IntArray, values: Array, x: Array, parts: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write to ``parts[chunk]`` the sums of values_k x_i over the entries k of the chunk's lines i, at places_k."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
        out = parts[chunk]
        out[:] = 0
        k = starts[bounds[chunk]]
        for line in range(bounds[chunk], bounds[chunk + 1]):
            end = starts[line + _ONE]
            factor = x[line]
            while k < end:
                out[places[k]] += values[k] * factor
                k += _ONE
        chunk = take(pointer(counter))


@njit(cache=True, nogil=True)
def gather_block(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Do as :func:`gather` for the columns of a block x at once."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
        for line in range(bounds[chunk], bounds[chunk + 1]):
            out[line] = 0
            for k in range(starts[line], starts[line + _ONE]):
                value = values[k]
                place = places[k]
                for column in range(x.shape[1]):
                    out[line, column] += value * x[place, column]
        chunk = take(pointer(counter))


@njit(cache=True, nogil=True)
def scatter_block(
    starts: IntArray, places: IntArray, values: Array, x: Array, parts: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Do as :func:`scatter` for the columns of a block x at once."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
        out = parts[chunk]
        out[:] = 0
        for line in range(bounds[chunk], bounds[chunk + 1]):
            for k in range(starts[line], starts[line + _ONE]):
                value = values[k]
                place = places[k]
                for column in range(x.shape[1]):
                    out[place, column] += value * x[line, column]
        chunk = take(pointer(counter))


@njit(cache=True, nogil=True)
def sample_outer(
    starts: IntArray,
    places: IntArray,
    left: Array,
    right: Array,
    order: IntArray,
    out: Array,
    bounds: IntArray,
    counter: IntArray,
) -> None:
    """Write the entries left_i right_j of a rank-one matrix, entry k to ``out[order[k]]`` (no order: ``out[k]``)."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
        for line in range(bounds[chunk], bounds[chunk + 1]):
            factor = left[line]
            for k in range(starts[line], starts[line + _ONE]):
                if order.size == 0:
                    out[k] = factor * right[places[k]]
                else:
                    out[order[k]] = factor * right[places[k]]
        chunk = take(pointer(counter))


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def sample_factors(
    starts: IntArray,
    places: IntArray,
    left: Array,
    right: Array,
    order: IntArray,
    out: Array,
    bounds: IntArray,
    counter: IntArray,
) -> None:
    """Write the entries sum_q left_iq right_jq of a low-rank matrix, in the order of :func:`sample_outer`."""
    chunk = take(pointer(counter))
    while chunk < bounds.size - 1:
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
        chunk = take(pointer(counter))
