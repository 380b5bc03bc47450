"""The sup-norm ball as a set K."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.entrywise import clip_modulus, shrink, total
from unipd.couplings.base import ConvexSet, Rescaling, row_factors
from unipd.couplings.box import Box


class LInfBall(ConvexSet):
    """K = {max_i |r_i| <= radius}, h(lam) = radius ||lam||_1; complex entries count by modulus.

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
    L1Ball, L2Ball, Box, unipd.sharp.LInfBall

    Examples
    --------
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

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Keep the radial part of each row and shorten the tangential one where |v_i| > step radius, 0 elsewhere."""
        moduli, cut = np.abs(vector).reshape(-1, 1), step * self.radius
        radial = _radial(vector, directions)
        bent = radial + (1.0 - cut / np.where(moduli > cut, moduli, np.inf)) * (directions - radial)
        return np.where(moduli > cut, bent, 0.0).astype(directions.dtype, copy=False)

    def rescale(self, norms: FloatArray) -> Rescaling | None:
        """Return any factors: the ball becomes a box (for real data)."""
        factors = row_factors(norms)
        return Rescaling(factors, Box(-self.radius * factors, self.radius * factors))


def _radial(vector: Array, directions: Array) -> Array:
    """Return the parts of the directions along the entries of a vector: all of them for real numbers."""
    if vector.dtype.kind != "c":
        return directions
    flat = vector.reshape(-1, 1)
    units = flat / np.where(flat == 0, 1.0, np.abs(flat))
    return units * (units.conj() * directions).real
