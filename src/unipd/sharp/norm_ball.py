"""Balls of norms: the norm, its dual and a dual vector are all an oracle needs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from unipd import validate
from unipd._typing import Array, Shape
from unipd.sharp.base import SharpSet


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
