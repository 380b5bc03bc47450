"""Compiled kernel of the semidefinite map; it is serial, so threads may call it at once.

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
