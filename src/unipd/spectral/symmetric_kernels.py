"""Compiled products and Lanczos recurrence of sparse symmetric matrices; serial, so threads may call them at once.

Indices are read as unsigned: the compiler then leaves out the wrap-around of negative ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray

_REORDER = {"reassoc", "contract"}
"""Sums may be reordered (the same way on every call); NaN and infinity keep their meaning."""


@njit(cache=True, nogil=True)
def csr_block(starts: IntArray, indices: IntArray, data: Array, block: Array, out: Array) -> None:
    """Set out = M block for M in CSR form and a block of columns, row by row."""
    for row in range(starts.size - 1):
        out[row, :] = 0
        for place in range(starts[row], starts[row + 1]):
            value, source = data[place], np.uint32(indices[place])
            for column in range(block.shape[1]):
                out[row, column] += value * block[source, column]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def lanczos_steps(
    starts: IntArray,
    indices: IntArray,
    data: Array,
    vectors: Array,
    alpha: Array,
    beta: Array,
    first: int,
    last: int,
    shares: Array,
    total: Array,
) -> int:
    """Do steps first, ..., last - 1 of the Lanczos recurrence of M and return how many are done in all.

    Rows 0 and 1 of ``vectors`` are the previous and the present vector (by parity of the step), row 2 is work. The
    present vector of step k, times ``shares[k]``, is added to ``total`` (when it is not empty): so a second run with
    the same start adds up a Ritz vector. Stops where the Krylov space ends: the last beta is then zero.
    """
    order, size = starts.size - 1, 0.0
    for step in range(first, last):
        before, here = vectors[step % 2], vectors[(step + 1) % 2]
        link = beta[step - 1] if step > 0 else 0.0
        diagonal = 0.0
        for row in range(order):
            product = 0.0
            for place in range(starts[row], starts[row + 1]):
                product += data[place] * here[np.uint32(indices[place])]
            product -= link * before[row]
            vectors[2, row] = product
            diagonal += product * here[row]
        squares = 0.0
        for row in range(order):
            vectors[2, row] -= diagonal * here[row]
            squares += vectors[2, row] * vectors[2, row]
        for row in range(total.size):
            total[row] += shares[step] * here[row]
        length = np.sqrt(squares)
        size = max(size, abs(diagonal) + length)
        alpha[step], beta[step] = diagonal, length
        if length <= 1e-15 * size:
            beta[step] = 0.0
            return step + 1
        for row in range(order):
            before[row] = vectors[2, row] / length
    return last
