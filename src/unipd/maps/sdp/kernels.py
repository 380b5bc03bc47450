"""Compiled kernels of the semidefinite map; each is serial, so threads may call them at once.

Indices are read as unsigned: the compiler then leaves out the wrap-around of negative ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray

_REORDER = {"reassoc", "contract"}
"""Sums may be reordered (the same way on every call); NaN and infinity keep their meaning."""


@njit(cache=True, nogil=True, fastmath=_REORDER)
def row_products(rows: IntArray, cols: IntArray, left: Array, right: Array, out: Array) -> None:
    """Set out[k] = <left[rows[k]], right[cols[k]]>."""
    for pair in range(rows.size):
        i, j = np.uint32(rows[pair]), np.uint32(cols[pair])
        total = out.dtype.type(0)
        for column in range(left.shape[1]):
            total += left[i, column] * right[j, column]
        out[pair] = total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def symmetric_row_products(rows: IntArray, cols: IntArray, left: Array, right: Array, out: Array) -> None:
    """Set out[k] to the (rows[k], cols[k]) entry of (left right^T + right left^T) / 2."""
    half = out.dtype.type(0.5)
    for pair in range(rows.size):
        i, j = np.uint32(rows[pair]), np.uint32(cols[pair])
        total = out.dtype.type(0)
        for column in range(left.shape[1]):
            total += left[i, column] * right[j, column] + right[i, column] * left[j, column]
        out[pair] = half * total


@njit(cache=True, nogil=True)
def csr_vector(starts: IntArray, indices: IntArray, data: Array, vector: Array, out: Array) -> None:
    """Set out = M vector for M in CSR form."""
    for row in range(starts.size - 1):
        total = out.dtype.type(0)
        for place in range(starts[row], starts[row + 1]):
            total += data[place] * vector[np.uint32(indices[place])]
        out[row] = total


@njit(cache=True, nogil=True)
def csr_block(starts: IntArray, indices: IntArray, data: Array, block: Array, out: Array) -> None:
    """Set out = M block for M in CSR form and a block of columns, row by row."""
    for row in range(starts.size - 1):
        out[row, :] = 0
        for place in range(starts[row], starts[row + 1]):
            value, source = data[place], np.uint32(indices[place])
            for column in range(block.shape[1]):
                out[row, column] += value * block[source, column]
