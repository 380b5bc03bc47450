"""The logistic loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import precision, scale_rows, total
from unipd.couplings.base import ENTRY_ROUNDING, BoundedSlackLoss, require_real

NEWTON_STEPS = 7
"""Newton steps from the start below: six reach machine precision for steps from 1e-10 to 1e14; one to spare."""


class Logistic(BoundedSlackLoss):
    """phi(r) = sum_i log(1 + exp(-r_i)); labels enter through the rows of A (times +-1).

    With p = -lam, phi^*(lam) = sum_i p_i log p_i + (1 - p_i) log(1 - p_i) when every p_i is in [0, 1], and inf
    otherwise; an entry may be outside by 8 eps, which moves the bound -G by no more than rounding does. Real data
    only.

    Parameters
    ----------
    slack_radius
        Bound on |r_i| in the slack split; see :class:`~unipd.couplings.base.BoundedSlackLoss`.

    See Also
    --------
    LeastSquares, MultinomialLikelihood

    Examples
    --------
    >>> round(Logistic().value(np.array([0.0, 1000.0])), 4)
    0.6931
    >>> Logistic().gradient(np.array([0.0]))
    array([-0.5])
    """

    is_separable = True

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise for complex data."""
        require_real("a logistic loss", dtype)

    def value(self, residual: Array) -> float:
        """Return sum_i log(1 + exp(-r_i)) without overflow."""
        return total(np.logaddexp(0.0, -residual.astype(np.float64)))

    def gradient(self, residual: Array) -> Array:
        """Return -1 / (1 + exp(r_i)), entry by entry."""
        return -falling_sigmoid(residual)

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Return diag(s (1 - s)) C with s = 1 / (1 + exp(r))."""
        return scale_rows(falling_sigmoid(residual) * falling_sigmoid(-residual), directions)

    def curvature(self) -> float:
        """Return 1/4."""
        return 0.25

    def conjugate(self, dual: Array) -> float:
        """Return the negative entropy of (p, 1 - p) with p = -lam, inf where p is not in [0, 1]."""
        rounding = ENTRY_ROUNDING * precision(dual)
        chance = -dual.astype(np.float64)
        if not np.all((chance >= -rounding) & (chance <= 1.0 + rounding)):
            return math.inf
        chance = np.clip(chance, 0.0, 1.0)
        return total(_x_log_x(chance) + _x_log_x(1.0 - chance))

    def prox(self, vector: Array, step: float) -> Array:
        """Return the root r of r = v + step / (1 + exp(r)), entry by entry; see :func:`logistic_prox`."""
        return logistic_prox(vector.astype(np.float64), float(step)).astype(vector.dtype, copy=False)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the slope -1 / (1 + exp(r)) at r = prox(v / step, 1 / step), which lies in [-1, 0] exactly."""
        scale = float(step)
        point = logistic_prox(vector.astype(np.float64) / scale, 1.0 / scale)
        return -falling_sigmoid(point).astype(vector.dtype, copy=False)

    def _maximiser(self, dual: Array, radius: float) -> Array:
        """Return r = log((1 - p) / p) cut down to the radius, with p = -lam cut to [0, 1] first."""
        chance = np.clip(-dual.astype(np.float64), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logits = np.log1p(-chance) - np.log(chance)
        return np.clip(logits, -radius, radius).astype(dual.dtype, copy=False)


def logistic_prox(vector: Array, step: float) -> Array:
    """Return the root r of F(r) = r - v - t / (1 + exp(r)) for every entry v, by Newton's method.

    F increases. The reflection (v, r) -> (-v - t, -r) maps roots to roots, so r >= 0 (v >= -t/2) is the only case.
    There F is concave: Newton's iterates from any point left of the root rise to it and never pass it, so no
    further safeguard is needed. The start is a lower bound on the root that is near it at every scale: r exceeds
    v, 0, and (since 1 / (1 + e^r) >= e^-r / 2) also v + W(t e^-v / 2) >= v + l - log l with l = log(t/2) - v >= 1
    and W Lambert's function.

    >>> logistic_prox(np.array([-0.5]), 1.0)
    array([0.])
    """
    mirrored = vector < -0.5 * step
    target = np.where(mirrored, -vector - step, vector)
    level = np.maximum(math.log(0.5 * step) - target, 1.0)
    root = np.maximum(np.maximum(target, 0.0), np.where(level > 1.0, target + level - np.log(level), 0.0))
    for _ in range(NEWTON_STEPS):
        slope = falling_sigmoid(root)
        root = root - (root - target - step * slope) / (1.0 + step * slope * (1.0 - slope))
    return np.where(mirrored, -root, root)


def falling_sigmoid(values: Array) -> Array:
    """Return 1 / (1 + exp(r)), accurate in both tails.

    >>> falling_sigmoid(np.array([0.0, -1000.0, 1000.0]))
    array([0.5, 1. , 0. ])
    """
    small = np.exp(-np.abs(values))
    return np.where(values > 0, small, 1) / (1 + small)


def _x_log_x(values: Array) -> Array:
    return values * np.log(np.where(values > 0, values, 1.0))
