"""Product of one pair of groups with one block of 64 entries: the innermost kernel of the adjoint.

Register tile. Units s and s + 32 of a block (a unit is one SIMD vector of entries) meet groups x and x ^ 32: the two
units read and write the same two units of the partner block j ^ x, whichever the group. So four complex
diagonal entries serve 4 + 4 vectors held in registers, and each vector loaded takes part in four or more FMAs.

Hermitian half. D_x[j ^ x] = conj D_x[j], so the same four entries, conjugated, also carry the block's own
entries to the partner block: every diagonal entry is made once and used twice, and only half of the blocks are
visited.

No shuffles. The partner's vectors come lane-permuted (see :mod:`unipd.maps.pauli.turning`), so lane l always meets
lane l; what is added to the partner is in permuted order too.
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from numba import njit

from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.tables import unpack
from unipd.maps.pauli.vectors import add, lanes, load, minus_product, plus_product, store, subtract


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
        r_low0, r_high0 = add(even, odd), subtract(even, odd)
        even, odd = load(imag_even0, row), load(imag_odd0, row)
        i_low0, i_high0 = add(even, odd), subtract(even, odd)
        even, odd = load(real_even1, row), load(real_odd1, row)
        r_low1, r_high1 = add(even, odd), subtract(even, odd)
        even, odd = load(imag_even1, row), load(imag_odd1, row)
        i_low1, i_high1 = add(even, odd), subtract(even, odd)

        re, im = load(w, near), load(w, near + step)
        low_re = minus_product(plus_product(load(y, low), r_low0, re), i_low0, im)
        low_im = plus_product(plus_product(load(y, low + step), r_low0, im), i_low0, re)
        high_re = minus_product(plus_product(load(y, high), r_high1, re), i_high1, im)
        high_im = plus_product(plus_product(load(y, high + step), r_high1, im), i_high1, re)
        re, im = load(w, far), load(w, far + step)
        store(y, low, minus_product(plus_product(low_re, r_low1, re), i_low1, im))
        store(y, low + step, plus_product(plus_product(low_im, r_low1, im), i_low1, re))
        store(y, high, minus_product(plus_product(high_re, r_high0, re), i_high0, im))
        store(y, high + step, plus_product(plus_product(high_im, r_high0, im), i_high0, re))
        if mirror:
            re, im = load(v, low), load(v, low + step)
            near_re = plus_product(plus_product(load(t, near), r_low0, re), i_low0, im)
            near_im = minus_product(plus_product(load(t, near + step), r_low0, im), i_low0, re)
            far_re = plus_product(plus_product(load(t, far), r_low1, re), i_low1, im)
            far_im = minus_product(plus_product(load(t, far + step), r_low1, im), i_low1, re)
            re, im = load(v, high), load(v, high + step)
            store(t, near, plus_product(plus_product(near_re, r_high1, re), i_high1, im))
            store(t, near + step, minus_product(plus_product(near_im, r_high1, im), i_high1, re))
            store(t, far, plus_product(plus_product(far_re, r_high0, re), i_high0, im))
            store(t, far + step, minus_product(plus_product(far_im, r_high0, im), i_high0, re))
