"""The Huber loss: quadratic near zero, linear far out."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import clip_modulus, norm, phase, precision, scale_rows, total
from unipd.couplings.base import ENTRY_ROUNDING, BoundedSlackLoss


class Huber(BoundedSlackLoss):
    """phi(r) = sum_i |r_i|^2 / 2 where |r_i| <= delta and delta (|r_i| - delta / 2) beyond.

    phi^*(lam) = ||lam||^2 / 2 when every |lam_i| <= delta, and inf otherwise; an entry may exceed delta by 8 eps,
    which moves the bound -G by no more than rounding does. Complex entries count by modulus.

    Parameters
    ----------
    delta
        Where the loss turns linear.
    slack_radius
        Bound on |r_i| in the slack split; see :class:`~unipd.couplings.base.BoundedSlackLoss`.

    Raises
    ------
    InvalidInput
        ``delta``: expected a number above zero.

    See Also
    --------
    LeastSquares, Absolute

    Examples
    --------
    >>> Huber(1.0).value(np.array([1.0, -3.0]))
    3.0
    >>> Huber(1.0).conjugate(np.array([1.0, 0.0])), Huber(1.0).conjugate(np.array([2.0, 0.0]))
    (0.5, inf)
    """

    is_separable = True

    def __init__(self, delta: float = 1.0, slack_radius: float | None = None) -> None:
        super().__init__(slack_radius)
        self.delta = validate.positive("delta", delta)

    def value(self, residual: Array) -> float:
        """Return phi(r) = sum_i c_i (|r_i| - c_i / 2) with c_i = min(|r_i|, delta)."""
        modulus = np.abs(residual)
        core = np.minimum(modulus, self.delta)
        return total(core * (modulus - 0.5 * core))

    def gradient(self, residual: Array) -> Array:
        """Return r with the moduli clipped at delta."""
        return clip_modulus(residual, self.delta)

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Keep the rows where |r_i| <= delta; a complex entry beyond it still turns with r_i."""
        sizes = np.abs(residual)
        inside = sizes <= self.delta
        if residual.dtype.kind != "c":
            return scale_rows(inside, directions)
        units = (residual / np.where(inside, 1.0, sizes)).reshape(-1, 1)
        across = directions - units * (units.conj() * directions).real
        turned = scale_rows(self.delta / np.where(inside, 1.0, sizes), across)
        return np.where(inside.reshape(-1, 1), directions, turned).astype(directions.dtype, copy=False)

    def curvature(self) -> float:
        """Return 1."""
        return 1.0

    def conjugate(self, dual: Array) -> float:
        """Return ||lam||^2 / 2 where |lam_i| <= delta, inf outside."""
        limit = self.delta * (1.0 + ENTRY_ROUNDING * precision(dual))
        inside = np.all(np.abs(dual) <= limit)
        return 0.5 * norm(dual) ** 2 if inside else math.inf

    def prox(self, vector: Array, step: float) -> Array:
        """Return v / (1 + step) where that is within delta, else v less step * delta along its phase."""
        shrunk = vector / (1.0 + float(step))
        far = np.abs(shrunk) > self.delta
        return np.where(far, vector - float(step) * clip_modulus(shrunk, self.delta), shrunk)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return v / (1 + step) with the moduli clipped at delta."""
        return clip_modulus(vector / (1.0 + float(step)), self.delta)

    def _maximiser(self, dual: Array, radius: float) -> Array:
        far = np.abs(dual) > self.delta
        return np.where(far, radius * phase(dual), clip_modulus(dual, radius))
