"""Projection on a product of probability simplices, one for each block of a long vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import FloatArray, IntArray


def block_starts(blocks: IntArray, count: int) -> IntArray:
    """Return where each block begins in a sorted vector of block numbers, and its end at last.

    >>> block_starts(np.array([0, 0, 1]), 2)
    array([0, 2, 3])
    """
    return np.searchsorted(blocks, np.arange(count + 1))


def project_on_simplices(values: FloatArray, blocks: IntArray, starts: IntArray) -> FloatArray:
    """Return the nearest vector whose entries are nonnegative and sum to one in every block.

    In a block with sorted entries v_1 >= v_2 >= ..., the solution is max(v - theta, 0) with
    theta = (v_1 + ... + v_k - 1) / k for the last k with k v_k > v_1 + ... + v_k - 1. All blocks are done at once.

    Parameters
    ----------
    values
        The vector.
    blocks
        The block of every entry, in ascending order; no block is empty.
    starts
        Where the blocks begin, see :func:`block_starts`.

    Examples
    --------
    >>> project_on_simplices(np.array([0.5, 1.5, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    array([0., 1., 1.])
    """
    first = starts[:-1]
    shifted = np.maximum(values - np.maximum.reduceat(values, first)[blocks], -1.0)  # what is lower becomes 0 anyway
    ordered = shifted[np.lexsort((-shifted, blocks))]
    sums = np.cumsum(ordered)
    sums -= (sums[first] - ordered[first])[blocks]
    places = np.arange(1, values.size + 1) - first[blocks]
    kept = np.add.reduceat(ordered * places > sums - 1.0, first, dtype=np.intp)
    theta = (sums[first + kept - 1] - 1.0) / kept
    return np.maximum(shifted - theta[blocks], 0.0)


def averages(matrix: Any, blocks: IntArray) -> Any:
    """Return the sum of the columns of every block by the square root of their number: M E with E E^T the averaging.

    Parameters
    ----------
    matrix
        M, dense or sparse.
    blocks
        The block of every column, ascending from 0 on.

    Examples
    --------
    >>> averages(np.eye(3), np.array([2, 2, 5])).round(3)
    array([[0.707, 0.   ],
           [0.707, 0.   ],
           [0.   , 1.   ]])
    """
    first = np.flatnonzero(np.diff(blocks, prepend=-1))
    sizes = np.diff(first, append=blocks.size)
    if isinstance(matrix, np.ndarray):
        return np.add.reduceat(matrix, first, axis=1) / np.sqrt(sizes)
    places = np.repeat(np.arange(sizes.size), sizes)
    entries = (1.0 / np.sqrt(sizes[places]), places, np.arange(blocks.size + 1))
    return matrix @ scipy.sparse.csr_array(entries, shape=(blocks.size, sizes.size))
