"""Equality constraints: K = {0}."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.blas import norm
from unipd.couplings.base import ConvexSet, Rescaling, row_factors


class Equality(ConvexSet):
    """K = {0}, i.e. A x = b; h = 0, so the dual variable is free.

    See Also
    --------
    AtMost, Box

    Examples
    --------
    >>> Equality().distance(np.array([3.0, 4.0]))
    5.0
    """

    is_separable = True

    dual_sign = 0.0

    @property
    def is_equality(self) -> bool:
        """True."""
        return True

    def project(self, vector: Array) -> Array:
        """Return 0."""
        return np.zeros_like(vector)

    def conjugate(self, dual: Array) -> float:
        """Return 0."""
        return 0.0

    def distance(self, residual: Array) -> float:
        """Return ||r||."""
        return norm(residual)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return v: the prox of zero."""
        return vector

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Return C: the prox is the identity."""
        return directions

    def prox_curvature(self, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
        """Return the Gram matrix of the columns."""
        return gram

    def rescale(self, norms: FloatArray) -> Rescaling | None:
        """Return any factors: {0} stays as it is."""
        return Rescaling(row_factors(norms), self)
