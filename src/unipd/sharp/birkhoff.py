"""The Birkhoff polytope of doubly stochastic matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.atoms import SparsePoint
from unipd.sharp.base import Sharp


class Birkhoff(Sharp):
    """Doubly stochastic matrices {x >= 0, row and column sums 1}, the convex hull of the permutation matrices.

    [y]^# is the permutation of largest total y, a linear assignment (cubic in the worst case).

    Parameters
    ----------
    order
        The number N of rows and of columns.

    Raises
    ------
    InvalidInput
        ``order``: expected an integer of at least 1.

    See Also
    --------
    Simplex, FlowPolytope

    Examples
    --------
    >>> answer = Birkhoff(2)(np.array([[1.0, 5.0], [2.0, 1.0]]))
    >>> answer.atom.dense(), answer.value
    (array([[0., 1.],
           [1., 0.]]), 7.0)
    """

    real_only = True

    def __init__(self, order: int) -> None:
        count = validate.integer("order", order, minimum=1)
        super().__init__((count, count))

    @property
    def atom_entries(self) -> int:
        """A permutation has one nonzero per row."""
        return self.shape[0]

    def maximiser(self, direction: Array) -> Any:
        """Return the best permutation matrix; the identity at y = 0."""
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(direction, maximize=True)
        count = self.shape[0]
        return SparsePoint(self.shape, rows * count + columns, np.ones(count, direction.dtype))

    def equations(self, places: Any) -> Any:
        """Return the sums of the rows and columns."""
        order = self.shape[0]
        lines = np.concatenate([places // order, order + places % order])
        return np.ones(lines.size), (lines, np.tile(np.arange(places.size), 2)), np.ones(2 * order)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x >= 0 and every row and column sums to 1."""
        point = self._point(x)
        if point is None or point.min() < -tolerance:
            return False
        sums = np.concatenate([point.sum(axis=0), point.sum(axis=1)])
        return bool(np.abs(sums - 1.0).max() <= tolerance)
