"""Lane-permuted copies of vectors, so that the inner loops need no shuffles.

Entry j ^ x lies in the SIMD unit whose number differs from j's by the high bits of x; the low bits of x permute the
lanes inside the unit. The strings are visited by the low bits of x, with one permuted ("turned") copy of the vector for
each value, and what is added to entries j ^ x is gathered in turned order and turned back when the low bits change.
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from numba import njit

from unipd.maps.pauli.vectors import add, exchange, lanes, load, store, zero


@njit(cache=True)
def clear(data, size):
    """Set ``size`` scalars to zero (a multiple of the vector length)."""
    for place in range(0, size, lanes(data)):
        store(data, place, zero(data))


@njit(cache=True)
def turn(source, mask, out, size):
    """Write ``source`` with lane l of every vector moved to lane l XOR mask."""
    for place in range(0, size, lanes(source)):
        store(out, place, exchange(load(source, place), mask))


@njit(cache=True)
def turn_back(source, mask, out, size):
    """Add the turned ``source`` to ``out`` in natural order, and clear ``source``."""
    for place in range(0, size, lanes(source)):
        store(out, place, add(load(out, place), exchange(load(source, place), mask)))
        store(source, place, zero(source))
