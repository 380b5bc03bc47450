"""The Euclidean ball as a set K."""

from __future__ import annotations

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet
from unipd.protocols import norm


class L2Ball(ConvexSet):
    """K = {||r|| <= radius}, i.e. ||A x - b|| <= radius (a noise level); h(lam) = radius ||lam||.

    >>> L2Ball(1.0).distance(np.array([3.0, 4.0]))
    4.0
    """

    def __init__(self, radius: float) -> None:
        self.radius = validate.nonnegative("radius", radius)

    def project(self, vector: Array) -> Array:
        """Scale v down to norm ``radius`` when it is longer."""
        length = norm(vector)
        return vector if length <= self.radius else vector * (self.radius / length)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||lam||."""
        return self.radius * norm(dual)

    def distance(self, residual: Array) -> float:
        """Return max(||r|| - radius, 0)."""
        return max(norm(residual) - self.radius, 0.0)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Shorten v by ``step * radius``, to zero at least."""
        length, cut = norm(vector), float(step) * self.radius
        return np.zeros_like(vector) if length <= cut else vector * ((length - cut) / length)
