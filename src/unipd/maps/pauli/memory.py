"""Vectors in the kernels' form, and the scratch memory of a thread."""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array, IntArray
from unipd.maps.pauli.layout import BATCH, LONGEST, ROW, Layout

ALIGNMENT = 64
"""Bytes of a cache line: vectors that straddle two lines load at half speed."""
LARGEST_KEPT = 1 << 23
"""Bytes of the largest array that a thread keeps between products."""


def aligned(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Return an uninitialised array whose first entry starts a cache line.

    >>> aligned((2, 3), np.float32).ctypes.data % 64
    0
    """
    kind = np.dtype(dtype)
    size = (shape if isinstance(shape, int) else math.prod(shape)) * kind.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(kind).reshape(shape)


class _Kept(threading.local):
    """Arrays that a thread uses again, so that the system need not hand out and clear new pages for every product."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}


_kept = _Kept()


def reused(name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Return an array with any contents, this thread's last one of that name if it fits (and is not large).

    It may be overwritten by the next caller on the same thread who asks for the name.

    >>> reused("example", 4, np.float32) is reused("example", 4, np.float32)
    True
    """
    array = _kept.arrays.get(name)
    kind = np.dtype(dtype)
    if array is None or array.shape != (shape if isinstance(shape, tuple) else (shape,)) or array.dtype != kind:
        array = aligned(shape, kind)
        if array.nbytes <= LARGEST_KEPT:
            _kept.arrays[name] = array
    return array


def interleaved(vector: Any, dtype: Any) -> Array:
    """Return a complex vector as SIMD units: ``lanes`` real parts, then ``lanes`` imaginary parts, and so on.

    >>> interleaved(np.arange(8) + 1j, np.float32)
    array([0., 1., 2., 3., 4., 5., 6., 7., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    lanes = 32 // np.dtype(dtype).itemsize
    units = aligned((vector.size // lanes, 2, lanes), dtype)
    units[:, 0] = vector.real.reshape(-1, lanes)
    units[:, 1] = vector.imag.reshape(-1, lanes)
    return units.reshape(-1)


def length(vector: Any) -> float:
    """Return the Euclidean norm in double precision, without BLAS (whose threads cost more than the sum).

    >>> length(np.array([3.0, 4.0j]))
    5.0
    """
    total = np.square(vector.real, dtype=np.float64).sum()
    if vector.dtype.kind == "c":
        total += np.square(vector.imag, dtype=np.float64).sum()
    return math.sqrt(total)


def gathered(units: Array, scale: float) -> Array:
    """Return ``scale`` times the complex vector that :func:`interleaved` takes apart.

    >>> gathered(interleaved(np.arange(4) + 1j, np.float64), 2.0)
    array([0.+2.j, 2.+2.j, 4.+2.j, 6.+2.j])
    """
    lanes = 32 // units.dtype.itemsize
    parts = units.reshape(-1, 2, lanes)
    vector: Any = np.empty((parts.shape[0], lanes), np.result_type(units.dtype, np.complex64))
    factor = units.dtype.type(scale)
    np.multiply(parts[:, 0], factor, out=vector.real)
    np.multiply(parts[:, 1], factor, out=vector.imag)
    return vector.reshape(-1)


class Scratch(NamedTuple):
    """Memory that one thread writes to while it runs chunks; contents mean nothing between chunks."""

    turned: Array
    """Lane-permuted copy of the input."""
    gathered: Array
    """What is added to lane-permuted entries."""
    table: Array
    """Tables of one item (most of it is never touched)."""
    rows: IntArray
    """Packed table rows of the groups of one item."""


def scratch(layout: Layout, size: int) -> Scratch:
    """Return this thread's scratch memory for vectors of ``size`` entries."""
    dtype = layout.signs.dtype
    length = (8 * BATCH * ROW) << LONGEST
    if layout.heavy.any():
        length = max(length, 4 * size)
    return Scratch(
        reused("turned", 2 * size, dtype),
        reused("gathered", 2 * size, dtype),
        reused("table", length, dtype),
        reused("rows", 2 * BATCH * size // (2 * ROW), np.int64),
    )
