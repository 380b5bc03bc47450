"""The product (sum_k lam_k P_k) v over all pairs of groups, chunk by chunk."""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np
from numba import njit

from unipd.maps.pauli.block_product import block_product
from unipd.maps.pauli.pointers import advance, pointer, read, take
from unipd.maps.pauli.tables import block_bits, choose_rows, expand
from unipd.maps.pauli.turning import clear, turn, turn_back
from unipd.maps.pauli.vectors import lanes
from unipd.maps.pauli.walsh import expand_heavy, transform_rows


@njit(cache=True)
def _sweep(table, rows, bits, x, first, last, v, y, w, t):
    """Visit the blocks of one item: all of them when x stays inside a block, else the lower of each two partners."""
    step = lanes(v)
    high = np.int64(x[first]) >> 6
    blocks = 1 << bits
    run = blocks
    while run > high > 0:
        run >>= 1
    for start in range(0, blocks, 2 * run):
        for g in range(start, start + run):
            near = 128 * g
            far = 128 * (g ^ high)
            for pair in range(first, last):
                place = ((2 * (pair - first)) << bits) + g
                block_product(
                    table,
                    read(rows, place),
                    read(rows, place + blocks),
                    (np.int64(x[pair]) & 31) // step,
                    advance(v, near),
                    advance(y, near),
                    advance(w, far),
                    advance(t, far),
                    high != 0,
                )


@njit(cache=True)
def _chunk(layout, c, v_array, y_array, w_array, t_array, table_array, rows_array, begin, end):
    """Add the product of the items begin .. end - 1 to y; w, t, table and rows are scratch memory."""
    v, y, w, t = pointer(v_array), pointer(y_array), pointer(w_array), pointer(t_array)
    table, rows, codes = pointer(table_array), pointer(rows_array), pointer(layout.codes)
    coefficients, signs = pointer(c), pointer(layout.signs)
    bounds, z, x = layout.bounds, layout.z, layout.x
    size = v_array.size
    bits = block_bits(size // 2)
    mask = -1
    clear(t, size)
    for item in range(begin, end):
        first, last = layout.items[item], layout.items[item + 1]
        low = np.int64(x[first]) & (lanes(v) - 1)
        if low != mask:
            turn_back(t, mask, y, size)
            turn(v, low, w, size)
            mask = low
        if layout.heavy[item]:
            transform_rows(bits, rows)
            expand_heavy(first, bounds, z, coefficients, signs, table, size // 2)
        else:
            choose_rows(first, last, codes, bits, rows)
            expand(first, last, bounds, z, coefficients, signs, table)
        _sweep(table, rows, bits, x, first, last, v, y, w, t)
    turn_back(t, mask, y, size)


@njit(cache=True, nogil=True)
def adjoint_chunks(layout, counter, c, v, parts, w, t, table, rows):
    """Take chunks from the shared counter until none is left; chunk i writes sum_k c_k P_k v to ``parts[i]``."""
    while True:
        chunk = take(pointer(counter))
        if chunk >= parts.shape[0]:
            break
        y = parts[chunk]
        y[:] = 0
        _chunk(layout, c, v, y, w, t, table, rows, layout.chunks[chunk], layout.chunks[chunk + 1])
