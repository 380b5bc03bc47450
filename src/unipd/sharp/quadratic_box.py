"""Separable quadratics over a box."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpFunction
from unipd.sharp.box import Box


class QuadraticBox(SharpFunction):
    """f(x) = sum d_i x_i^2 / 2 + c_i x_i over {l <= x <= u}, with d_i >= 0.

    [y]^#_i is (y_i - c_i) / d_i clipped to [l_i, u_i]; where d_i = 0 it is u_i if y_i > c_i, else l_i.

    Parameters
    ----------
    curvature
        The d_i: an array, or a number that holds for every entry.
    cost
        The c_i, likewise.
    lower, upper
        The bounds, likewise.
    shape
        Shape of x; by default that of the bounds.

    Examples
    --------
    >>> QuadraticBox(1.0, 0.0, lower=[-1.0, 0.0], upper=[1.0, 2.0])(np.array([0.5, 3.0])).atom
    array([0.5, 2. ])
    """

    real_only = True

    def __init__(self, curvature: Any, cost: Any, lower: Any, upper: Any, shape: int | Shape | None = None) -> None:
        self.box = Box(lower, upper, shape)
        super().__init__(self.box.shape)
        self.curvature = self._spread("curvature", curvature)
        self.cost = self._spread("cost", cost)
        if self.curvature.min() < 0:
            raise InvalidInput("curvature", "numbers not below zero", f"{self.curvature.min()}")

    @property
    def linear(self) -> bool:
        """Linear when no entry is curved."""
        return not self.curvature.any()

    @property
    def degree(self) -> float | None:
        """1 when f = 0, else None."""
        return 1.0 if self.linear and not self.cost.any() else None

    def quadratic_diagonal(self) -> Any:
        """Return the d_i, or None when all are zero."""
        return None if self.linear else np.asarray(self.curvature, np.float64)

    def maximiser(self, direction: Array) -> Any:
        """Return the clipped stationary point, entry by entry."""
        slope = direction - self.cost
        inner = np.where(slope > 0, self.box.upper, self.box.lower).astype(np.float64)
        # A tiny d_i may send the stationary point to infinity, which clipping brings back.
        with np.errstate(over="ignore"):
            np.divide(slope, self.curvature, out=inner, where=self.curvature > 0)
        return np.clip(inner, self.box.lower, self.box.upper).astype(direction.dtype, copy=False)

    def objective(self, x: Any) -> float:
        """Return sum d_i x_i^2 / 2 + c_i x_i."""
        point = np.asarray(atoms.dense(x))
        return float(np.sum((0.5 * self.curvature * point + self.cost) * point))

    def support(self, direction: Any) -> float:
        """Return sum_i max(l_i y_i, u_i y_i)."""
        return self.box.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether l <= x <= u."""
        return self.box.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the maximum of f, attained at a corner since f is convex and separable."""
        ends = [(0.5 * self.curvature * end + self.cost) * end for end in (self.box.lower, self.box.upper)]
        return float(np.maximum(*ends).sum())

    def _spread(self, name: str, value: Any) -> Array:
        array = validate.real_array(name, value)
        if array.ndim and array.shape != self.shape:
            raise InvalidInput(name, f"a number or shape {self.shape}", f"shape {array.shape}")
        return np.broadcast_to(array, self.shape)
