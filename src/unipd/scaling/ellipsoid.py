"""The Euclidean ball in other units: an ellipsoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.couplings.base import ConvexSet, require_like
from unipd.couplings.jacobian import prox_jacobian
from unipd.couplings.modulus import total
from unipd.protocols import norm

_STEPS = 100


class Ellipsoid(ConvexSet):
    """K = {r : ||r / d|| <= radius} for positive d, the ball {||r|| <= radius} with its rows multiplied by d.

    h(lam) = radius ||d lam||. The projection of v outside K is v_i / (1 + t / d_i^2) with the t > 0 at which it
    meets the boundary, found by Newton's method on 1 / ||r(t) / d||, which is concave and increasing.

    >>> Ellipsoid(1.0, np.array([1.0, 2.0])).conjugate(np.array([3.0, 2.0]))
    5.0
    """

    def __init__(self, radius: float, sides: Any) -> None:
        self.radius = validate.positive("radius", radius)
        self.sides: FloatArray = validate.real_array("sides", sides)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless there is a side for each entry."""
        require_like("sides", self.sides, shape, dtype)

    def project(self, vector: Array) -> Array:
        """Return the nearest point of the ellipsoid."""
        multiplier = self.multiplier(vector)
        if multiplier == 0.0:
            return vector
        return (vector / (1.0 + multiplier / self.sides**2)).astype(vector.dtype, copy=False)

    def multiplier(self, vector: Array) -> float:
        """Return the t of the projection, 0 inside."""
        unit = np.abs(vector / self.sides).astype(np.float64) / self.radius
        weights = 1.0 / self.sides.astype(np.float64) ** 2
        t = 0.0
        for _ in range(_STEPS):
            shrink = 1.0 / (1.0 + t * weights)
            squared = total((unit * shrink) ** 2)
            if squared <= 1.0 + 1e-15:
                break
            slope = total((unit * shrink) ** 2 * weights * shrink)
            step = squared * (np.sqrt(squared) - 1.0) / slope
            if t + step == t:
                break
            t += step
        return float(t)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||d lam||."""
        return self.radius * norm(self.sides * dual)


@prox_jacobian.register
def _(coupling: Ellipsoid, vector: Array, step: float, directions: Array) -> Array:
    """Return I less the Jacobian of the projection, from the derivative of its multiplier."""
    scaled = vector / step
    multiplier = coupling.multiplier(scaled)
    if multiplier == 0.0:
        return np.zeros_like(directions)
    weights = 1.0 / coupling.sides.reshape(-1).astype(np.float64) ** 2
    shrink = 1.0 / (1.0 + multiplier * weights)
    normal = weights * shrink * scaled.reshape(-1)
    slope = total(np.abs(normal) ** 2 * shrink)
    change = ((shrink * normal).conj() @ directions).real / slope
    moved = shrink[:, None] * (directions - normal[:, None] * change[None, :])
    return (directions - moved).astype(directions.dtype, copy=False)
