"""Signs, phases, unit vectors and largest entries, safe for zeros, tiny and complex numbers."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, IntArray, Shape
from unipd.atoms import SparsePoint

DENSE_SHARE = 4
"""A point is kept sparse when it has at most one nonzero in this many entries."""


def phase(y: Array) -> Array:
    """Return y / |y| entry by entry (the sign of a real number), 0 where y is 0.

    >>> phase(np.array([3.0, 0.0, -2.0]))
    array([ 1.,  0., -1.])
    >>> phase(np.array([3.0 + 4.0j]))
    array([0.6+0.8j])
    """
    if y.dtype.kind != "c":
        return np.sign(y)
    # Dividing by the larger part first keeps the modulus exact for subnormal numbers.
    largest = np.maximum(np.abs(np.real(y)), np.abs(np.imag(y)))
    largest[largest == 0] = 1
    out = divided(y, largest)
    modulus = np.abs(out)
    modulus[modulus == 0] = 1
    return divided(out, modulus)


def unit(y: Array) -> Array:
    """Return y / ||y|| for the Euclidean norm, and 0 at 0.

    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    scale = largest_entry(y)
    if scale == 0:
        return np.zeros_like(y)
    out = divided(y, scale)
    return out / float(np.linalg.norm(out.reshape(-1)))


def euclidean(y: Array) -> float:
    """Return ||y|| without overflow or underflow on the way.

    >>> euclidean(np.array([3e-200, 4e-200]))
    5e-200
    """
    scale = largest_entry(y)
    return scale * float(np.linalg.norm(divided(y, scale).reshape(-1))) if scale else 0.0


def largest_entry(y: Array) -> float:
    """Return max |y_i|, of a complex number the larger of its two parts (a scale, not a norm)."""
    if y.dtype.kind == "c":
        return max(largest_entry(np.real(y)), largest_entry(np.imag(y)))
    return float(max(y.max(), -y.min()))


def divided(y: Array, scale: Array | float) -> Array:
    """Return y / scale for a real scale; complex division by a subnormal number would overflow."""
    if y.dtype.kind != "c":
        return y / scale
    return np.real(y) / scale + 1j * (np.imag(y) / scale)


def largest(magnitudes: Array, count: int) -> IntArray:
    """Return the indices of the ``count`` largest entries in increasing order, the first among equals.

    >>> largest(np.array([1.0, 3.0, 1.0, 2.0]), 3)
    array([0, 1, 3])
    """
    cut = magnitudes.size - count
    if cut <= 0:
        return np.arange(magnitudes.size)
    threshold = np.partition(magnitudes, cut)[cut]
    chosen = magnitudes > threshold
    ties = np.flatnonzero(magnitudes == threshold)
    chosen[ties[: count - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def scattered(shape: Shape, indices: IntArray, values: Array) -> SparsePoint | Array:
    """Return the point with ``values`` at flat ``indices``: sparse when few of its entries are nonzero.

    >>> scattered((8,), np.array([2]), np.array([1.0]))
    SparsePoint(shape=(8,), indices=array([2]), values=array([1.]))
    """
    point = SparsePoint(shape, indices, values)
    size = int(np.prod(shape))
    return point if DENSE_SHARE * indices.size <= size else point.dense()
