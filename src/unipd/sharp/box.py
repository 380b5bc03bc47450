"""Boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpSet, as_shape
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
