"""Entropy on the simplex."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd.protocols import SharpAnswer
from unipd.sharp.base import SharpFunction, as_shape
from unipd.sharp.simplex import Simplex


class Entropy(SharpFunction):
    """f(x) = sum x_i log(x_i / a) over {x >= 0, sum x = a}; the conjugate is a log sum exp(y_i).

    [y]^# = a softmax(y), computed without overflow for any finite y.

    Parameters
    ----------
    size
        Number of entries of x, or its shape.
    scale
        The sum a > 0.

    See Also
    --------
    Simplex

    Examples
    --------
    >>> Entropy(2)(np.array([1000.0, 1000.0])).atom
    array([0.5, 0.5])
    """

    is_strictly_convex = True
    real_only = True

    def __init__(self, size: int | Shape, scale: float = 1.0) -> None:
        super().__init__(as_shape(size, "size"))
        self.simplex = Simplex(size, scale)
        self.scale = self.simplex.scale

    def maximiser(self, direction: Array) -> Any:
        """Return a softmax(y)."""
        powers = np.exp(_subtract_max(direction))
        return powers * (self.scale / float(powers.sum()))

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a softmax(y), a log sum exp(y_i) and f, which needs no logarithm of x."""
        y = self._validate_direction(direction)
        lowered = _subtract_max(y)
        powers = np.exp(lowered)
        total = float(powers.sum())
        atom = powers * (self.scale / total)
        cost = float(np.vdot(atom, lowered)) - self.scale * math.log(total)
        return SharpAnswer(atom, self.scale * (float(y.max()) + math.log(total)), cost)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a log sum exp(y_i) alone; ``objective`` is NaN."""
        y = self._validate_direction(direction)
        total = float(np.exp(_subtract_max(y)).sum())
        return SharpAnswer(None, self.scale * (float(y.max()) + math.log(total)), math.nan)

    def objective(self, x: Any) -> float:
        """Return sum x_i log(x_i / a), with 0 log 0 = 0."""
        point = np.asarray(atoms.dense(x)).reshape(-1)
        point = point[point > 0].astype(np.float64)
        return float(np.sum(point * np.log(point / self.scale)))

    def support(self, direction: Any) -> float:
        """Return a max_i y_i."""
        return self.simplex.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x >= 0 and sum x = a."""
        return self.simplex.contains(x, tolerance)

    def maximum(self) -> float:
        """Return 0, attained at the vertices."""
        return 0.0


def _subtract_max(y: Array) -> Array:
    """Return y - max y; a difference beyond the range of floats becomes the lowest of them."""
    with np.errstate(over="ignore"):
        return np.maximum(y - y.max(), np.finfo(y.dtype).min)
