"""The l1 ball as a set K."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.entrywise import clip_modulus, l1_threshold, project_moduli_l1
from unipd.couplings.base import ConvexSet, Rescaling, common_factor


class L1Ball(ConvexSet):
    """K = {||r||_1 <= radius}, h(lam) = radius ||lam||_inf; complex entries count by modulus.

    The projection lowers every modulus by the same threshold, found by one sort: O(n log n).

    Parameters
    ----------
    radius
        The radius, at least 0.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number of at least zero.

    See Also
    --------
    L2Ball, LInfBall, Absolute, unipd.sharp.L1Ball

    Examples
    --------
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
        kept = project_moduli_l1(moduli, self.radius)
        return (double * (kept / np.where(moduli > 0, moduli, 1.0)) + 0.0).astype(vector.dtype, copy=False)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||lam||_inf."""
        return self.radius * float(np.max(np.abs(dual), initial=0.0))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Clip the moduli at the threshold of the ball of radius ``step * radius``."""
        return clip_modulus(vector, l1_threshold(np.abs(vector), step * self.radius))

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Move the moduli that are cut as their threshold moves: by the mean of the radial parts."""
        moduli, radius = np.abs(vector), step * self.radius
        theta = l1_threshold(moduli, radius)
        if theta == 0.0:
            return np.zeros_like(directions)
        cut = np.flatnonzero(project_moduli_l1(moduli, radius) > 0)
        if cut.size == 0:  # a ball of radius zero
            return directions.copy()
        flat, sizes = vector.reshape(-1)[cut], moduli.reshape(-1, 1)[cut]
        units = flat.reshape(-1, 1) / sizes
        along = (units.conj() * directions[cut]).real
        changes = directions.copy()
        changes[cut] = units * along.mean(axis=0) + (theta / sizes) * (directions[cut] - units * along)
        return changes

    def rescale(self, norms: FloatArray) -> Rescaling | None:
        """Return one common factor, and the radius times it."""
        factors = common_factor(norms)
        return Rescaling(factors, L1Ball(float(factors[0]) * self.radius))
