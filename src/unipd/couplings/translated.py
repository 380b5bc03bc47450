"""A set moved by a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet, require_like, require_set
from unipd.protocols import Coupling, inner


class Translated(ConvexSet):
    """K = shift + K_0, with h(lam) = <lam, shift> + h_0(lam).

    Examples
    --------
    >>> from unipd.couplings import L2Ball
    >>> Translated(L2Ball(1.0), np.array([3.0, 0.0])).project(np.array([0.0, 0.0]))
    array([2., 0.])
    """

    def __init__(self, part: Coupling, shift: Any) -> None:
        self.part = require_set("part", part)
        self.shift = validate.finite_array("shift", shift, copy=True)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the shift has the shape of the data, is real where it is, and the set takes it."""
        require_like("shift", self.shift, shape, dtype)
        self.part.check(shape, dtype)

    def project(self, vector: Array) -> Array:
        """Return shift + P_0(v - shift)."""
        shift = self.shift.astype(vector.dtype, copy=False)
        return shift + self.part.prox(vector - shift, 1.0)

    def conjugate(self, dual: Array) -> float:
        """Return <lam, shift> + h_0(lam)."""
        return self.part.conjugate(dual) + inner(dual, self.shift)

    def distance(self, residual: Array) -> float:
        """Return the distance of r - shift to the set that was moved."""
        return self.part.distance(residual - self.shift.astype(residual.dtype, copy=False))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the prox of step h_0 at v - step shift."""
        moved = vector - (float(step) * self.shift).astype(vector.dtype, copy=False)
        return self.part.prox_conjugate(moved, step)
