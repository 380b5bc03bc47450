"""Keep xbar as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.atoms import Blocks, SparsePoint

APART = 32
"""Sparse atoms that are set apart at most before they are folded into the array."""
_SMALLEST_SCALE = 1e-3


class Dense:
    """Tracker of xbar as a NumPy array (for several blocks: one a block).

    xbar = scale (array + sum of weighted atoms), where the latest sparse atoms are set apart: a step towards a vertex
    then costs a few numbers, and the array is written anew only once in ``APART`` steps.

    >>> tracker = Dense().mixed(1.0, np.array([1.0, 0.0])).mixed(0.5, atoms.one_hot((2,), 1, 1.0))
    >>> tracker.point()
    array([0.5, 0.5])
    """

    exact_objective = True

    def __init__(
        self,
        value: Any = None,
        scale: float = 1.0,
        apart: tuple[tuple[float, SparsePoint], ...] = (),
        bytes_apart: int = 0,
    ) -> None:
        self._value = value
        self._scale = scale
        self._apart = apart
        self._bytes_apart = bytes_apart

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
        scale = (1.0 - gamma) * self._scale
        if not sparse or atom.values.dtype != self._value.dtype or len(self._apart) == APART or scale < _SMALLEST_SCALE:
            return Dense(_between(self.point(), gamma, atom))
        size = self._bytes_apart + atom.indices.nbytes + atom.values.nbytes
        return Dense(self._value, scale, (*self._apart, (gamma / scale, atom)), size)

    def point(self) -> Any:
        """Return xbar."""
        if isinstance(self._value, tuple):
            return Blocks(tuple(part.point() for part in self._value))
        if not self._apart:
            return self._value
        x = self._scale * self._value
        weights, points = zip(*self._apart, strict=True)
        values = np.concatenate([self._scale * w * p.values for w, p in zip(weights, points, strict=True)])
        np.add.at(x.reshape(-1), np.concatenate([p.indices for p in points]), values)
        return x

    @property
    def nbytes(self) -> int:
        """Bytes of the array and of what is set apart."""
        if isinstance(self._value, tuple):
            return sum(part.nbytes for part in self._value)
        return 0 if self._value is None else self._value.nbytes + self._bytes_apart


def _between(x: Array, gamma: float, atom: Any) -> Array:
    """Return (1 - gamma) x + gamma atom as a new array."""
    mixed = (1.0 - gamma) * x
    atoms.add_to(mixed, gamma, atom)
    return mixed
