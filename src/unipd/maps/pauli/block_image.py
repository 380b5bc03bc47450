"""Sums of one pair of groups over one block of 64 entries: the innermost kernel of the image."""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from numba import njit

from unipd.maps.pauli.layout import ROW
from unipd.maps.pauli.tables import unpack
from unipd.maps.pauli.vectors import add, lanes, load, minus_product, multiply, plus_product, store, subtract


@njit(cache=True)
def _accumulate(row_even, row_odd, place, even, odd):
    """Add the halves' sum and difference to a table's rows."""
    store(row_even, place, add(load(row_even, place), add(even, odd)))
    store(row_odd, place, add(load(row_odd, place), subtract(even, odd)))


@njit(cache=True)
def block_image(table, code0, code1, shift, u, w):
    """Add conj(u[j]) u[j ^ x], for j in the block and both x of the pair, to the pair's tables.

    The transpose of :func:`~unipd.maps.pauli.block_product.block_product`: where that kernel looks a row up, this one
    adds to it. ``u`` is the block and ``w`` its partner (block and lanes permuted), 8 or 16 units of real and
    imaginary parts; units lie ``shift`` apart, and the two groups exchange the partner's halves.
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
        even, odd = plus_product(multiply(ar, cr), ai, ci), plus_product(multiply(br, dr), bi, di)
        _accumulate(real_even0, real_odd0, row, even, odd)
        even, odd = minus_product(multiply(ar, ci), ai, cr), minus_product(multiply(br, di), bi, dr)
        _accumulate(imag_even0, imag_odd0, row, even, odd)
        even, odd = plus_product(multiply(ar, dr), ai, di), plus_product(multiply(br, cr), bi, ci)
        _accumulate(real_even1, real_odd1, row, even, odd)
        even, odd = minus_product(multiply(ar, di), ai, dr), minus_product(multiply(br, ci), bi, cr)
        _accumulate(imag_even1, imag_odd1, row, even, odd)
