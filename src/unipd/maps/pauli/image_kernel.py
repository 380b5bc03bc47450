"""The image tr(P_k u u^*) = u^* P_k u for all strings, chunk by chunk: the transpose of the adjoint's kernel."""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np
from numba import njit

from unipd.maps.pauli.block_image import block_image
from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.pointers import advance, pointer, read, take
from unipd.maps.pauli.tables import block_bits, choose_rows, collapse
from unipd.maps.pauli.turning import clear, turn
from unipd.maps.pauli.vectors import lanes
from unipd.maps.pauli.walsh import collapse_heavy, transform_rows


@njit(cache=True)
def _sweep(table, rows, bits, x, first, last, u, w):
    """Visit the blocks of one item: all of them when x stays inside a block, else the lower of each two partners."""
    step = lanes(u)
    high = np.int64(x[first]) >> 6
    blocks = 1 << bits
    run = blocks
    while run > high > 0:
        run >>= 1
    for start in range(0, blocks, 2 * run):
        for g in range(start, start + run):
            for pair in range(first, last):
                place = ((2 * (pair - first)) << bits) + g
                shift = (np.int64(x[pair]) & 31) // step
                block = advance(u, 128 * g)
                partner = advance(w, 128 * (g ^ high))
                block_image(table, read(rows, place), read(rows, place + blocks), shift, block, partner)


@njit(cache=True)
def _table_size(bounds, first, last):
    """Return the number of scalars in the tables of pairs first .. last - 1."""
    rows = 0
    for slot in range(8 * first, 8 * last):
        rows += 1 << (bounds[slot + 1] - bounds[slot])
    return ROW * rows


@njit(cache=True)
def _chunk(layout, u_array, w_array, table_array, rows_array, begin, end, sums):
    """Write the sums of the items begin .. end - 1; w, table and rows are scratch memory."""
    u, w = pointer(u_array), pointer(w_array)
    table, rows, codes = pointer(table_array), pointer(rows_array), pointer(layout.codes)
    signs = pointer(layout.signs)
    bounds, z, x = layout.bounds, layout.z, layout.x
    size = u_array.size // 2
    bits = block_bits(size)
    mask = -1
    for item in range(begin, end):
        first, last = layout.items[item], layout.items[item + 1]
        low = np.int64(x[first]) & (lanes(u) - 1)
        if low != mask:
            turn(u, low, w, 2 * size)
            mask = low
        if layout.heavy[item]:
            transform_rows(bits, rows)
            clear(table, 4 * size)
            _sweep(table, rows, bits, x, first, last, u, w)
            collapse_heavy(first, bounds, z, signs, table, size, sums)
        else:
            choose_rows(first, last, codes, bits, rows)
            clear(table, _table_size(bounds, first, last))
            _sweep(table, rows, bits, x, first, last, u, w)
            collapse(first, last, bounds, z, signs, table, sums)


@njit(cache=True)
def _scatter(layout, sums, scale, begin, end, result):
    """Give the sums of the items their phases and put them at the strings' places."""
    for item in range(begin, end):
        first, last = layout.items[item], layout.items[item + 1]
        factor = scale if np.int64(layout.x[first]) < 64 else 2.0 * scale
        for k in range(layout.bounds[8 * first], layout.bounds[8 * last]):
            result[layout.order[k]] = -factor * sums[k] if layout.power[k] >= 2 else factor * sums[k]


@njit(cache=True, nogil=True)
def image_chunks(layout, counter, u, scale, sums, result, w, table, rows):
    """Take chunks from the shared counter until none is left; write scale * u^* P_k u for their strings."""
    while True:
        chunk = take(pointer(counter))
        if chunk >= layout.chunks.size - 1:
            break
        begin, end = layout.chunks[chunk], layout.chunks[chunk + 1]
        _chunk(layout, u, w, table, rows, begin, end, sums)
        _scatter(layout, sums, scale, begin, end, result)
