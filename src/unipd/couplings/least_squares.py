"""Quadratic losses: least squares, plain and weighted."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import inner, scale_rows, total
from unipd.couplings.base import ConvexLoss, RowScaling, row_factors
from unipd.errors import InvalidInput


class LeastSquares(ConvexLoss):
    """phi(r) = (c/2) ||r||^2 with phi^*(lam) = ||lam||^2 / (2c).

    In the slack split r^*(lam) = lam / c, so grad g = lam/c + b - A x^*(lam).

    Parameters
    ----------
    scale
        The constant c > 0.

    Raises
    ------
    InvalidInput
        ``scale``: expected a number above zero.

    See Also
    --------
    WeightedLeastSquares, Huber, L2Ball

    Examples
    --------
    >>> LeastSquares().value(np.array([3.0, 4.0]))
    12.5
    """

    is_separable = True

    dual_sign = 0.0

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = validate.positive("scale", scale)

    @property
    def conjugate_degree(self) -> float | None:
        """The conjugate is quadratic."""
        return 2.0

    @property
    def quadratic_weights(self) -> float:
        """The weight c."""
        return self.scale

    def value(self, residual: Array) -> float:
        """Return (c/2) ||r||^2."""
        return 0.5 * self.scale * inner(residual, residual)

    def gradient(self, residual: Array) -> Array:
        """Return c r."""
        return residual if self.scale == 1.0 else self.scale * residual

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Return c C."""
        return self.scale * directions

    def curvature(self) -> float:
        """Return c."""
        return self.scale

    def conjugate(self, dual: Array) -> float:
        """Return ||lam||^2 / (2c)."""
        return 0.5 * inner(dual, dual) / self.scale

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return lam / c and phi^*(lam)."""
        return dual if self.scale == 1.0 else dual / self.scale, 0.5 * inner(dual, dual) / self.scale

    def prox(self, vector: Array, step: float) -> Array:
        """Return v / (1 + c step)."""
        return vector / (1.0 + self.scale * float(step))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return v / (1 + step / c)."""
        return vector / (1.0 + float(step) / self.scale)


class WeightedLeastSquares(ConvexLoss):
    """phi(r) = 1/2 sum_i w_i |r_i|^2 with positive weights (inverse variances).

    Parameters
    ----------
    weights
        The weights w > 0, of the shape of b.

    Raises
    ------
    InvalidInput
        ``weights``: expected an array of finite real numbers.

    See Also
    --------
    LeastSquares, Scaled

    Examples
    --------
    >>> WeightedLeastSquares(np.array([1.0, 4.0])).value(np.array([1.0, 1.0]))
    2.5
    """

    is_separable = True

    def __init__(self, weights: Any) -> None:
        self.weights = validate.real_array("weights", weights, copy=True)
        if self.weights.size == 0 or self.weights.min() <= 0:
            raise InvalidInput("weights", "positive numbers", "an entry <= 0")

    @property
    def conjugate_degree(self) -> float | None:
        """The conjugate is quadratic."""
        return 2.0

    @property
    def quadratic_weights(self) -> FloatArray:
        """The weights w."""
        return self.weights

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless there is a weight for each measurement."""
        if self.weights.shape != shape:
            raise InvalidInput("weights", f"shape {shape}", f"shape {self.weights.shape}")

    def value(self, residual: Array) -> float:
        """Return 1/2 sum_i w_i |r_i|^2."""
        return 0.5 * total(self.weights * np.abs(residual) ** 2)

    def gradient(self, residual: Array) -> Array:
        """Return w r, entry by entry."""
        return (self.weights * residual).astype(residual.dtype, copy=False)

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Return diag(w) C."""
        return scale_rows(self.weights, directions)

    def curvature(self) -> float:
        """Return the largest weight."""
        return float(self.weights.max())

    def conjugate(self, dual: Array) -> float:
        """Return 1/2 sum_i |lam_i|^2 / w_i."""
        return 0.5 * total(np.abs(dual) ** 2 / self.weights)

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return lam / w and phi^*(lam)."""
        return (dual / self.weights).astype(dual.dtype, copy=False), self.conjugate(dual)

    def prox(self, vector: Array, step: float) -> Array:
        """Return v / (1 + w step), entry by entry."""
        return (vector / (1.0 + self.weights * step)).astype(vector.dtype, copy=False)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return v / (1 + step / w), entry by entry."""
        return (vector / (1.0 + step / self.weights)).astype(vector.dtype, copy=False)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return any factors, and the weights over their squares: beside constraints rows have any units."""
        factors = row_factors(norms)
        return RowScaling(factors, WeightedLeastSquares(self.weights / factors.reshape(self.weights.shape) ** 2))
