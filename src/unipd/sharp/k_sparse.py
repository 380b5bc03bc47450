"""The k-sparse polytope."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util.entrywise import phase
from unipd.sharp.k_support_ball import validate_sparsity
from unipd.sharp.norm_ball import NormBall, largest, scatter_point


class KSparsePolytope(NormBall):
    """Convex hull of the vectors with at most k nonzeros, each r or -r: {sum |x_i| <= k r, max |x_i| <= r}.

    It is the ball of radius r of the norm max(max |x_i|, sum |x_i| / k); [y]^# is r sign(y) on the k largest |y_i|.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    sparsity
        The number k of nonzeros, from 1 to the number of entries.
    radius
        The height r > 0 of the nonzeros.

    See Also
    --------
    KSupportBall, CappedSimplex, L1Ball

    Examples
    --------
    >>> KSparsePolytope(4, sparsity=2)(np.array([3.0, 1.0, 0.0, -4.0])).atom
    array([ 1.,  0.,  0., -1.])
    """

    def __init__(self, shape: int | Shape, sparsity: int, radius: float = 1.0) -> None:
        super().__init__(shape, radius)
        self.sparsity = validate_sparsity(sparsity, self.size)

    def norm(self, point: Array) -> float:
        """Return max(max |x_i|, sum |x_i| / k)."""
        moduli = np.abs(point)
        return max(float(moduli.max()), float(moduli.sum()) / self.sparsity)

    def dual_norm(self, direction: Array) -> float:
        """Return the sum of the k largest |y_i|."""
        moduli = np.abs(direction).reshape(-1)
        return float(moduli[largest(moduli, self.sparsity)].sum())

    def maximiser(self, direction: Array) -> Any:
        """Return r sign(y) on the k largest |y_i| (the first among equals)."""
        flat = direction.reshape(-1)
        chosen = largest(np.abs(flat), self.sparsity)
        return scatter_point(self.shape, chosen, self.radius * phase(flat[chosen]))
