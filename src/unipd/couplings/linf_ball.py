"""The sup-norm ball as a set K."""

from __future__ import annotations

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet
from unipd.couplings.modulus import clip_modulus, shrink, total


class LInfBall(ConvexSet):
    """K = {max_i |r_i| <= radius}, h(lam) = radius ||lam||_1; complex entries count by modulus.

    >>> LInfBall(1.0).project(np.array([3.0, -0.5]))
    array([ 1. , -0.5])
    """

    def __init__(self, radius: float) -> None:
        self.radius = validate.nonnegative("radius", radius)

    def project(self, vector: Array) -> Array:
        """Cut every modulus down to the radius."""
        return clip_modulus(vector, self.radius)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||lam||_1."""
        return self.radius * total(np.abs(dual))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the soft threshold of v at ``step * radius``."""
        return shrink(vector, float(step) * self.radius)
