"""Keep xbar as an array."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.atoms import Blocks, SparsePoint

APART = 128
"""Sparse atoms that are set apart at most before they are folded into the array."""
_SMALLEST_SCALE = 1e-3

Apart: TypeAlias = list[tuple[float, SparsePoint]]


class Dense:
    """Tracker of xbar as a NumPy array (for several blocks: one a block).

    xbar = scale (array + sum of weighted atoms), where the latest sparse atoms are set apart: a step towards a vertex
    then costs a few numbers, and the array is written anew only once in ``APART`` steps. Trackers of consecutive
    iterations share one growing list of them, of which each sees only its own length.

    >>> tracker = Dense().mixed(1.0, np.array([1.0, 0.0])).mixed(0.5, atoms.one_hot((2,), 1, 1.0))
    >>> tracker.point()
    array([0.5, 0.5])
    """

    exact_objective = True

    def __init__(self, value: Any = None, scale: float = 1.0, apart: Apart | None = None, count: int = 0) -> None:
        self._value = value
        self._scale = scale
        self._apart: Apart = [] if apart is None else apart
        self._count = count

    def mixed(self, gamma: float, atom: Any) -> Dense:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        sparse = type(atom) is SparsePoint
        if not sparse and isinstance(atom, Blocks):
            old = self._value if self._value is not None else (Dense(),) * len(atom)
            return Dense(tuple(x.mixed(gamma, part) for x, part in zip(old, atom.parts, strict=True)))
        if self._value is None or gamma == 1.0:
            return Dense(np.array(atoms.dense(atom) * gamma, order="C"))
        if gamma == 0.0:
            return self
        scale, count = (1.0 - gamma) * self._scale, self._count
        few = sparse and APART * atom.values.size <= self._value.size  # the list takes no more entries than the array
        if not few or count == APART or scale < _SMALLEST_SCALE or atom.values.dtype != self._value.dtype:
            return Dense(_between(self.point(), gamma, atom))
        apart = self._apart if len(self._apart) == count else self.apart
        apart.append((gamma / scale, atom))
        return Dense(self._value, scale, apart, count + 1)

    @property
    def apart(self) -> Apart:
        """The atoms set apart, with their weights before scaling."""
        return self._apart[: self._count]

    def point(self) -> Any:
        """Return xbar."""
        if isinstance(self._value, tuple):
            return Blocks(tuple(part.point() for part in self._value))
        if self._count == 0:
            return self._value
        x = self._scale * self._value
        weights, points = zip(*self.apart, strict=True)
        factors = np.repeat(self._scale * np.array(weights), [point.values.size for point in points])
        values = np.concatenate([point.values for point in points]) * factors.astype(x.real.dtype)
        np.add.at(x.reshape(-1), np.concatenate([point.indices for point in points]), values)
        return x

    @property
    def nbytes(self) -> int:
        """Bytes of the array and of what is set apart."""
        if isinstance(self._value, tuple):
            return sum(part.nbytes for part in self._value)
        if self._value is None:
            return 0
        return self._value.nbytes + sum(point.indices.nbytes + point.values.nbytes for _, point in self.apart)


def _between(x: Array, gamma: float, atom: Any) -> Array:
    """Return (1 - gamma) x + gamma atom as a new array."""
    mixed = (1.0 - gamma) * x
    atoms.add_to(mixed, gamma, atom)
    return mixed
