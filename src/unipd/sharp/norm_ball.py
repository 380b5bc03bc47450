"""Balls of norms: what every ball must say (the norm, its dual norm, a maximiser), and the balls of the lp norms."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray, Shape
from unipd._util import validate
from unipd._util.arrays import divide_by_real, phase
from unipd.atoms import SparsePoint
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpSet, largest_above
from unipd.sharp.coordinates import Coordinates

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


class L1Ball(NormBall):
    """The ball {sum |x_i| <= r}; [y]^# = r sign(y_i) e_i with i = argmax |y_i|.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    L1NormSquared, L1NormOnBall, OWLBall, unipd.couplings.L1Ball

    Examples
    --------
    >>> L1Ball(3, radius=2.0)(np.array([1.0, -3.0, 2.0])).atom.dense()
    array([ 0., -2.,  0.])
    """

    def norm(self, point: Array) -> float:
        """Return sum |x_i|."""
        return float(np.abs(point).sum())

    def dual_norm(self, direction: Array) -> float:
        """Return max |y_i|."""
        return float(np.abs(direction).max())

    @property
    def atom_entries(self) -> int:
        """A vertex has one nonzero."""
        return 1

    def maximiser(self, direction: Array) -> Any:
        """Return r (y_i / |y_i|) e_i for the largest |y_i|, the first of several."""
        index = int(np.abs(direction).argmax())
        values = self.radius * phase(direction.reshape(-1)[index : index + 1])
        return SparsePoint(self.shape, np.array([index]), values)

    def coordinates(self) -> Coordinates:
        """Return every entry as a group of weight one."""
        return Coordinates.of_entries(self.size, budget=self.radius)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the vertices with the largest |y_i|."""
        flat = direction.reshape(-1)
        places = largest_above(np.abs(flat), count, above / self.radius)
        return [SparsePoint(self.shape, place, self.radius * phase(flat[place])) for place in places[:, None]]


class L2Ball(NormBall):
    """The ball {||x||_2 <= r}; [y]^# = r y / ||y||_2.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    L2NormSquared, GroupBall, unipd.couplings.L2Ball

    Examples
    --------
    >>> answer = L2Ball(2, radius=10.0)(np.array([3.0, -4.0]))
    >>> answer.atom, answer.value
    (array([ 6., -8.]), 50.0)
    """

    is_strictly_convex = True

    def norm(self, point: Array) -> float:
        """Return ||x||_2."""
        return float(np.linalg.norm(point.reshape(-1)))

    def dual_norm(self, direction: Array) -> float:
        """Return ||y||_2."""
        return euclidean(direction)

    def maximiser(self, direction: Array) -> Any:
        """Return r y / ||y||_2."""
        return self.radius * unit(direction)


class LInfBall(NormBall):
    """The ball {max |x_i| <= r}; [y]^# = r sign(y).

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    Box, LInfNormSquared, unipd.couplings.LInfBall

    Examples
    --------
    >>> LInfBall(3, radius=2.0)(np.array([1.0, -3.0, 0.0])).atom
    array([ 2., -2.,  0.])
    """

    def norm(self, point: Array) -> float:
        """Return max |x_i|."""
        return float(np.abs(point).max())

    def dual_norm(self, direction: Array) -> float:
        """Return sum |y_i|."""
        return float(np.abs(direction).sum())

    def maximiser(self, direction: Array) -> Any:
        """Return r sign(y)."""
        return self.radius * phase(direction)


class LpBall(NormBall):
    """The ball {(sum |x_i|^p)^(1/p) <= r} for 1 < p < inf, with dual exponent q = p / (p - 1).

    [y]^# = r sign(y_i) (|y_i| / ||y||_q)^(q - 1), entry by entry.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    exponent
        The exponent p; for 1 and inf see :class:`~unipd.sharp.L1Ball` and :class:`~unipd.sharp.LInfBall`.
    radius
        The radius r > 0.

    Raises
    ------
    InvalidInput
        ``exponent``: expected a finite number.

    See Also
    --------
    L1Ball, L2Ball, PowerNorm

    Examples
    --------
    >>> LpBall(2, exponent=2.0)(np.array([3.0, -4.0])).atom
    array([ 0.6, -0.8])
    """

    is_strictly_convex = True

    def __init__(self, shape: int | Shape, exponent: float, radius: float = 1.0) -> None:
        super().__init__(shape, radius)
        self.exponent = validate.number("exponent", exponent)
        if self.exponent <= 1:
            raise InvalidInput("exponent", "a finite number above 1", repr(exponent))
        self.dual_exponent = self.exponent / (self.exponent - 1.0)

    def norm(self, point: Array) -> float:
        """Return (sum |x_i|^p)^(1/p)."""
        return power_norm(point, self.exponent)

    def dual_norm(self, direction: Array) -> float:
        """Return (sum |y_i|^q)^(1/q)."""
        return power_norm(direction, self.dual_exponent)

    def maximiser(self, direction: Array) -> Any:
        """Return the one point of the sphere with y as normal."""
        moduli = np.abs(direction)
        scale = float(moduli.max())
        if scale == 0:
            return np.zeros_like(direction)
        moduli = moduli / scale
        shrunk = (moduli / power_norm(moduli, self.dual_exponent)) ** (self.dual_exponent - 1.0)
        return self.radius * shrunk * phase(direction)


def power_norm(vector: Array, exponent: float) -> float:
    """Return (sum |x_i|^p)^(1/p), scaled by the largest entry against overflow.

    >>> power_norm(np.array([2e200, 2e200]), 1.0)
    4e+200
    """
    moduli = np.abs(vector)
    scale = float(moduli.max())
    if scale == 0:
        return 0.0
    return scale * float(((moduli / scale) ** exponent).sum()) ** (1.0 / exponent)
