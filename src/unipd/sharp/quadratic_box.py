"""Separable quadratics over a box."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpFunction
from unipd.sharp.box import bounds, lies_between


class QuadraticBox(SharpFunction):
    """f(x) = sum d_i x_i^2 / 2 + c_i x_i over {l <= x <= u}, with d_i >= 0; a bound may be infinite where d_i > 0.

    [y]^#_i is (y_i - c_i) / d_i clipped to [l_i, u_i]; where d_i = 0 it is u_i if y_i > c_i, else l_i.

    Parameters
    ----------
    curvature
        The d_i: an array, or a number that holds for every entry.
    cost
        The c_i, likewise.
    lower, upper
        The bounds, likewise; -inf and inf for none.
    shape
        Shape of x; by default that of the bounds.

    Raises
    ------
    InvalidInput
        ``curvature``: expected numbers not below zero.

    See Also
    --------
    Box, L2NormSquared

    Examples
    --------
    >>> QuadraticBox(1.0, 0.0, lower=[-1.0, 0.0], upper=[1.0, 2.0])(np.array([0.5, 3.0])).atom
    array([0.5, 2. ])
    >>> QuadraticBox(2.0, 0.0, lower=0.0, upper=np.inf, shape=2)(np.array([-1.0, 3.0])).atom
    array([0. , 1.5])
    """

    real_only = True

    def __init__(self, curvature: Any, cost: Any, lower: Any, upper: Any, shape: int | Shape | None = None) -> None:
        self.lower, self.upper = bounds(lower, upper, shape, may_be_infinite=True)
        super().__init__(self.lower.shape)
        self.curvature = self._spread("curvature", curvature)
        self.cost = self._spread("cost", cost)
        if self.curvature.min() < 0:
            raise InvalidInput("curvature", "numbers not below zero", f"{self.curvature.min()}")
        infinite = np.isinf(self.lower) | np.isinf(self.upper)
        if not self.curvature[infinite].all():
            raise InvalidInput("curvature", "numbers above zero where a bound is infinite", "zero")
        self._is_bounded = not infinite.any()
        self.is_strictly_convex = bool(self.curvature.min() > 0)

    @property
    def linear(self) -> bool:
        """Linear when no entry is curved."""
        return not self.curvature.any()

    @property
    def degree(self) -> float | None:
        """1 when f = 0; 2 when f is a quadratic form on a cone; else None."""
        if self.cost.any():
            return None
        on_cone = all(np.all((bound == 0.0) | np.isinf(bound)) for bound in (self.lower, self.upper))
        return 1.0 if self.linear else 2.0 if on_cone and self.is_strictly_convex else None

    def quadratic_diagonal(self) -> Any:
        """Return the d_i, or None when all are zero."""
        return None if self.linear else np.asarray(self.curvature, np.float64)

    def maximiser(self, direction: Array) -> Any:
        """Return the clipped stationary point, entry by entry."""
        slope = direction - self.cost
        inner = np.where(slope > 0, self.upper, self.lower).astype(np.float64)
        # A tiny d_i may send the stationary point to infinity, which clipping brings back.
        with np.errstate(over="ignore"):
            np.divide(slope, self.curvature, out=inner, where=self.curvature > 0)
        return np.clip(inner, self.lower, self.upper).astype(direction.dtype, copy=False)

    def objective(self, x: Any) -> float:
        """Return sum d_i x_i^2 / 2 + c_i x_i."""
        point = np.asarray(atoms.dense(x))
        return float(np.sum((0.5 * self.curvature * point + self.cost) * point))

    def support(self, direction: Any) -> float:
        """Return sum_i max(l_i y_i, u_i y_i); an infinite bound in the direction of y makes it infinite."""
        y = self._validate_direction(direction)
        present = y != 0.0
        return float(np.sum(y[present] * np.where(y > 0, self.upper, self.lower)[present]))

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether l <= x <= u."""
        return lies_between(self._point(x), self.lower, self.upper, tolerance)

    def maximum(self) -> float:
        """Return the maximum of f, attained at a corner since f is convex and separable; inf on an unbounded box."""
        if not self._is_bounded:
            return math.inf
        ends = [(0.5 * self.curvature * end + self.cost) * end for end in (self.lower, self.upper)]
        return float(np.maximum(*ends).sum())

    def _spread(self, name: str, value: Any) -> Array:
        array = validate.real_array(name, value)
        if array.ndim and array.shape != self.shape:
            raise InvalidInput(name, f"a number or shape {self.shape}", f"shape {array.shape}")
        return np.broadcast_to(array, self.shape)
