"""The balls of the l1, Euclidean and maximum norm as sets K; in other units the Euclidean one is an ellipsoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import clip_modulus, l1_threshold, norm, project_moduli_l1, shrink, total
from unipd.couplings.base import ConvexSet, RowScaling, common_factor, require_like, row_factors
from unipd.couplings.relations import Box, Equality


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

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return one common factor, and the radius times it."""
        factors = common_factor(norms)
        return RowScaling(factors, L1Ball(float(factors[0]) * self.radius))


class L2Ball(ConvexSet):
    """K = {||r|| <= radius}, i.e. ||A x - b|| <= radius (a noise level); h(lam) = radius ||lam||.

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
    L1Ball, LInfBall, LeastSquares, unipd.sharp.L2Ball

    Examples
    --------
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

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return (1 - s) C + s u Re u^* C with u = v / ||v|| and s = step radius / ||v||, 0 within that radius."""
        length, cut = norm(vector), step * self.radius
        if length <= cut:
            return np.zeros_like(directions)
        unit = vector.reshape(-1) / length
        along = (unit.conj() @ directions).real
        return (1.0 - cut / length) * directions + (cut / length) * np.outer(unit, along).astype(directions.dtype)

    def prox_curvature(self, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
        """Return (1 - s) C^* C + s a a^* with a = Re C^* u, or 0, from the Gram matrix."""
        length, cut = norm(vector), step * self.radius
        if length <= cut:
            return np.zeros_like(gram)
        along = (vector.reshape(-1).conj() @ columns).real / length
        return (1.0 - cut / length) * gram + (cut / length) * np.outer(along, along)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors: the ball becomes an ellipsoid, a point stays one."""
        factors = row_factors(norms)
        return RowScaling(factors, Ellipsoid(self.radius, factors) if self.radius > 0 else Equality())


NEWTON_STEPS = 100
"""Cap on Newton's method; it rises monotonically to the root, in a handful of steps unless the sides differ wildly."""


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
        multiplier = self._multiplier(vector)
        if multiplier == 0.0:
            return vector
        return (vector / (1.0 + multiplier / self.sides**2)).astype(vector.dtype, copy=False)

    def _multiplier(self, vector: Array) -> float:
        """Return the t of the projection, 0 inside."""
        unit = np.abs(vector / self.sides).astype(np.float64) / self.radius
        weights = 1.0 / self.sides.astype(np.float64) ** 2
        t = 0.0
        for _ in range(NEWTON_STEPS):
            shrink = 1.0 / (1.0 + t * weights)
            squared = total((unit * shrink) ** 2)
            if squared <= 1.0 + 1e-15:
                break
            slope = total((unit * shrink) ** 2 * weights * shrink)
            step = squared / slope * (np.sqrt(squared) - 1.0)
            if t + step == t:
                break
            t += step
        return float(t)

    def conjugate(self, dual: Array) -> float:
        """Return radius ||d lam||."""
        return self.radius * norm(self.sides * dual)

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return I less the Jacobian of the projection, from the derivative of its multiplier."""
        scaled = vector / step
        multiplier = self._multiplier(scaled)
        if multiplier == 0.0:
            return np.zeros_like(directions)
        weights = 1.0 / self.sides.reshape(-1).astype(np.float64) ** 2
        shrink = 1.0 / (1.0 + multiplier * weights)
        normal = weights * shrink * scaled.reshape(-1)
        slope = total(np.abs(normal) ** 2 * shrink)
        change = ((shrink * normal).conj() @ directions).real / slope
        moved = shrink[:, None] * (directions - normal[:, None] * change[None, :])
        return (directions - moved).astype(directions.dtype, copy=False)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors, and the sides times them."""
        factors = row_factors(norms)
        return RowScaling(factors, Ellipsoid(self.radius, factors.reshape(self.sides.shape) * self.sides))


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

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors: the ball becomes a box (for real data)."""
        factors = row_factors(norms)
        return RowScaling(factors, Box(-self.radius * factors, self.radius * factors))


def _radial(vector: Array, directions: Array) -> Array:
    """Return the parts of the directions along the entries of a vector: all of them for real numbers."""
    if vector.dtype.kind != "c":
        return directions
    flat = vector.reshape(-1, 1)
    units = flat / np.where(flat == 0, 1.0, np.abs(flat))
    return units * (units.conj() * directions).real
