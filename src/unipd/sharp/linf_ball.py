"""The ball of the maximum norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util.entrywise import phase
from unipd.sharp.norm_ball import NormBall


class LInfBall(NormBall):
    """The ball {max |x_i| <= r}; [y]^# = r sign(y).

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    Box, LInfNormSquared, unipd.couplings.LInfBall

    Examples
    --------
    >>> LInfBall(3, radius=2.0)(np.array([1.0, -3.0, 0.0])).atom
    array([ 2., -2.,  0.])
    """

    def norm(self, point: Array) -> float:
        """Return max |x_i|."""
        return float(np.abs(point).max())

    def dual_norm(self, direction: Array) -> float:
        """Return sum |y_i|."""
        return float(np.abs(direction).sum())

    def maximiser(self, direction: Array) -> Any:
        """Return r sign(y)."""
        return self.radius * phase(direction)
