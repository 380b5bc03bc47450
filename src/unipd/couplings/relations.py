"""Bounds of every entry: the relations "=", ">=" and "<=", whose K is {0} or an orthant, and boxes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import norm, total
from unipd.couplings.base import ConvexSet, RowScaling, require_real, require_shape, row_factors
from unipd.errors import InvalidInput


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


class Box(ConvexSet):
    """K = {lower <= r <= upper}, i.e. b + lower <= A x <= b + upper; a bound may be infinite.

    h(lam) = sum_i (upper_i max(lam_i, 0) + lower_i min(lam_i, 0)) with 0 * inf = 0: infinite when an entry of
    lam points where its bound is infinite. :meth:`prox_conjugate` never leaves that domain, not even by
    rounding.

    Parameters
    ----------
    lower, upper
        Numbers, or arrays with one bound per entry of r; lower may hold -inf and upper inf.

    Raises
    ------
    InvalidInput
        ``lower``, ``upper``: expected an array of numbers.

    See Also
    --------
    AtMost, AtLeast, LInfBall

    Examples
    --------
    >>> Box(-1.0, 2.0).conjugate(np.array([3.0, -1.0]))
    7.0
    >>> Box(0.0, np.inf).conjugate(np.array([-3.0, 0.0]))
    0.0
    """

    is_separable = True

    def __init__(self, lower: Any, upper: Any) -> None:
        self.lower = validate.extended_array("lower", lower)
        self.upper = validate.extended_array("upper", upper)
        if self.lower.ndim and self.upper.ndim and self.lower.shape != self.upper.shape:
            raise InvalidInput("upper", f"shape {self.lower.shape}", f"shape {self.upper.shape}")
        if np.any(self.lower == np.inf) or np.any(self.upper == -np.inf) or np.any(self.lower > self.upper):
            raise InvalidInput("upper", "numbers not below lower (the box would be empty)", "lower > upper")
        self._shape = self.lower.shape or self.upper.shape

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise for complex data and for bounds of another shape."""
        require_real("a box", dtype)
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.ndim and bound.shape != shape:
                raise InvalidInput(name, f"a number or shape {shape}", f"shape {bound.shape}")

    def project(self, vector: Array) -> Array:
        """Clip every entry to its bounds."""
        return self._clip(vector, 1.0)

    def conjugate(self, dual: Array) -> float:
        """Return sum_i (upper_i max(lam_i, 0) + lower_i min(lam_i, 0))."""
        if self._shape:
            require_shape("dual", dual, self._shape)
        above, below = dual > 0, dual < 0
        upper = np.broadcast_to(self.upper, dual.shape)[above]
        lower = np.broadcast_to(self.lower, dual.shape)[below]
        return total(upper * dual[above]) + total(lower * dual[below])

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return v less its clip to [step * lower, step * upper]: entries inside become exactly zero."""
        return vector - self._clip(vector, float(step))

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Keep the rows where v is outside the scaled box."""
        outside = (vector < step * self.lower) | (vector > step * self.upper)
        return directions * outside.reshape(-1, 1)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors, and the bounds times them."""
        factors = row_factors(norms)
        shaped = factors.reshape(self._shape or norms.shape)
        return RowScaling(factors, Box(shaped * self.lower, shaped * self.upper))

    def _clip(self, vector: Array, scale: float) -> Array:
        if self._shape:
            require_shape("vector", vector, self._shape)
        lower = (scale * self.lower).astype(vector.dtype)
        upper = (scale * self.upper).astype(vector.dtype)
        return np.clip(vector, lower, upper)
