"""Convex hulls of k-sparse vectors: the ball of the k-support norm, and a polytope."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import phase
from unipd.errors import InvalidInput
from unipd.sharp.norm_ball import NormBall, euclidean, largest, scatter_point, unit


class KSupportBall(NormBall):
    """Convex hull of the vectors with at most k nonzeros and Euclidean norm at most r.

    [y]^# is r y / ||y||_2 restricted to the k largest |y_i|; k = 1 is the l1 ball, k = size the l2 ball.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    sparsity
        The number k of nonzeros, from 1 to the number of entries.
    radius
        The radius r > 0.

    See Also
    --------
    KSparsePolytope, L1Ball

    Examples
    --------
    >>> KSupportBall(4, sparsity=2, radius=5.0)(np.array([3.0, 1.0, 0.0, -4.0])).atom
    array([ 3.,  0.,  0., -4.])
    """

    def __init__(self, shape: int | Shape, sparsity: int, radius: float = 1.0) -> None:
        super().__init__(shape, radius)
        self.sparsity = validate_sparsity(sparsity, self.size)

    def norm(self, point: Array) -> float:
        """Return the k-support norm: ||x||^2 = min of sum x_i^2 / t_i over 0 <= t_i <= 1, sum t_i <= k.

        The optimal t is 1 on the j largest entries and proportional to |x_i| on the rest, for some j < k.
        """
        moduli = np.sort(np.abs(point), axis=None)[::-1].astype(np.float64)
        scale = moduli[0]
        if scale == 0:
            return 0.0
        moduli = moduli / scale
        tops = np.arange(self.sparsity)
        heads = np.concatenate(([0.0], np.cumsum(moduli[: self.sparsity - 1] ** 2)))
        tails = np.cumsum(moduli[::-1])[::-1][: self.sparsity]
        spread = self.sparsity - tops
        allowed = spread * moduli[: self.sparsity] <= tails
        allowed[-1] = True
        squares = heads + tails**2 / spread
        return float(scale * np.sqrt(squares[allowed].min()))

    def dual_norm(self, direction: Array) -> float:
        """Return the Euclidean norm of the k largest |y_i|."""
        flat = direction.reshape(-1)
        return euclidean(flat[largest(np.abs(flat), self.sparsity)])

    def maximiser(self, direction: Array) -> Any:
        """Return the normalised k largest entries of y (the first among equals)."""
        flat = direction.reshape(-1)
        chosen = largest(np.abs(flat), self.sparsity)
        return scatter_point(self.shape, chosen, self.radius * unit(flat[chosen]))


def validate_sparsity(sparsity: Any, size: int) -> int:
    """Return a number of nonzeros between 1 and ``size``, or raise.

    >>> validate_sparsity(2, 5)
    2
    """
    count = validate.integer("sparsity", sparsity, minimum=1)
    if count > size:
        raise InvalidInput("sparsity", f"at most the {size} entries of x", repr(sparsity))
    return count


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
