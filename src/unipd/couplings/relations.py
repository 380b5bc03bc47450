"""The relations "=", ">=" and "<=": K = {0} or an orthant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import norm
from unipd.couplings.base import ConvexSet, RowScaling, require_real, row_factors


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

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors: {0} stays as it is."""
        return RowScaling(row_factors(norms), self)


class AtLeast(ConvexSet):
    """K = {r >= 0}, i.e. A x >= b; h is the indicator of the polar cone {lam <= 0}.

    See Also
    --------
    AtMost, Box

    Examples
    --------
    >>> AtLeast().conjugate(np.array([-1.0, 0.0]))
    0.0
    """

    is_separable = True

    _sign = 1.0
    dual_sign = -1.0

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise for complex data."""
        require_real("an inequality", dtype)

    def project(self, vector: Array) -> Array:
        """Clip entries of the wrong sign to zero."""
        return np.maximum(vector, 0.0)

    def conjugate(self, dual: Array) -> float:
        """Return 0 on the polar cone and inf outside."""
        return 0.0 if np.all(self._sign * dual <= 0) else math.inf

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Project on the polar cone."""
        return np.minimum(vector, 0.0)

    def distance(self, residual: Array) -> float:
        """Return the norm of the entries of the wrong sign."""
        return norm(self.prox_conjugate(residual, 1.0))

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Keep the rows where v is in the polar cone."""
        return directions * (self._sign * vector.reshape(-1, 1) < 0)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors: positive ones keep the orthant."""
        return RowScaling(row_factors(norms), self)


class AtMost(AtLeast):
    """K = {r <= 0}, i.e. A x <= b; h is the indicator of {lam >= 0}.

    See Also
    --------
    AtLeast, Box, Equality

    Examples
    --------
    >>> AtMost().distance(np.array([3.0, -4.0]))
    3.0
    """

    _sign = -1.0
    dual_sign = 1.0

    def project(self, vector: Array) -> Array:
        """Clip entries of the wrong sign to zero."""
        return np.minimum(vector, 0.0)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Project on the polar cone."""
        return np.maximum(vector, 0.0)
