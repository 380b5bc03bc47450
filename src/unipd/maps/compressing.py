"""How the places of a sampled matrix are compressed: by lines, sorted in linear time, cut into parts of equal work."""

from __future__ import annotations

import numpy as np

from unipd._typing import IntArray


def orientation(rows: IntArray, cols: IntArray, shape: tuple[int, int]) -> tuple[bool, bool]:
    """Return whether lines are columns, and whether the entries come sorted by line."""
    if _nondecreasing(rows):
        return False, True
    if _nondecreasing(cols):
        return True, True
    return shape[1] > shape[0], False


def short(places: IntArray, width: int) -> IntArray:
    """Return places as 16-bit integers where they fit: what is not read leaves its room in the caches to the values."""
    return places.astype(np.uint16) if width <= 1 << 16 else places


def _nondecreasing(array: IntArray) -> bool:
    return bool(np.all(array[1:] >= array[:-1]))


def line_starts(lines: IntArray, count: int) -> IntArray:
    """Return where each line begins (and the last one ends) once entries are sorted by line."""
    from unipd.maps import pattern_kernels  # Numba is slow to import

    starts = np.zeros(count + 1, np.uint64)
    pattern_kernels.count(lines, starts)
    return np.cumsum(starts, dtype=np.uint64)


def sorting_order(lines: IntArray, starts: IntArray) -> IntArray:
    """Return the stable order that sorts the entries by line."""
    from unipd.maps import pattern_kernels

    order = np.empty(lines.size, np.uint32 if lines.size < 2**32 else np.uint64)
    pattern_kernels.counting_sort(lines, starts, order)
    return order


def balanced(starts: IntArray, chunks: int) -> IntArray:
    """Cut the lines into chunks of about as many entries and lines each."""
    cost = starts.astype(np.float64) + np.arange(starts.size)
    bounds = np.searchsorted(cost, np.linspace(0.0, cost[-1], chunks + 1)).astype(np.uint64)
    bounds[0], bounds[-1] = 0, starts.size - 1
    return bounds
