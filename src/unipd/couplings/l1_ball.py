"""The l1 ball as a set K."""

from __future__ import annotations

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet
from unipd.couplings.modulus import clip_modulus, l1_kept, l1_threshold


class L1Ball(ConvexSet):
    """K = {||r||_1 <= radius}, h(lam) = radius ||lam||_inf; complex entries count by modulus.

    The projection lowers every modulus by the same threshold, found by one sort: O(n log n).

    >>> L1Ball(2.0).project(np.array([3.0, -1.0]))
    array([2., 0.])
    """

    def __init__(self, radius: float) -> None:
        self.radius = validate.nonnegative("radius", radius)

    def project(self, vector: Array) -> Array:
        """Return the soft threshold of v whose l1 norm is the radius, or v when it is inside."""
        # In double precision: far from the ball the entries that stay differ in their last digits.
        double = vector.astype(np.result_type(vector.dtype, np.float64), copy=False)
        moduli = np.abs(double)
        kept = l1_kept(moduli, self.radius)
        return (double * (kept / np.where(moduli > 0, moduli, 1.0)) + 0.0).astype(vector.dtype, copy=False)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||lam||_inf."""
        return self.radius * float(np.max(np.abs(dual), initial=0.0))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Clip the moduli at the threshold of the ball of radius ``step * radius``."""
        return clip_modulus(vector, l1_threshold(np.abs(vector), step * self.radius))
