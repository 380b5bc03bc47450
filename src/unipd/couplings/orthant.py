"""Inequality constraints: K an orthant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.couplings.base import ConvexSet, Rescaling, require_real, row_factors


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

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Keep the rows where v is in the polar cone."""
        return directions * (self._sign * vector.reshape(-1, 1) < 0)

    def rescale(self, norms: FloatArray) -> Rescaling | None:
        """Return any factors: positive ones keep the orthant."""
        return Rescaling(row_factors(norms), self)


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
