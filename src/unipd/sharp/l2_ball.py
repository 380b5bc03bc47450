"""The Euclidean ball."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.sharp.norm_ball import NormBall, euclidean, unit


class L2Ball(NormBall):
    """The ball {||x||_2 <= r}; [y]^# = r y / ||y||_2.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    L2NormSquared, GroupBall, unipd.couplings.L2Ball

    Examples
    --------
    >>> answer = L2Ball(2, radius=10.0)(np.array([3.0, -4.0]))
    >>> answer.atom, answer.value
    (array([ 6., -8.]), 50.0)
    """

    is_strictly_convex = True

    def norm(self, point: Array) -> float:
        """Return ||x||_2."""
        return float(np.linalg.norm(point.reshape(-1)))

    def dual_norm(self, direction: Array) -> float:
        """Return ||y||_2."""
        return euclidean(direction)

    def maximiser(self, direction: Array) -> Any:
        """Return r y / ||y||_2."""
        return self.radius * unit(direction)
