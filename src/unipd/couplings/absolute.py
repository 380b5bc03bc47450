"""The l1 loss: absolute deviations."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import clip_modulus, phase, precision, shrink, total
from unipd.couplings.base import ENTRY_ROUNDING, BoundedSlackLoss


class Absolute(BoundedSlackLoss):
    """phi(r) = ||r||_1 = sum_i |r_i|; phi^* is the indicator of {|lam_i| <= 1}.

    An entry of lam may exceed 1 by 8 eps, which moves the bound -G by no more than rounding does. Complex entries
    count by modulus. Not smooth: :meth:`gradient` is the subgradient of least norm and the curvature infinite.

    Parameters
    ----------
    slack_radius
        Bound on |r_i| in the slack split; see :class:`~unipd.couplings.base.BoundedSlackLoss`.

    See Also
    --------
    Huber, L1Ball

    Examples
    --------
    >>> Absolute().prox(np.array([3.0, -0.5]), 1.0)
    array([2., 0.])
    """

    def value(self, residual: Array) -> float:
        """Return ||r||_1."""
        return total(np.abs(residual))

    def gradient(self, residual: Array) -> Array:
        """Return the signs (phases) of r, 0 where r_i = 0."""
        return phase(residual)

    def curvature(self) -> float:
        """Return inf."""
        return math.inf

    def conjugate(self, dual: Array) -> float:
        """Return 0 where |lam_i| <= 1, inf outside."""
        inside = np.all(np.abs(dual) <= 1.0 + ENTRY_ROUNDING * precision(dual))
        return 0.0 if inside else math.inf

    def prox(self, vector: Array, step: float) -> Array:
        """Return the soft threshold of v at ``step``."""
        return shrink(vector, step)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Clip the moduli at 1, whatever the step."""
        return clip_modulus(vector, 1.0)

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Keep the rows where |v_i| < 1; by differences for complex numbers."""
        if vector.dtype.kind == "c":
            return super().prox_jacobian(vector, step, directions)
        return directions * (np.abs(vector).reshape(-1, 1) < 1.0)

    def _maximiser(self, dual: Array, radius: float) -> Array:
        return np.where(np.abs(dual) > 1.0, radius * phase(dual), np.zeros_like(dual))
