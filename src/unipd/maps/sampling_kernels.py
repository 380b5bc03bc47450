"""Compiled kernels of sampled matrices: products along and across lines, and Golub-Kahan bidiagonalization.

The entries of one line (a row, or a column in the transposed orientation) are contiguous: ``starts[i]:starts[i+1]`` are
those of line i, and ``places[k]`` is the position of entry k inside its line. Indices are unsigned, so that the loops
need not test for negative ones.

Kernels take chunk after chunk of the lines, ``bounds[c]:bounds[c+1]``, from a counter that threads may share, without
Python's global lock. Sums inside a line may be reordered by the compiler (which makes them fast), but every thread runs
the same compiled code on whole lines. A kernel that other kernels call is forced into them (``forceinline``) where sums
are reordered: otherwise the process that compiles them would link other copies of it than processes that load them from
the cache, and sums would be added in another order.

A whole bidiagonalization in one compiled call, on one thread, serves patterns so small that Python would dominate.
"""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.lazy import REORDER, njit
from unipd.maps.pauli.simd import fetch_and_increment, pointer
from unipd.spectral.kernels import (
    may_stop,
    may_stop_if_due,
    orthogonality_threshold,
    orthonormalize_next,
    top_triple,
    write_start,
)

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def gather(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write out_i = sum over k in line i of values_k x[places_k]."""
    chunk = fetch_and_increment(pointer(counter))
    while chunk < bounds.size - 1:
        k = starts[bounds[chunk]]
        for line in range(bounds[chunk], bounds[chunk + 1]):
            end = starts[line + _ONE]
            total = out.dtype.type(0)
            while k < end:
                total += values[k] * x[places[k]]
                k += _ONE
            out[line] = total
        chunk = fetch_and_increment(pointer(counter))


@njit(cache=True, nogil=True)
def scatter(
    starts: IntArray, places: IntArray, values: Array, x: Array, parts: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write to ``parts[chunk]`` the sums of values_k x_i over the entries k of the chunk's lines i, at places_k."""
    chunk = fetch_and_increment(pointer(counter))
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
        chunk = fetch_and_increment(pointer(counter))


@njit(cache=True, nogil=True)
def gather_block(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write the product of :func:`gather` for all columns of a block x."""
    chunk = fetch_and_increment(pointer(counter))
    while chunk < bounds.size - 1:
        for line in range(bounds[chunk], bounds[chunk + 1]):
            out[line] = 0
            for k in range(starts[line], starts[line + _ONE]):
                value = values[k]
                place = places[k]
                for column in range(x.shape[1]):
                    out[line, column] += value * x[place, column]
        chunk = fetch_and_increment(pointer(counter))


@njit(cache=True, nogil=True)
def scatter_block(
    starts: IntArray, places: IntArray, values: Array, x: Array, parts: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write the product of :func:`scatter` for all columns of a block x."""
    chunk = fetch_and_increment(pointer(counter))
    while chunk < bounds.size - 1:
        out = parts[chunk]
        out[:] = 0
        for line in range(bounds[chunk], bounds[chunk + 1]):
            for k in range(starts[line], starts[line + _ONE]):
                value = values[k]
                place = places[k]
                for column in range(x.shape[1]):
                    out[place, column] += value * x[line, column]
        chunk = fetch_and_increment(pointer(counter))


@njit(cache=True, nogil=True, fastmath=REORDER)
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
    """Write the entries sum_q left_iq right_jq of a low-rank matrix, k to ``out[order[k]]`` (no order: ``out[k]``)."""
    chunk = fetch_and_increment(pointer(counter))
    while chunk < bounds.size - 1:
        for line in range(bounds[chunk], bounds[chunk + 1]):
            low, high = starts[line], starts[line + _ONE]
            if left.shape[1] == 1:  # two loops of their own are vectorised, twice as fast
                factor = left[line, 0]
                if order.size == 0:
                    for k in range(low, high):
                        out[k] = factor * right[places[k], 0]
                else:
                    for k in range(low, high):
                        out[order[k]] = factor * right[places[k], 0]
                continue
            for k in range(low, high):
                total = out.dtype.type(0)
                for q in range(left.shape[1]):
                    total += left[line, q] * right[places[k], q]
                out[order[k] if order.size else k] = total
        chunk = fetch_and_increment(pointer(counter))


@njit(cache=True, nogil=True, forceinline=True)
def multiply_serial(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered: bool,
    x: Array,
    parts: Array,
    out: Array,
) -> None:
    """Write the product with a vector, along the lines or across them (into ``parts``, which are added in order)."""
    starts, places, line_bounds, scatter_bounds = structure
    counter = np.zeros(1, np.int64)
    if not scattered:
        gather(starts, places, values, x, out, line_bounds, counter)
        return
    scatter(starts, places, values, x, parts, scatter_bounds, counter)
    for i in range(out.size):  # an assignment of arrays takes seconds to compile
        out[i] = parts[0, i]
    for part in range(1, len(parts)):
        for i in range(out.size):
            out[i] += parts[part, i]


@njit(cache=True, nogil=True, forceinline=True)
def golub_kahan_partial_steps(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered_first: bool,
    sign: float,
    bases: tuple[Array, Array],
    small: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
) -> tuple[int, int, bool]:
    """Do steps first, ..., last - 1 of the bidiagonalisation of ``sign`` * M with partial reorthogonalisation.

    A step takes right[k] to left[k] and right[k + 1] (vectors are rows), and writes alpha = B[k, k] and
    beta = B[k, k + 1] to ``small``, with estimates of how far the last vectors are from orthogonal
    (:mod:`unipd.spectral.kernels`). Ends early when the ``goals`` are reached (tested now and then), and
    before a step whose vectors vanish or are not finite. Returns the steps done, the products made, and whether
    vectors were reorthogonalised: the components removed are not in B.
    """
    left, right = bases
    parts = np.empty((structure[3].size - 1, left.shape[1] if scattered_first else right.shape[1]), values.dtype)
    small[2:, first] = 1.0
    pending, scale, reorthogonalized = 0, 0.0, False
    for k in range(first):
        scale = max(scale, math.hypot(small[0, k], small[1, k]))
    for k in range(first, last):
        multiply_serial(structure, values, scattered_first, right[k], parts, left[k])
        alpha, scale, pending = orthonormalize_next(left, k, small, scale, pending, sign, True)
        reorthogonalized = reorthogonalized or pending > 0
        if alpha == 0.0:
            return k - first, 2 * (k - first) + 1, reorthogonalized
        multiply_serial(structure, values, not scattered_first, left[k], parts, right[k + 1])
        beta, scale, pending = orthonormalize_next(right, k, small, scale, pending, sign, False)
        reorthogonalized = reorthogonalized or pending > 0
        if beta == 0.0:
            return k - first, 2 * (k - first) + 2, reorthogonalized
        if may_stop_if_due(small, k + 1, goals):
            return k + 1 - first, 2 * (k + 1 - first), reorthogonalized
    return last - first, 2 * (last - first), reorthogonalized


@njit(cache=True, nogil=True, forceinline=True)
def compiled_bidiagonalization(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered_first: bool,
    sign: float,
    start: tuple[Array, FloatArray, float],
    bases: tuple[Array, Array],
    small: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
    ends: tuple[Array, Array],
) -> tuple[int, int, float, float]:
    """Do a whole run with ``sign`` * M up to its goals; return steps done, products made, top Ritz value and residual.

    Its vectors are written to ``ends`` (left, right). A value of 0 means that the goals were not reached. A new run
    begins with ``start`` (``write_start``); a continued one first tests whether it may stop. Products of -1 mean that
    the starting vector is not finite.
    """
    if first == 0 and not write_start(start[0], start[1], start[2], bases[1][0]):
        return 0, -1, 0.0, 0.0
    done, made, reorthogonalized = 0, 0, first > 0
    reached = first > 0 and may_stop(small, first, goals)
    if not reached:
        done, made, again = golub_kahan_partial_steps(
            structure, values, scattered_first, sign, bases, small, first, last, goals
        )
        reorthogonalized = reorthogonalized or again
        whole = done > 0 and made == 2 * done
        reached = whole and (done < last - first or may_stop(small, last, goals))
    if not reached:
        return done, made, 0.0, 0.0
    value, residual = top_triple(bases, small, first + done, goals, ends)
    return done, made, value, residual + (orthogonality_threshold(values.dtype) * value if reorthogonalized else 0.0)
