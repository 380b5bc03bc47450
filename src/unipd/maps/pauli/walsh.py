"""Walsh-Hadamard transform, for pairs of groups with many strings.

Where a list is too long for tables, the whole diagonal is made at once: the coefficients are put at their z and
transformed over the bits of the index, in p log p additions whatever the number of strings. The result is laid out as
a table with two rows a block, so that the block kernels read (or add to) it as they do a short list's table.
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np
from numba import njit

from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.pointers import advance, read, write
from unipd.maps.pauli.turning import clear
from unipd.maps.pauli.vectors import add, exchange, lanes, load, plus_product, store, subtract


@njit(cache=True)
def walsh(data, size, signs):
    """Transform ``data`` in place over every bit of the index but bit 5: sum_b (-1)^(a . b) data[b].

    Bit 5 is left to the block kernels, which combine the two halves of a block themselves. Row 2^b of ``signs``
    has the signs of a butterfly inside a vector.
    """
    step = lanes(data)
    bit = 1
    while bit < step:
        sign = load(signs, ROW * bit)
        for place in range(0, size, step):
            value = load(data, place)
            store(data, place, plus_product(exchange(value, bit), sign, value))
        bit *= 2
    while bit < size:
        if bit != ROW:
            for start in range(0, size, 2 * bit):
                for place in range(start, start + bit, step):
                    even, odd = load(data, place), load(data, place + bit)
                    store(data, place, add(even, odd))
                    store(data, place + bit, subtract(even, odd))
        bit *= 2


@njit(cache=True)
def transform_rows(bits, rows):
    """Fill ``rows`` for one heavy pair: block g has rows 2 g and 2 g + 1 of each of its four diagonals."""
    count = 2 << bits
    for group in range(2):
        for g in range(1 << bits):
            row = 2 * count * group + 2 * g
            code = row | ((row + 1) << 16) | ((row + count) << 32) | ((row + count + 1) << 48)
            write(rows, (group << bits) + g, code)


@njit(cache=True)
def expand_heavy(pair, bounds, z, c, signs, table, size):
    """Write the four diagonals (side, part) of a heavy pair, each of ``size`` entries."""
    clear(table, 4 * size)
    for quarter in range(4):
        data = advance(table, quarter * size)
        for k in range(bounds[8 * pair + 2 * quarter], bounds[8 * pair + 2 * quarter + 2]):
            write(data, np.int64(z[k]), read(data, np.int64(z[k])) + read(c, k))
        walsh(data, size, signs)


@njit(cache=True)
def collapse_heavy(pair, bounds, z, signs, table, size, sums):
    """Read the signed sum of each string of a heavy pair: the transpose of :func:`expand_heavy`."""
    for quarter in range(4):
        data = advance(table, quarter * size)
        walsh(data, size, signs)
        for k in range(bounds[8 * pair + 2 * quarter], bounds[8 * pair + 2 * quarter + 2]):
            sums[k] = read(data, np.int64(z[k]))
