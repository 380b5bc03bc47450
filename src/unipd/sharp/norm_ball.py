"""Balls of norms: the norm, its dual norm and a maximiser; unit vectors and largest entries."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray, Shape
from unipd._util import validate
from unipd._util.arrays import divide_by_real
from unipd.atoms import SparsePoint
from unipd.sharp.base import SharpSet

DENSE_SHARE = 4
"""A point is kept sparse when it has at most one nonzero in this many entries."""


def unit(y: Array) -> Array:
    """Return y / ||y|| for the Euclidean norm, and 0 at 0.

    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    scale = largest_entry(y)
    if scale == 0:
        return np.zeros_like(y)
    out = divide_by_real(y, scale)
    return out / float(np.linalg.norm(out.reshape(-1)))


def euclidean(y: Array) -> float:
    """Return ||y|| without overflow or underflow on the way.

    >>> euclidean(np.array([3e-200, 4e-200]))
    5e-200
    """
    scale = largest_entry(y)
    return scale * float(np.linalg.norm(divide_by_real(y, scale).reshape(-1))) if scale else 0.0


def largest_entry(y: Array) -> float:
    """Return max |y_i|, of a complex number the larger of its two parts (a scale, not a norm)."""
    if y.dtype.kind == "c":
        return max(largest_entry(np.real(y)), largest_entry(np.imag(y)))
    return float(max(y.max(), -y.min()))


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


def scatter_point(shape: Shape, indices: IntArray, values: Array) -> SparsePoint | Array:
    """Return the point with ``values`` at flat ``indices``: sparse when few of its entries are nonzero.

    >>> scatter_point((8,), np.array([2]), np.array([1.0]))
    SparsePoint(shape=(8,), indices=<1 int64>, values=<1 float64>)
    """
    point = SparsePoint(shape, indices, values)
    size = int(np.prod(shape))
    return point if DENSE_SHARE * indices.size <= size else point.dense()


class NormBall(SharpSet):
    """The ball {||x|| <= r} with support function r ||y||_*.

    A subclass gives the norm, its dual norm and a maximiser. Norms that depend on the moduli |x_i| alone take
    complex points too: a phase y_i / |y_i| stands where a real point has a sign. At y = 0 the answer is 0.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number above zero.

    See Also
    --------
    NormSquared, NormOnBall, L1Ball

    Examples
    --------
    The ball of the norm max |x_i| / w_i; its dual norm is sum w_i |y_i|:

    >>> import numpy as np
    >>> class WeightedBox(NormBall):
    ...     weights = np.array([1.0, 2.0])
    ...     def norm(self, point): return float(np.max(np.abs(point) / self.weights))
    ...     def dual_norm(self, direction): return float(np.sum(self.weights * np.abs(direction)))
    ...     def maximiser(self, direction): return self.radius * self.weights * np.sign(direction)
    >>> WeightedBox(2)(np.array([3.0, -1.0])).value
    5.0
    """

    def __init__(self, shape: int | Shape, radius: float = 1.0) -> None:
        super().__init__(shape)
        self.radius = validate.positive("radius", radius)

    @abstractmethod
    def norm(self, point: Array) -> float:
        """Return ||x||."""

    @abstractmethod
    def dual_norm(self, direction: Array) -> float:
        """Return ||y||_* = max of <y, x> over ||x|| <= 1."""

    def peak(self, direction: Array) -> float:
        """Return r ||y||_*."""
        return self.radius * self.dual_norm(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||x|| <= r."""
        point = self._point(x)
        return point is not None and self.norm(point) <= self.radius * (1.0 + tolerance)
