"""The ball of the group norm: l1 over groups of Euclidean norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.arrays import divide_by_real
from unipd.atoms import SparsePoint
from unipd.errors import InvalidInput
from unipd.sharp.base import largest_above
from unipd.sharp.coordinates import Coordinates
from unipd.sharp.norm_ball import NormBall, largest_entry, scatter_point, unit


class GroupBall(NormBall):
    """The ball {sum_g w_g ||x_g||_2 <= r} over disjoint groups g of the entries of x.

    [y]^# is (r / w_g) y_g / ||y_g||_2 on the group with the largest ||y_g||_2 / w_g, zero elsewhere.

    Parameters
    ----------
    labels
        The label of each entry's group, any values that can be sorted; its shape is that of x.
    radius
        The radius r > 0.
    weights
        One positive w_g per group, in the order of the sorted labels; 1 by default.

    Raises
    ------
    InvalidInput
        ``labels``: expected one label per entry of x; ``weights``: expected an array of finite real numbers.

    See Also
    --------
    L1Ball, GroupNuclearBall

    Examples
    --------
    >>> GroupBall([0, 0, 1], radius=5.0)(np.array([3.0, 4.0, 4.5])).atom
    array([3., 4., 0.])
    """

    def __init__(self, labels: Any, radius: float = 1.0, weights: Any = None) -> None:
        try:
            names = np.asarray(labels)
        except ValueError as error:
            raise InvalidInput("labels", "one label per entry of x", str(error)) from error
        if names.ndim == 0 or (names.dtype.kind == "f" and np.isnan(names).any()):
            raise InvalidInput("labels", "one label per entry of x", repr(labels))
        super().__init__(names.shape, radius)
        try:
            found, groups = np.unique(names.reshape(-1), return_inverse=True)
        except TypeError as error:
            raise InvalidInput("labels", "labels that can be sorted", str(error)) from error
        self.groups: IntArray = groups.reshape(-1)
        count = found.size
        self.weights = validate.real_array("weights", np.ones(count) if weights is None else weights, shape=(count,))
        if self.weights.min() <= 0:
            raise InvalidInput("weights", "positive numbers", "an entry <= 0")
        self._order = np.argsort(self.groups, kind="stable")
        self._ends = np.cumsum(np.bincount(self.groups))

    def group_norms(self, vector: Array) -> Array:
        """Return ||x_g||_2 for every group, in the order of the sorted labels."""
        scale = largest_entry(vector)
        if scale == 0:
            return np.zeros(self.weights.size)
        moduli = np.abs(divide_by_real(vector, scale)).reshape(-1)
        return scale * np.sqrt(np.bincount(self.groups, weights=moduli * moduli))

    def members(self, group: int) -> IntArray:
        """Return the flat indices of a group's entries in increasing order."""
        start = self._ends[group - 1] if group else 0
        return self._order[start : self._ends[group]]

    def norm(self, point: Array) -> float:
        """Return sum_g w_g ||x_g||_2."""
        return float(self.weights @ self.group_norms(point))

    def dual_norm(self, direction: Array) -> float:
        """Return max_g ||y_g||_2 / w_g."""
        return float((self.group_norms(direction) / self.weights).max())

    def maximiser(self, direction: Array) -> Any:
        """Return the normalised group with the largest ||y_g||_2 / w_g (the first among equals)."""
        best = int(np.argmax(self.group_norms(direction) / self.weights))
        return scatter_point(self.shape, *self._best_in_group(direction.reshape(-1), best))

    def coordinates(self) -> Coordinates:
        """Return the groups with their weights."""
        free = np.broadcast_to(np.inf, (self.size,))
        starts = np.concatenate([[0], self._ends])
        return Coordinates(self._order, starts, self.weights, -free, free, self.radius)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the best point of each group with the largest ||y_g||_2 / w_g."""
        flat = direction.reshape(-1)
        best = largest_above(self.group_norms(direction) / self.weights, count, above / self.radius)
        return [SparsePoint(self.shape, *self._best_in_group(flat, int(group))) for group in best]

    def _best_in_group(self, flat: Array, group: int) -> tuple[IntArray, Array]:
        """Return places and values of the best point with nonzeros in one group alone."""
        members = self.members(group)
        return members, self.radius / float(self.weights[group]) * unit(flat[members])
