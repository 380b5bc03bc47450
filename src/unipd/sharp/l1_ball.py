"""The l1 ball."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util.entrywise import phase
from unipd.sharp.base import largest_above
from unipd.sharp.coordinates import Coordinates
from unipd.sharp.norm_ball import NormBall


class L1Ball(NormBall):
    """The ball {sum |x_i| <= r}; [y]^# = r sign(y_i) e_i with i = argmax |y_i|.

    Parameters
    ----------
    shape
        Shape of x, or the length of a vector.
    radius
        The radius r > 0.

    See Also
    --------
    L1NormSquared, L1NormOnBall, OWLBall, unipd.couplings.L1Ball

    Examples
    --------
    >>> L1Ball(3, radius=2.0)(np.array([1.0, -3.0, 2.0])).atom.dense()
    array([ 0., -2.,  0.])
    """

    def norm(self, point: Array) -> float:
        """Return sum |x_i|."""
        return float(np.abs(point).sum())

    def dual_norm(self, direction: Array) -> float:
        """Return max |y_i|."""
        return float(np.abs(direction).max())

    @property
    def atom_entries(self) -> int:
        """A vertex has one nonzero."""
        return 1

    def maximiser(self, direction: Array) -> Any:
        """Return r (y_i / |y_i|) e_i for the largest |y_i|, the first of several."""
        index = int(np.abs(direction).argmax())
        values = self.radius * phase(direction.reshape(-1)[index : index + 1])
        return atoms.SparsePoint(self.shape, np.array([index]), values)

    def coordinates(self) -> Coordinates:
        """Return every entry as a group of weight one."""
        return Coordinates.of_entries(self.size, budget=self.radius)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the vertices with the largest |y_i|."""
        flat = direction.reshape(-1)
        places = largest_above(np.abs(flat), count, above / self.radius)
        return [atoms.SparsePoint(self.shape, place, self.radius * phase(flat[place])) for place in places[:, None]]
