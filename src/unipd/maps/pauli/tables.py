"""Tables of partial diagonals: the sum of a short list of strings for every pattern of signs.

Over a block of 64 entries, string k contributes c_k (-1)^(z_k . j), and the high bits of j only decide a sign:
with g the number of the block, it is (-1)^(z_k >> 6 . g) times a fixed row of 64 entries. A list of m strings meets
at most 2^m patterns of signs, far fewer than there are blocks; so the sums are tabulated once a product, and a
block looks up its row instead of adding m strings. Bit 5 of z halves the rows: strings with the bit clear have
equal halves in a block, strings with the bit set opposite halves, so from rows A and B of 32 entries the block is
(A + B, A - B).

The number of the row is linear over GF(2) in g: its bit k is the parity of z_k >> 6 & g. The rows of all blocks
therefore follow by doubling, with one exclusive or each (see ``codes`` in :mod:`unipd.maps.pauli.layout`).
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np
from numba import njit

from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.pointers import advance, read, write
from unipd.maps.pauli.vectors import add, lanes, load, minus_product, plus_product, spread, store, subtract, total, zero


@njit(cache=True)
def block_bits(size):
    """Return b with size = 64 * 2^b."""
    bits = 0
    while (64 << bits) < size:
        bits += 1
    return bits


@njit(cache=True)
def choose_rows(first, last, codes, bits, rows):
    """Fill ``rows[(2 r + side) 2^bits + g]`` with the packed table rows of block g of pair first + r."""
    for group in range(2 * (last - first)):
        here = advance(rows, group << bits)
        code = advance(codes, (2 * first + group) * (bits + 1))
        base = read(code, 0)
        write(here, 0, 0)
        for b in range(bits):
            change = read(code, b + 1)
            for g in range(1 << b):
                write(here, (1 << b) + g, read(here, g) ^ change)
        for g in range(1 << bits):
            write(here, g, read(here, g) + base)


@njit(cache=True)
def unpack(table, code):
    """Return the four rows of a group in a block: real even and odd, imaginary even and odd (by bit 5 of z)."""
    return (
        advance(table, ROW * (code & 0xFFFF)),
        advance(table, ROW * ((code >> 16) & 0xFFFF)),
        advance(table, ROW * ((code >> 32) & 0xFFFF)),
        advance(table, ROW * ((code >> 48) & 0xFFFF)),
    )


@njit(cache=True)
def expand(first, last, bounds, z, c, signs, table):
    """Write the tables of the lists of pairs first .. last - 1, one after the other."""
    step = lanes(table)
    place = table
    start = bounds[8 * first]
    for slot in range(8 * first, 8 * last):
        stop = bounds[slot + 1]
        for part in range(0, ROW, step):
            store(place, part, zero(table))
        size = ROW
        for k in range(start, stop):
            row = advance(signs, ROW * (np.int64(z[k]) & 31))
            coefficient = spread(c, k)
            for entry in range(0, size, ROW):
                for part in range(0, ROW, step):
                    old, sign = load(place, entry + part), load(row, part)
                    store(place, entry + part, plus_product(old, coefficient, sign))
                    store(place, size + entry + part, minus_product(old, coefficient, sign))
            size *= 2
        start = stop
        place = advance(place, size)


@njit(cache=True)
def collapse(first, last, bounds, z, signs, table, sums):
    """Read the signed sum of each string from tables that were summed into: the transpose of :func:`expand`."""
    step = lanes(table)
    place = table
    for slot in range(8 * first, 8 * last):
        start = bounds[slot]
        stop = bounds[slot + 1]
        size = ROW << (stop - start)
        following = advance(place, size)
        for k in range(stop - 1, start - 1, -1):
            size //= 2
            row = advance(signs, ROW * (np.int64(z[k]) & 31))
            result = zero(table)
            for part in range(0, ROW, step):
                difference = zero(table)
                for entry in range(part, size, ROW):
                    even, odd = load(place, entry), load(place, size + entry)
                    difference = add(difference, subtract(even, odd))
                    store(place, entry, add(even, odd))
                result = plus_product(result, difference, load(row, part))
            sums[k] = total(result)
        place = following
