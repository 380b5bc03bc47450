"""The ball of the ordered weighted l1 (OWL) norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import phase
from unipd.errors import InvalidInput
from unipd.sharp.norm_ball import NormBall, scatter_point


class OWLBall(NormBall):
    """The ball {sum_i w_i |x|_(i) <= r}, |x|_(1) >= |x|_(2) >= ... the sorted moduli, w_1 >= w_2 >= ... >= 0.

    [y]^# is r sign(y) / (w_1 + ... + w_k) on the k largest |y_i|, with k the maximiser of
    (|y|_(1) + ... + |y|_(k)) / (w_1 + ... + w_k). Equal weights give the l1 norm, (1, 0, ..., 0) the maximum norm.

    Parameters
    ----------
    weights
        The weights, one per entry of x, nonincreasing, not all zero.
    radius
        The radius r > 0.
    shape
        Shape of x; by default a vector with one entry per weight.

    Raises
    ------
    InvalidInput
        ``weights``: expected nonincreasing numbers >= 0 that are not all 0.

    See Also
    --------
    L1Ball, LInfBall

    Examples
    --------
    >>> OWLBall([2.0, 1.0, 0.0], radius=3.0)(np.array([4.0, -3.0, 0.1])).atom
    array([ 1., -1.,  1.])
    """

    def __init__(self, weights: Any, radius: float = 1.0, shape: int | Shape | None = None) -> None:
        self.weights = validate.real_array("weights", weights, ndim=1).astype(np.float64)
        super().__init__(self.weights.shape if shape is None else shape, radius)
        if self.weights.size != self.size:
            raise InvalidInput("weights", f"one for each of the {self.size} entries of x", f"{self.weights.size}")
        if (np.diff(self.weights) > 0).any() or self.weights[-1] < 0 or self.weights[0] == 0:
            raise InvalidInput("weights", "nonincreasing numbers >= 0 that are not all 0", repr(weights))
        self._sums = np.cumsum(self.weights)

    def norm(self, point: Array) -> float:
        """Return sum_i w_i |x|_(i)."""
        return float(np.sort(np.abs(point), axis=None)[::-1] @ self.weights)

    def dual_norm(self, direction: Array) -> float:
        """Return max_k (|y|_(1) + ... + |y|_(k)) / (w_1 + ... + w_k)."""
        moduli = np.sort(np.abs(direction), axis=None)[::-1]
        return float((np.cumsum(moduli, dtype=np.float64) / self._sums).max())

    def maximiser(self, direction: Array) -> Any:
        """Return the best vertex (the sparsest among equals; among equal moduli the first entries)."""
        flat = direction.reshape(-1)
        moduli = np.abs(flat)
        order = np.argsort(-moduli, kind="stable")
        count = 1 + int(np.argmax(np.cumsum(moduli[order], dtype=np.float64) / self._sums))
        chosen = order[:count]
        height = self.radius / float(self._sums[count - 1])
        return scatter_point(self.shape, chosen, height * phase(flat[chosen]))
