"""Probability simplex, unit simplex, and the simplex with a cap on every entry, scaled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, IntArray, Shape
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpSet, as_shape, largest_above
from unipd.sharp.coordinates import Coordinates
from unipd.sharp.norm_ball import largest, scatter_point

_ROUNDING = 1e-12
"""A sum that is this near a multiple of the cap, relatively, is that multiple."""


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


class CappedSimplex(SharpSet):
    """The set {0 <= x_i <= c, sum x = a}; [y]^# is c on the largest y_i, and what is left on the next.

    It is the hull of the averages over a share of the entries: with c = a / k its vertices are a / k on k of them. The
    support function of the uniform case is the conditional value at risk, and two of these sets make a nu-SVM.

    Parameters
    ----------
    size
        Number of entries of x, or its shape.
    cap
        The largest value c > 0 of an entry, or one for each entry; they sum to a at least.
    scale
        The sum a > 0.

    Raises
    ------
    InvalidInput
        ``scale``, ``cap``: expected a number above zero.

    See Also
    --------
    Simplex, KSparsePolytope

    Examples
    --------
    >>> CappedSimplex(4, cap=0.4)(np.array([1.0, 3.0, 2.0, 0.0])).atom
    array([0.2, 0.4, 0.4, 0. ])
    """

    real_only = True

    def __init__(self, size: int | Shape, cap: Any, scale: float = 1.0) -> None:
        super().__init__(as_shape(size, "size"))
        self.scale = validate.positive("scale", scale)
        if np.ndim(cap):
            self.cap: Any = np.minimum(validate.real_array("cap", cap, shape=self.shape), self.scale)
            if self.cap.min() < 0 or self.cap.sum() < self.scale * (1.0 - _ROUNDING):
                raise InvalidInput("cap", f"numbers >= 0 that sum to {self.scale:g} at least", f"{self.cap.sum():g}")
            return
        self.cap = min(validate.positive("cap", cap), self.scale)
        if self.cap * self.size < self.scale * (1.0 - _ROUNDING):
            raise InvalidInput("cap", f"at least {self.scale / self.size:g}, an equal share", f"{cap:g}")
        self._full = min(math.floor(self.scale / self.cap * (1.0 + _ROUNDING)), self.size)
        rest = self.scale - self._full * self.cap
        self._rest = rest if rest > _ROUNDING * self.scale and self._full < self.size else 0.0

    def maximiser(self, direction: Array) -> Any:
        """Return c on the largest y_i and the rest on the next one (the first among equals)."""
        flat = direction.reshape(-1)
        if np.ndim(self.cap):
            return scatter_point(self.shape, *self._fill(flat))
        chosen, partial = self._chosen(flat)
        values = np.full(chosen.size, self.cap, flat.dtype)
        values[partial] = self._rest
        return scatter_point(self.shape, chosen, values)

    def peak(self, direction: Array) -> float:
        """Return c times the sum of the largest y_i, plus the rest times the next one."""
        flat = direction.reshape(-1)
        if np.ndim(self.cap):
            places, filled = self._fill(flat)
            return float(flat[places].astype(np.float64) @ filled)
        chosen, partial = self._chosen(flat)
        picked = flat[chosen].astype(np.float64)
        correction = (self.cap - self._rest) * float(picked[partial].sum())
        return self.cap * float(picked.sum()) - correction

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether 0 <= x <= c and sum x = a."""
        point = self._point(x)
        slack = tolerance * self.scale
        return point is not None and bool(
            point.min() >= -slack and np.all(point <= self.cap + slack) and abs(point.sum() - self.scale) <= slack
        )

    def _fill(self, flat: Array) -> tuple[IntArray, Array]:
        """Return the entries that are not 0 and their values: caps of their own, filled from the largest y_i down."""
        order = np.argsort(-flat, kind="stable")
        caps = self.cap.reshape(-1)[order]
        values = np.clip(self.scale - (np.cumsum(caps) - caps), 0.0, caps)
        places = np.flatnonzero(values)
        places = places[np.argsort(order[places])]
        return order[places], values[places].astype(flat.dtype)

    def _chosen(self, flat: Array) -> tuple[IntArray, IntArray]:
        """Return the entries that are not 0 in increasing order, and which of them gets only the rest (if any)."""
        if not self._rest:
            return largest(flat, self._full), np.empty(0, np.intp)
        chosen = largest(flat, self._full + 1)
        # The last of the smallest is the one that `largest` would drop next.
        return chosen, chosen.size - 1 - np.argmin(flat[chosen][::-1]).reshape(1)
