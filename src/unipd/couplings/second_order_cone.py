"""The second-order (Lorentz, ice-cream) cone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import norm
from unipd.couplings.base import ConvexSet, RowScaling, common_factor, domain_rounding, require_real
from unipd.errors import InvalidInput


class SecondOrderCone(ConvexSet):
    """K = {(t, v) : ||v|| <= t}, the first entry of r being t; h is the indicator of the polar cone -K.

    A dual vector counts as in -K when it is outside by at most
    :func:`~unipd.couplings.base.domain_rounding` (some eps ||lam||); the bound that h gives is then right up to
    that distance times ||A x^* - b||.

    See Also
    --------
    L2Ball, PSDCone

    Examples
    --------
    >>> SecondOrderCone().project(np.array([0.0, 2.0]))
    array([1., 1.])
    """

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise for complex data and for anything but a vector (t, v)."""
        require_real("a second-order cone", dtype)
        if len(shape) != 1 or shape[0] < 1:
            raise InvalidInput("b", "a vector (t, v) for a second-order cone", f"shape {shape}")

    def project(self, vector: Array) -> Array:
        """Return v inside, 0 in the polar cone, else ((t + ||v||) / 2) (1, v / ||v||)."""
        _require_vector("vector", vector)
        top, length = float(vector[0]), norm(vector[1:])
        if length <= top:
            return vector
        if length <= -top:
            return np.zeros_like(vector)
        height = 0.5 * (top + length)
        projected = vector * (height / length)
        projected[0] = height
        return projected

    def conjugate(self, dual: Array) -> float:
        """Return 0 when ||v|| <= -t (up to rounding), inf otherwise."""
        _require_vector("dual", dual)
        return 0.0 if norm(dual[1:]) + float(dual[0]) <= domain_rounding(dual) else math.inf

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Project on the polar cone: -P_K(-v)."""
        return -self.project(-vector)

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return the derivative of the projection on the polar cone."""
        height, size = float(vector[0]), norm(vector[1:])
        if size <= abs(height):
            return directions.copy() if height < 0 else np.zeros_like(directions)
        unit, slope = vector[1:] / size, height / size
        along = unit @ directions[1:]
        changes = np.empty_like(directions)
        changes[0] = 0.5 * (directions[0] - along)
        changes[1:] = 0.5 * ((1.0 - slope) * directions[1:] + np.outer(unit, slope * along - directions[0]))
        return changes

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return one common factor, which keeps the cone."""
        return RowScaling(common_factor(norms), self)


def _require_vector(name: str, vector: Array) -> None:
    if vector.ndim != 1 or not vector.size:
        raise InvalidInput(name, "a vector (t, v)", f"shape {vector.shape}")
