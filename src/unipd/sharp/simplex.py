"""Probability simplex and unit simplex, scaled."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.sharp.base import SharpSet, as_shape, largest_above
from unipd.sharp.coordinates import Coordinates


class Simplex(SharpSet):
    """Scaled probability simplex {x >= 0, sum x = a}; [y]^# = a e_i with i = argmax y_i.

    Parameters
    ----------
    size
        Number of entries of x, or its shape.
    scale
        The sum a > 0.

    Raises
    ------
    InvalidInput
        ``scale``: expected a number above zero.

    See Also
    --------
    UnitSimplex, CappedSimplex, Entropy

    Examples
    --------
    >>> answer = Simplex(3, scale=2.0)(np.array([1.0, 3.0, 2.0]))
    >>> answer.atom.dense(), answer.value
    (array([0., 2., 0.]), 6.0)
    """

    real_only = True

    def __init__(self, size: int | Shape, scale: float = 1.0) -> None:
        super().__init__(as_shape(size, "size"))
        self.scale = validate.positive("scale", scale)

    @property
    def atom_entries(self) -> int:
        """A vertex has one nonzero."""
        return 1

    def maximiser(self, direction: Array) -> Any:
        """Return the vertex a e_i with the largest y_i (the first among equals)."""
        return atoms.one_hot(self.shape, int(np.argmax(direction)), self.scale, direction.dtype)

    def coordinates(self) -> Coordinates:
        """Return every entry as a group of weight one, nonnegative, with the sum a."""
        return Coordinates.of_entries(self.size, lower=0.0, budget=self.scale, is_tight=True)

    def equations(self, places: Any) -> Any:
        """Return the sum of the entries."""
        count = places.size
        return np.ones(count), (np.zeros(count, np.intp), np.arange(count)), np.array([self.scale])

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the vertices a e_i with the largest y_i."""
        flat = direction.reshape(-1)
        places = largest_above(flat, count, above / self.scale)
        return [atoms.one_hot(self.shape, int(place), self.scale, flat.dtype) for place in places]

    def peak(self, direction: Array) -> float:
        """Return a max_i y_i."""
        return self.scale * float(direction.max())

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x >= 0 and sum x = a."""
        point = self._point(x)
        slack = tolerance * self.scale
        return point is not None and bool(point.min() >= -slack and abs(point.sum() - self.scale) <= slack)


class UnitSimplex(Simplex):
    """Corner of the simplex {x >= 0, sum x <= a}; [y]^# = a e_i if max y_i > 0, else 0.

    Parameters
    ----------
    size
        Number of entries of x.
    scale
        The sum a > 0 that the entries may reach.

    See Also
    --------
    Simplex, Box

    Examples
    --------
    >>> UnitSimplex(2)(np.array([-1.0, -2.0])).value
    0.0
    """

    def maximiser(self, direction: Array) -> Any:
        """Return the best vertex, or the origin when every y_i <= 0."""
        index = int(np.argmax(direction))
        height = self.scale if direction.flat[index] > 0 else 0.0
        return atoms.one_hot(self.shape, index, height, direction.dtype)

    best_vertices = Simplex.best_vertices

    def coordinates(self) -> Coordinates:
        """Return every entry as a group of weight one, nonnegative, with a sum of at most a."""
        return Coordinates.of_entries(self.size, lower=0.0, budget=self.scale)

    def peak(self, direction: Array) -> float:
        """Return a max(0, max_i y_i)."""
        return self.scale * max(0.0, float(direction.max()))

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x >= 0 and sum x <= a."""
        point = self._point(x)
        slack = tolerance * self.scale
        return point is not None and bool(point.min() >= -slack and point.sum() <= self.scale + slack)
