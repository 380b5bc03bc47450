"""Compiled kernels of the Pauli map: the product (sum_k lam_k P_k) v, and its transpose, the image u^* P_k u.

:mod:`unipd.maps.pauli.layout` orders the strings: groups of one mask x, pairs of the groups x and x ^ 32, items of
pairs and chunks of items. A chunk's items are processed one after the other. For each item the partial diagonals of its
pairs are tabulated (``expand``); then every block of 64 entries looks up its rows and multiplies them with the block
that x leads to (``block_product``). The image goes the other way: products of entries are added to the tables
(``block_image``), from which the sum of each string is read at the end (``collapse``).
"""

from __future__ import annotations

import numpy as np

from unipd._util.lazy import njit
from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.simd import (
    advance,
    broadcast_scalar,
    fetch_and_increment,
    lanes,
    load,
    pointer,
    read,
    store,
    sum_lanes,
    write,
    xor_lanes,
    zero,
)

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false


# Lane permutation
#
# Entry j ^ x lies in the SIMD unit whose number differs from j's by the high bits of x; the low bits of x permute the
# lanes inside the unit. The strings are visited by the low bits of x, with one lane-permuted copy of the vector for
# each value, so that the inner loops need no shuffles. What is added to entries j ^ x is accumulated in permuted order
# and permuted back when the low bits change.


@njit(cache=True)
def clear_memory(data, size):
    """Set ``size`` scalars to zero (a multiple of the vector length)."""
    for place in range(0, size, lanes(data)):
        store(data, place, zero(data))


@njit(cache=True)
def permute_lanes(source, mask, out, size):
    """Write ``source`` with lane l of every vector moved to lane l XOR mask."""
    for place in range(0, size, lanes(source)):
        store(out, place, xor_lanes(load(source, place), mask))


@njit(cache=True)
def add_unpermuted(source, mask, out, size):
    """Add the lane-permuted ``source`` to ``out`` in natural order, and clear ``source``."""
    for place in range(0, size, lanes(source)):
        store(out, place, load(out, place) + xor_lanes(load(source, place), mask))
        store(source, place, zero(source))


# Tables of partial diagonals: the sum of a short list of strings for every pattern of signs
#
# Over a block of 64 entries, string k contributes c_k (-1)^(z_k . j), and the high bits of j only decide a sign: with g
# the number of the block, it is (-1)^(z_k >> 6 . g) times a fixed row of 64 entries. A list of m strings meets at most
# 2^m patterns of signs, far fewer than blocks; so the sums are tabulated once per product, and a block looks up
# its row instead of adding m strings. Bit 5 of z halves the rows: strings with the bit clear have equal halves in a
# block, strings with the bit set opposite halves, so from rows A and B of 32 entries the block is (A + B, A - B).
#
# The number of the row is linear over GF(2) in g: its bit k is the parity of z_k >> 6 & g. The rows of all blocks
# therefore follow by doubling, with one exclusive or each (``codes`` of the layout).


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
            coefficient = broadcast_scalar(c, k)
            for entry in range(0, size, ROW):
                for part in range(0, ROW, step):
                    old, sign = load(place, entry + part), load(row, part)
                    store(place, entry + part, old + coefficient * sign)
                    store(place, size + entry + part, old - coefficient * sign)
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
                    difference = difference + (even - odd)
                    store(place, entry, even + odd)
                result = result + difference * load(row, part)
            sums[k] = sum_lanes(result)
        place = following


# Walsh-Hadamard transform, for heavy pairs (groups with many strings)
#
# Where a list is too long for tables, the whole diagonal is made at once: the coefficients are put at their z and
# transformed over the bits of the index, in p log p additions whatever the number of strings. The result is laid out as
# a table with two rows per block, so that the block kernels read (or add to) it as they do a short list's table.


@njit(cache=True)
def walsh_hadamard(data, size, signs):
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
            store(data, place, xor_lanes(value, bit) + sign * value)
        bit *= 2
    while bit < size:
        if bit != ROW:
            for start in range(0, size, 2 * bit):
                for place in range(start, start + bit, step):
                    even, odd = load(data, place), load(data, place + bit)
                    store(data, place, even + odd)
                    store(data, place + bit, even - odd)
        bit *= 2


@njit(cache=True)
def choose_heavy_rows(bits, rows):
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
    clear_memory(table, 4 * size)
    for quarter in range(4):
        data = advance(table, quarter * size)
        for k in range(bounds[8 * pair + 2 * quarter], bounds[8 * pair + 2 * quarter + 2]):
            write(data, np.int64(z[k]), read(data, np.int64(z[k])) + read(c, k))
        walsh_hadamard(data, size, signs)


@njit(cache=True)
def collapse_heavy(pair, bounds, z, signs, table, size, sums):
    """Read the signed sum of each string of a heavy pair: the transpose of :func:`expand_heavy`."""
    for quarter in range(4):
        data = advance(table, quarter * size)
        walsh_hadamard(data, size, signs)
        for k in range(bounds[8 * pair + 2 * quarter], bounds[8 * pair + 2 * quarter + 2]):
            sums[k] = read(data, np.int64(z[k]))


# The innermost kernels: one pair of groups in one block of 64 entries
#
# Register tile. Units s and s + 32 of a block (a unit is one SIMD vector of entries) meet groups x and x ^ 32: the two
# units read and write the same two units of the partner block j ^ x, whichever the group. So four complex diagonal
# entries serve 4 + 4 vectors held in registers, and each vector loaded takes part in four or more FMAs.
#
# Hermitian half. D_x[j ^ x] = conj D_x[j], so the same four entries, conjugated, also carry the block's own entries to
# the partner block: every diagonal entry is made once and used twice, and only half of the blocks are visited.
#
# No shuffles. The partner's vectors come lane-permuted, so lane l always meets lane l; what is added to the partner is
# in permuted order too.


@njit(cache=True)
def block_product(table, code0, code1, shift, v, y, w, t, mirror):
    """Add D w to y and, if ``mirror``, conj(D) v to t, for the two groups with the packed table rows given.

    ``v`` and ``y`` are the block of input and output, ``w`` and ``t`` those of the partner, lane-permuted; unit s
    meets unit s ^ ``shift`` of the partner's half.
    """
    real_even0, real_odd0, imag_even0, imag_odd0 = unpack(table, code0)
    real_even1, real_odd1, imag_even1, imag_odd1 = unpack(table, code1)
    step = lanes(table)
    for s in range(ROW // step):
        row = s * step
        low, near = 2 * row, 2 * ((s ^ shift) * step)
        high, far = low + 2 * ROW, near + 2 * ROW
        even, odd = load(real_even0, row), load(real_odd0, row)
        r_low0, r_high0 = even + odd, even - odd
        even, odd = load(imag_even0, row), load(imag_odd0, row)
        i_low0, i_high0 = even + odd, even - odd
        even, odd = load(real_even1, row), load(real_odd1, row)
        r_low1, r_high1 = even + odd, even - odd
        even, odd = load(imag_even1, row), load(imag_odd1, row)
        i_low1, i_high1 = even + odd, even - odd

        re, im = load(w, near), load(w, near + step)
        low_re = load(y, low) + r_low0 * re - i_low0 * im
        low_im = load(y, low + step) + r_low0 * im + i_low0 * re
        high_re = load(y, high) + r_high1 * re - i_high1 * im
        high_im = load(y, high + step) + r_high1 * im + i_high1 * re
        re, im = load(w, far), load(w, far + step)
        store(y, low, low_re + r_low1 * re - i_low1 * im)
        store(y, low + step, low_im + r_low1 * im + i_low1 * re)
        store(y, high, high_re + r_high0 * re - i_high0 * im)
        store(y, high + step, high_im + r_high0 * im + i_high0 * re)
        if mirror:
            re, im = load(v, low), load(v, low + step)
            near_re = load(t, near) + r_low0 * re + i_low0 * im
            near_im = load(t, near + step) + r_low0 * im - i_low0 * re
            far_re = load(t, far) + r_low1 * re + i_low1 * im
            far_im = load(t, far + step) + r_low1 * im - i_low1 * re
            re, im = load(v, high), load(v, high + step)
            store(t, near, near_re + r_high1 * re + i_high1 * im)
            store(t, near + step, near_im + r_high1 * im - i_high1 * re)
            store(t, far, far_re + r_high0 * re + i_high0 * im)
            store(t, far + step, far_im + r_high0 * im - i_high0 * re)


@njit(cache=True)
def _accumulate(row_even, row_odd, place, even, odd):
    """Add the halves' sum and difference to a table's rows."""
    store(row_even, place, load(row_even, place) + (even + odd))
    store(row_odd, place, load(row_odd, place) + (even - odd))


@njit(cache=True)
def block_image(table, code0, code1, shift, u, w):
    """Add conj(u[j]) u[j ^ x], for j in the block and both x of the pair, to the pair's tables.

    The transpose of :func:`block_product`: where that kernel looks a row up, this one adds to it. ``u`` is the block
    and ``w`` its partner (block and lanes permuted), 8 or 16 units of real and imaginary parts; units lie ``shift``
    apart, and the two groups exchange the partner's halves.
    """
    real_even0, real_odd0, imag_even0, imag_odd0 = unpack(table, code0)
    real_even1, real_odd1, imag_even1, imag_odd1 = unpack(table, code1)
    step = lanes(table)
    for s in range(ROW // step):
        row = s * step
        low = 2 * row
        near = 2 * ((s ^ shift) * step)
        ar, ai = load(u, low), load(u, low + step)
        br, bi = load(u, low + 64), load(u, low + 64 + step)
        cr, ci = load(w, near), load(w, near + step)
        dr, di = load(w, near + 64), load(w, near + 64 + step)
        even, odd = ar * cr + ai * ci, br * dr + bi * di
        _accumulate(real_even0, real_odd0, row, even, odd)
        even, odd = ar * ci - ai * cr, br * di - bi * dr
        _accumulate(imag_even0, imag_odd0, row, even, odd)
        even, odd = ar * dr + ai * di, br * cr + bi * ci
        _accumulate(real_even1, real_odd1, row, even, odd)
        even, odd = ar * di - ai * dr, br * ci - bi * cr
        _accumulate(imag_even1, imag_odd1, row, even, odd)


# The product over all pairs, chunk by chunk


@njit(cache=True)
def _visit_item(table, rows, bits, x, first, last, v, y, w, t, is_image):
    """Visit the blocks of one item: all of them when x stays inside a block, else the lower of each two partners.

    ``v`` is the vector and ``w`` its lane-permuted copy; a product is added to ``y`` and ``t``, an image to the tables.
    """
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
                code0, code1 = read(rows, place), read(rows, place + blocks)
                shift = (np.int64(x[pair]) & 31) // step
                block, partner = advance(v, near), advance(w, far)
                if is_image:
                    block_image(table, code0, code1, shift, block, partner)
                else:
                    out, other = advance(y, near), advance(t, far)
                    block_product(table, code0, code1, shift, block, out, partner, other, high != 0)


@njit(cache=True)
def _adjoint_chunk(layout, c, v_array, y_array, w_array, t_array, table_array, rows_array, begin, end):
    """Add the product of the items begin .. end - 1 to y; w, t, table and rows are scratch memory."""
    v, y, w, t = pointer(v_array), pointer(y_array), pointer(w_array), pointer(t_array)
    table, rows, codes = pointer(table_array), pointer(rows_array), pointer(layout.codes)
    coefficients, signs = pointer(c), pointer(layout.signs)
    bounds, z, x = layout.bounds, layout.z, layout.x
    size = v_array.size
    bits = block_bits(size // 2)
    mask = -1
    clear_memory(t, size)
    for item in range(begin, end):
        first, last = layout.items[item], layout.items[item + 1]
        low = np.int64(x[first]) & (lanes(v) - 1)
        if low != mask:
            add_unpermuted(t, mask, y, size)
            permute_lanes(v, low, w, size)
            mask = low
        if layout.heavy[item]:
            choose_heavy_rows(bits, rows)
            expand_heavy(first, bounds, z, coefficients, signs, table, size // 2)
        else:
            choose_rows(first, last, codes, bits, rows)
            expand(first, last, bounds, z, coefficients, signs, table)
        _visit_item(table, rows, bits, x, first, last, v, y, w, t, False)
    add_unpermuted(t, mask, y, size)


@njit(cache=True, nogil=True)
def adjoint_chunks(layout, counter, c, v, parts, w, t, table, rows):
    """Take chunks from the shared counter until none is left; chunk i writes sum_k c_k P_k v to ``parts[i]``."""
    while True:
        chunk = fetch_and_increment(pointer(counter))
        if chunk >= parts.shape[0]:
            break
        y = parts[chunk]
        y[:] = 0
        _adjoint_chunk(layout, c, v, y, w, t, table, rows, layout.chunks[chunk], layout.chunks[chunk + 1])


# The image over all pairs, chunk by chunk: the transpose of the product


@njit(cache=True)
def _table_size(bounds, first, last):
    """Return the number of scalars in the tables of pairs first .. last - 1."""
    rows = 0
    for slot in range(8 * first, 8 * last):
        rows += 1 << (bounds[slot + 1] - bounds[slot])
    return ROW * rows


@njit(cache=True)
def _image_chunk(layout, u_array, w_array, table_array, rows_array, begin, end, sums):
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
            permute_lanes(u, low, w, 2 * size)
            mask = low
        if layout.heavy[item]:
            choose_heavy_rows(bits, rows)
            clear_memory(table, 4 * size)
            _visit_item(table, rows, bits, x, first, last, u, u, w, w, True)
            collapse_heavy(first, bounds, z, signs, table, size, sums)
        else:
            choose_rows(first, last, codes, bits, rows)
            clear_memory(table, _table_size(bounds, first, last))
            _visit_item(table, rows, bits, x, first, last, u, u, w, w, True)
            collapse(first, last, bounds, z, signs, table, sums)


@njit(cache=True)
def _scatter_image(layout, sums, scale, begin, end, result):
    """Multiply the sums of the items with their phases and write them in the order of the user's strings."""
    for item in range(begin, end):
        first, last = layout.items[item], layout.items[item + 1]
        factor = scale if np.int64(layout.x[first]) < 64 else 2.0 * scale
        for k in range(layout.bounds[8 * first], layout.bounds[8 * last]):
            result[layout.order[k]] = -factor * sums[k] if layout.power[k] >= 2 else factor * sums[k]


@njit(cache=True, nogil=True)
def image_chunks(layout, counter, u, scale, sums, result, w, table, rows):
    """Take chunks from the shared counter until none is left; write scale * u^* P_k u for their strings."""
    while True:
        chunk = fetch_and_increment(pointer(counter))
        if chunk >= layout.chunks.size - 1:
            break
        begin, end = layout.chunks[chunk], layout.chunks[chunk + 1]
        _image_chunk(layout, u, w, table, rows, begin, end, sums)
        _scatter_image(layout, sums, scale, begin, end, result)
