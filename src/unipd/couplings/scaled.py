"""A set stretched by a factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet, require_set
from unipd.protocols import Coupling


class Scaled(ConvexSet):
    """K = factor * K_0 with factor > 0, with h(lam) = factor * h_0(lam).

    Examples
    --------
    >>> from unipd.couplings import LInfBall
    >>> Scaled(LInfBall(1.0), 3.0).project(np.array([5.0, -1.0]))
    array([ 3., -1.])
    """

    def __init__(self, part: Coupling, factor: float) -> None:
        self.part = require_set("part", part)
        self.factor = validate.positive("factor", factor)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the set takes such data."""
        self.part.check(shape, dtype)

    def project(self, vector: Array) -> Array:
        """Return factor * P_0(v / factor)."""
        return self.factor * self.part.prox(vector / self.factor, 1.0)

    def conjugate(self, dual: Array) -> float:
        """Return factor * h_0(lam)."""
        return self.factor * self.part.conjugate(dual)

    def distance(self, residual: Array) -> float:
        """Return factor times the distance of r / factor to the set that was stretched."""
        return self.factor * self.part.distance(residual / self.factor)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the prox of (step factor) h_0 at v."""
        return self.part.prox_conjugate(vector, self.factor * float(step))
