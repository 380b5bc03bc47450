"""Balls of the lp norms between l1 and the maximum norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.entrywise import phase
from unipd.errors import InvalidInput
from unipd.sharp.norm_ball import NormBall


class LpBall(NormBall):
    """The ball {(sum |x_i|^p)^(1/p) <= r} for 1 < p < inf, with dual exponent q = p / (p - 1).

    [y]^# = r sign(y_i) (|y_i| / ||y||_q)^(q - 1), entry by entry.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    exponent
        The exponent p; for 1 and inf see :class:`~unipd.sharp.L1Ball` and :class:`~unipd.sharp.LInfBall`.
    radius
        The radius r > 0.

    Raises
    ------
    InvalidInput
        ``exponent``: expected a finite number.

    See Also
    --------
    L1Ball, L2Ball, PowerNorm

    Examples
    --------
    >>> LpBall(2, exponent=2.0)(np.array([3.0, -4.0])).atom
    array([ 0.6, -0.8])
    """

    is_strictly_convex = True

    def __init__(self, shape: int | Shape, exponent: float, radius: float = 1.0) -> None:
        super().__init__(shape, radius)
        self.exponent = validate.number("exponent", exponent)
        if self.exponent <= 1:
            raise InvalidInput("exponent", "a finite number above 1", repr(exponent))
        self.dual_exponent = self.exponent / (self.exponent - 1.0)

    def norm(self, point: Array) -> float:
        """Return (sum |x_i|^p)^(1/p)."""
        return power_norm(point, self.exponent)

    def dual_norm(self, direction: Array) -> float:
        """Return (sum |y_i|^q)^(1/q)."""
        return power_norm(direction, self.dual_exponent)

    def maximiser(self, direction: Array) -> Any:
        """Return the one point of the sphere with y as normal."""
        moduli = np.abs(direction)
        scale = float(moduli.max())
        if scale == 0:
            return np.zeros_like(direction)
        moduli = moduli / scale
        shrunk = (moduli / power_norm(moduli, self.dual_exponent)) ** (self.dual_exponent - 1.0)
        return self.radius * shrunk * phase(direction)


def power_norm(vector: Array, exponent: float) -> float:
    """Return (sum |x_i|^p)^(1/p), scaled by the largest entry against overflow.

    >>> power_norm(np.array([2e200, 2e200]), 1.0)
    4e+200
    """
    moduli = np.abs(vector)
    scale = float(moduli.max())
    if scale == 0:
        return 0.0
    return scale * float(((moduli / scale) ** exponent).sum()) ** (1.0 / exponent)
