"""The kernels of sampled matrices in NumPy, for processes in which Numba may not compile (``NUMBA_DISABLE_JIT=1``).

The functions and arguments are those of :mod:`unipd.maps.sampling_kernels`; they do all chunks at once, on one thread,
and leave the shared counter at the end, so that other threads find nothing to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray


def count_lines(lines: IntArray, starts: IntArray) -> None:
    """Add the number of entries of line i to ``starts[i + 1]``."""
    starts[1:] += np.bincount(lines, minlength=starts.size - 1).astype(starts.dtype)


def counting_sort(lines: IntArray, starts: IntArray, order: IntArray) -> None:
    """Write to ``order`` the entries sorted by line, those of one line in the order given."""
    order[:] = np.argsort(lines, kind="stable")


def has_duplicates(starts: IntArray, places: IntArray, width: int) -> bool:
    """Whether a line holds one position twice."""
    keys = _lines(starts) * width + places
    return np.unique(keys).size < keys.size


def squared_norm(starts: IntArray, places: IntArray, values: Array, width: int) -> float:
    """Return the sum of squares of the matrix's entries, duplicated measurements added up first."""
    keys, group = np.unique(_lines(starts) * width + places, return_inverse=True)
    entries = np.zeros(keys.size, values.dtype)
    np.add.at(entries, group, values)
    return float(np.square(np.abs(entries)).sum())


def gather(
    starts: IntArray, places: IntArray, values: Array, x: Array, out: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write out_i = sum over k in line i of values_k x[places_k], for a vector or the columns of a block x."""
    if _is_first(counter):
        out[:] = 0
        factors = values.reshape(-1, *[1] * (x.ndim - 1))
        np.add.at(out, _lines(starts), factors * x[places])


def scatter(
    starts: IntArray, places: IntArray, values: Array, x: Array, parts: Array, bounds: IntArray, counter: IntArray
) -> None:
    """Write to ``parts[chunk]`` the sums of values_k x_i over the entries k of the chunk's lines i, at places_k."""
    if _is_first(counter):
        parts[:] = 0
        factors, lines = values.reshape(-1, *[1] * (x.ndim - 1)), _lines(starts)
        chunks = np.searchsorted(bounds, lines, side="right") - 1
        np.add.at(parts, (chunks, places), factors * x[lines])


gather_block, scatter_block = gather, scatter


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
    """Write the entries sum_q left_iq right_jq of a low-rank matrix, entry k to ``out[order[k]]`` (no order: k)."""
    if _is_first(counter):
        product: Any = left[_lines(starts)] * right[places]
        out[order if order.size else slice(None)] = product if product.ndim == 1 else product.sum(axis=1)


sample_outer = sample_factors


def _is_first(counter: IntArray) -> bool:
    """Whether no thread has begun; the counter is then at its end for the others."""
    begun, counter[0] = counter[0], np.iinfo(counter.dtype).max
    return begun == 0


def _lines(starts: IntArray) -> IntArray:
    """Return the line of each entry."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts.astype(np.int64)))
