"""The order in which the kernels visit the Pauli strings, vectors in SIMD form, and the workspace of a thread.

Strings with the same x mask form a *group*, with diagonal D_x[j] = sum_k c_k (-1)^(z_k . j), and contribute
D_x[j] v[j ^ x] to entry j of the product. Groups x and x ^ 32 form a *pair*: in a block of 64 entries they read and
write the same vectors, which the kernels keep in registers. The strings of a pair fall into eight lists: side (bit 5
of x), part (real or imaginary coefficient, by the parity of |x & z|) and half (bit 5 of z).

A list longer than :data:`LONGEST` is cut, and the pair repeated, because the kernels keep a table of 2^length rows for
a list. Pairs with a list beyond :func:`longest_light` are *heavy* and stay whole; for them a Walsh-Hadamard transform
is cheaper. Pairs of equal low bits (inside a vector) and equal high bits (the block) form an *item*, processed block by
block so that a block stays in the first-level cache; *chunks* of items of about equal work are shared by the threads.
The chunks depend on the strings alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unipd._typing import Array, IntArray
from unipd.maps.pauli.strings import bit_count, sign_table

LONGEST = 6
"""Longest list that gets a table of its own (2^6 rows of 128 bytes in single precision)."""
HEAVY_QUBITS = 19
"""Most qubits for the Walsh-Hadamard transform: its rows are numbered with 16 bits."""
BATCH = 8
"""Most pairs in an item."""
BLOCK_BITS = 6
"""A block is 2^6 entries: the fewest a vector may have."""
ROW = 32
"""Entries of a table's row: half a block."""


class Layout(NamedTuple):
    """Pauli strings in the kernels' order (a named tuple, because compiled code takes those)."""

    order: IntArray
    """Place of each sorted string in the user's order."""
    z: IntArray
    """z masks, sorted."""
    power: IntArray
    """|x & z| modulo 4, sorted: the string's matrix carries the phase (-i)^power."""
    bounds: IntArray
    """List l of pair r is z[bounds[8 r + l] : bounds[8 r + l + 1]]."""
    x: IntArray
    """x mask of each pair, bit 5 cleared."""
    codes: IntArray
    """For each side of each pair: its first table rows, then how each bit of the block's number changes them."""
    items: IntArray
    """First pair of each item, and the number of pairs."""
    heavy: NDArray[np.bool_]
    """Whether the item is one heavy pair."""
    chunks: IntArray
    """First item of each chunk, and the number of items."""
    signs: Array
    """The 32 x 32 table of (-1)^(a . b), flat, in the kernels' precision."""

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(array.nbytes for array in self)


def arrange(qubits: int, x: IntArray, z: IntArray, dtype: type = np.float32) -> Layout:
    """Sort the strings into pairs, items and chunks for kernels in the given precision.

    >>> layout = arrange(6, np.array([0, 32, 0]), np.array([0, 1, 32]))
    >>> layout.x, layout.bounds
    (array([0], dtype=int32), array([0, 1, 2, 2, 2, 3, 3, 3, 3]))
    """
    lanes = 32 // np.dtype(dtype).itemsize
    power = (bit_count(x & z) & 3).astype(np.int8)
    key = list_keys(qubits, x, z, power, lanes)
    order = np.argsort(key, kind="stable")
    slots, heavy_pair, order = _cut(key[order], order, longest_light(qubits))
    pairs = heavy_pair.size
    bounds = np.zeros(8 * pairs + 1, np.int64)
    np.cumsum(np.bincount(slots, minlength=8 * pairs), out=bounds[1:])
    x_pair = x[order[bounds[:-1:8]]] & ~32
    items = _items(x_pair & (lanes - 1) | (x_pair >> BLOCK_BITS << BLOCK_BITS), heavy_pair)
    heavy = heavy_pair[items[:-1]]
    z = z[order].astype(np.int32)
    return Layout(
        order=order.astype(np.int32),
        z=z,
        power=power[order],
        bounds=bounds,
        x=x_pair.astype(np.int32),
        codes=_codes(qubits - BLOCK_BITS, z, slots, bounds, items, heavy_pair),
        items=items,
        heavy=heavy,
        chunks=_chunks(qubits, np.diff(items) + heavy * qubits),
        signs=sign_table(BLOCK_BITS - 1, dtype).reshape(-1),
    )


def longest_light(qubits: int) -> int:
    """Return the longest list for which tables are faster than a Walsh-Hadamard transform (measured).

    >>> longest_light(14)
    45
    """
    return 5 * (qubits - 5) if qubits <= HEAVY_QUBITS else 1 << 62


def list_keys(qubits: int, x: IntArray, z: IntArray, power: IntArray, lanes: int) -> IntArray:
    """Return 8 k + l for list l of pair k; pairs are numbered by (lane bits, block bits, unit bits below 32) of x."""
    lane_bits = lanes.bit_length() - 1
    unit_bits = BLOCK_BITS - 1 - lane_bits
    unit = (x >> lane_bits) & ((1 << unit_bits) - 1)
    pair = (((x & (lanes - 1)) << max(qubits - BLOCK_BITS, 0) | (x >> BLOCK_BITS)) << unit_bits) | unit
    return pair * 8 + ((x >> 5) & 1) * 4 + (power & 1) * 2 + ((z >> 5) & 1)


def _cut(key: IntArray, order: IntArray, light: int) -> tuple[IntArray, NDArray[np.bool_], IntArray]:
    """Cut long lists; return each string's list, the pairs' heaviness and the order."""
    group = np.cumsum(np.diff(key >> 3, prepend=key[:1] >> 3) != 0)
    slot = 8 * group + (key & 7)
    lengths = np.bincount(slot, minlength=8 * (int(group[-1]) + 1))
    longest = lengths.reshape(-1, 8).max(axis=1)
    heavy = longest > light
    copies = np.where(heavy, 1, -(-longest // LONGEST))
    if copies.max() > 1:
        rank = np.arange(key.size) - (np.cumsum(lengths) - lengths)[slot]
        first = np.cumsum(copies) - copies
        slot = 8 * (first[group] + np.where(heavy[group], 0, rank // LONGEST)) + (key & 7)
        again = np.argsort(slot, kind="stable")
        slot, order = slot[again], order[again]
    return slot, np.repeat(heavy, copies), order


def _items(place: IntArray, heavy: NDArray[np.bool_]) -> IntArray:
    """Return the first pair of each item: runs of equal place, at most :data:`BATCH` long, heavy pairs alone."""
    edge = np.diff(place, prepend=-1) != 0
    edge |= heavy
    edge[1:] |= heavy[:-1]
    starts = np.flatnonzero(edge)
    edge |= (np.arange(place.size) - starts[np.cumsum(edge) - 1]) % BATCH == 0
    return np.append(np.flatnonzero(edge), place.size)


def _codes(
    bits: int, z: IntArray, slots: IntArray, bounds: IntArray, items: IntArray, heavy: NDArray[np.bool_]
) -> IntArray:
    """Return for each group its first rows and the rows' change with each bit of the block's number.

    A group has four lists; their rows are packed into the four 16-bit fields of one integer. String k of a list
    owns bit k of the row, and changes it with the bits of z >> 6.
    """
    lengths = np.where(np.repeat(heavy, 8), 0, np.diff(bounds))
    rows = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(1 << lengths, out=rows[1:])
    rows = rows[:-1] - np.repeat(rows[8 * items[:-1]], 8 * np.diff(items))
    codes = np.empty((lengths.size // 4, bits + 1), np.int64)
    codes[:, 0] = (rows.reshape(-1, 4) << np.arange(0, 64, 16)).sum(axis=1)
    place = (np.arange(z.size) - bounds[slots]) % 16 + 16 * (slots & 3)
    running = np.zeros(z.size + 1, np.int64)
    for b in range(bits):
        np.cumsum((z.astype(np.int64) >> (BLOCK_BITS + b) & 1) << place, out=running[1:])
        codes[:, b + 1] = np.diff(running[bounds[::4]])
    return codes.reshape(-1)


def _chunks(qubits: int, work: IntArray) -> IntArray:
    """Return the first item of each chunk: 8 to 64 chunks of about equal work, more for more qubits."""
    count = 8 << sum(qubits >= limit for limit in (10, 12, 15))
    total = np.cumsum(work)
    goals = np.arange(1, count) * (total[-1] / count)
    return np.concatenate([[0], np.searchsorted(total, goals), [total.size]])


ALIGNMENT = 64
"""Bytes of a cache line: vectors that straddle two lines load at half speed."""


def empty_aligned(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Return an uninitialised array whose first entry starts a cache line.

    >>> empty_aligned((2, 3), np.float32).ctypes.data % 64
    0
    """
    kind = np.dtype(dtype)
    size = (shape if isinstance(shape, int) else math.prod(shape)) * kind.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(kind).reshape(shape)


def interleave(vector: Any, dtype: Any) -> Array:
    """Return a complex vector as SIMD units: ``lanes`` real parts, then ``lanes`` imaginary parts, and so on.

    >>> interleave(np.arange(8) + 1j, np.float32)
    array([0., 1., 2., 3., 4., 5., 6., 7., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    lanes = 32 // np.dtype(dtype).itemsize
    units = empty_aligned((vector.size // lanes, 2, lanes), dtype)
    units[:, 0] = vector.real.reshape(-1, lanes)
    units[:, 1] = vector.imag.reshape(-1, lanes)
    return units.reshape(-1)


def deinterleave(units: Array, scale: float) -> Array:
    """Return ``scale`` times the complex vector of SIMD units: the inverse of :func:`interleave`.

    >>> deinterleave(interleave(np.arange(4) + 1j, np.float64), 2.0)
    array([0.+2.j, 2.+2.j, 4.+2.j, 6.+2.j])
    """
    lanes = 32 // units.dtype.itemsize
    parts = units.reshape(-1, 2, lanes)
    vector: Any = np.empty((parts.shape[0], lanes), np.result_type(units.dtype, np.complex64))
    factor = units.dtype.type(scale)
    np.multiply(parts[:, 0], factor, out=vector.real)
    np.multiply(parts[:, 1], factor, out=vector.imag)
    return vector.reshape(-1)


class Workspace(NamedTuple):
    """Scratch memory of one thread while it runs chunks."""

    permuted_input: Array
    """Lane-permuted copy of the input."""
    permuted_output: Array
    """Sums over lane-permuted entries."""
    table: Array
    """Tables of one item (most of it is never touched)."""
    rows: IntArray
    """Packed table rows of the groups of one item."""


def make_workspace(layout: Layout, size: int) -> Workspace:
    """Return a thread's workspace for vectors of ``size`` entries."""
    dtype = layout.signs.dtype
    length = (8 * BATCH * ROW) << LONGEST
    if layout.heavy.any():
        length = max(length, 4 * size)
    return Workspace(
        empty_aligned(2 * size, dtype),
        empty_aligned(2 * size, dtype),
        empty_aligned(length, dtype),
        empty_aligned(2 * BATCH * size // (2 * ROW), np.int64),
    )
