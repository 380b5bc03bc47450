"""Boxes, with f = 0 or a separable quadratic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpFunction, SharpSet, as_shape
from unipd.sharp.coordinates import Coordinates


class Box(SharpSet):
    """The box {l <= x <= u}; [y]^#_i = u_i where y_i > 0 and l_i elsewhere.

    Parameters
    ----------
    lower, upper
        The bounds: finite arrays, or numbers that hold for every entry.
    shape
        Shape of x; by default that of the bounds.

    See Also
    --------
    QuadraticBox, LInfBall

    Examples
    --------
    >>> Box(-1.0, np.array([1.0, 2.0, 3.0]))(np.array([1.0, -1.0, 0.5])).atom
    array([ 1., -1.,  3.])
    """

    real_only = True

    def __init__(self, lower: Any, upper: Any, shape: int | Shape | None = None) -> None:
        self.lower, self.upper = bounds(lower, upper, shape)
        super().__init__(self.lower.shape)

    def maximiser(self, direction: Array) -> Any:
        """Return the best corner (the lower bound where y_i = 0)."""
        return np.where(direction > 0, self.upper, self.lower).astype(direction.dtype, copy=False)

    def coordinates(self) -> Coordinates:
        """Return every entry with its bounds, outside any budget."""
        lower, upper = self.lower.reshape(-1), self.upper.reshape(-1)
        return Coordinates.of_entries(self.size, weight=0.0, lower=lower, upper=upper)

    def peak(self, direction: Array) -> float:
        """Return sum_i max(l_i y_i, u_i y_i)."""
        return float(np.vdot(direction, np.where(direction > 0, self.upper, self.lower)))

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether l <= x <= u, up to ``tolerance`` times the largest bound."""
        return lies_between(self._point(x), self.lower, self.upper, tolerance)


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
        self.curvature = _spread("curvature", validate.real_array("curvature", curvature), self.shape)
        self.cost = _spread("cost", validate.real_array("cost", cost), self.shape)
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


def lies_between(point: Array | None, lower: Array, upper: Array, tolerance: float) -> bool:
    """Whether l <= x <= u, up to ``tolerance`` times the largest finite bound; not for None.

    >>> lies_between(np.array([2.0, 1e9]), np.zeros(2), np.array([2.0, np.inf]), 0.0)
    True
    """
    if point is None:
        return False
    sizes = [np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in (lower, upper)]
    slack = tolerance * float(max(sizes))
    return bool((point >= lower - slack).all() and (point <= upper + slack).all())


def bounds(
    lower: Any, upper: Any, shape: int | Shape | None = None, *, may_be_infinite: bool = False
) -> tuple[Array, Array]:
    """Return the bounds of a box as two arrays of one shape, or raise.

    >>> bounds(0.0, [1.0, 2.0])
    (array([0., 0.]), array([1., 2.]))
    """
    read = validate.extended_array if may_be_infinite else validate.real_array
    low, high = read("lower", lower), read("upper", upper)
    target = low.shape or high.shape if shape is None else as_shape(shape)
    if not target:
        raise InvalidInput("shape", "the shape of x, when both bounds are numbers", repr(shape))
    low, high = _spread("lower", low, target), _spread("upper", high, target)
    if (low == np.inf).any() or (high == -np.inf).any():
        raise InvalidInput("upper", "bounds above -inf, and lower ones below inf", "none between them")
    if (low > high).any():
        place = tuple(int(i) for i in np.argwhere(low > high)[0])
        raise InvalidInput("upper", "bounds not below lower", f"{high[place]} < {low[place]} at index {place}")
    return low, high


def _spread(name: str, bound: Array, shape: Shape) -> Array:
    if bound.ndim and bound.shape != shape:
        raise InvalidInput(name, f"a number or shape {shape}", f"shape {bound.shape}")
    return np.broadcast_to(bound, shape)
