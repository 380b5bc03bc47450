"""One linear inequality in all entries of r: K a half-space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import inner, norm
from unipd.couplings.base import ConvexSet, RowScaling, domain_rounding, require_like, row_factors
from unipd.errors import InvalidInput


class HalfSpace(ConvexSet):
    """K = {r : <normal, r> <= offset}, with the real inner product Re <., .>.

    h(lam) = t offset on the ray lam = t normal, t >= 0, and inf off it. A vector counts as on the ray when it is
    within :func:`~unipd.couplings.base.domain_rounding` of it (some eps ||lam||), and the bound that h gives is
    then right up to that distance times ||A x^* - b||: rounding, as in any inner product.

    Parameters
    ----------
    normal
        The normal, of the shape of b.
    offset
        The largest <normal, r>.

    Raises
    ------
    InvalidInput
        ``normal``: expected an array of finite numbers; ``offset``: expected a finite number.

    See Also
    --------
    AtMost, Box

    Examples
    --------
    >>> half = HalfSpace(np.array([3.0, 4.0]), 5.0)
    >>> half.distance(np.array([3.0, 4.0]))
    4.0
    >>> half.conjugate(np.array([6.0, 8.0])), half.conjugate(np.array([6.0, 7.0]))
    (10.0, inf)
    """

    def __init__(self, normal: Any, offset: float = 0.0) -> None:
        self.normal = validate.finite_array("normal", normal, copy=True)
        self.offset = validate.number("offset", offset)
        # In double precision whatever the data: the ray must be sharper than the vectors compared with it.
        direction = self.normal.astype(np.result_type(self.normal.dtype, np.float64))
        length = norm(direction)
        if not length > 0:
            raise InvalidInput("normal", "a vector that is not zero", "zero")
        self._unit = direction / length
        self._offset = self.offset / length

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the normal has the shape of the data, and is real where the data is."""
        require_like("normal", self.normal, shape, dtype)

    def project(self, vector: Array) -> Array:
        """Move v back along the normal when it is outside."""
        return vector - self._along(self.distance(vector), vector)

    def conjugate(self, dual: Array) -> float:
        """Return t offset for lam = t normal with t >= 0, inf otherwise (up to rounding)."""
        height = max(inner(self._unit, dual), 0.0)
        off_ray = norm(dual - height * self._unit)
        return height * self._offset if off_ray <= domain_rounding(dual) else math.inf

    def distance(self, residual: Array) -> float:
        """Return max(<normal, r> - offset, 0) / ||normal||."""
        return max(inner(self._unit, residual) - self._offset, 0.0)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return t normal with t = max(<normal, v> - step offset, 0) / ||normal||^2."""
        return self._along(max(inner(self._unit, vector) - float(step) * self._offset, 0.0), vector)

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Project on the normal where v is outside the scaled half-space, 0 inside."""
        if inner(self._unit, vector) <= step * self._offset:
            return np.zeros_like(directions)
        unit = self._unit.reshape(-1)
        return np.outer(unit, (unit.conj() @ directions).real).astype(directions.dtype, copy=False)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors, and the normal over them."""
        factors = row_factors(norms)
        return RowScaling(factors, HalfSpace(self.normal / factors.reshape(self.normal.shape), self.offset))

    def _along(self, height: float, like: Array) -> Array:
        return (height * self._unit).astype(like.dtype, copy=False)
