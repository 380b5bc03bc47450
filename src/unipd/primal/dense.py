"""Keep xbar as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array


class Dense:
    """Tracker of xbar as a NumPy array (a tuple of arrays for several blocks).

    >>> tracker = Dense().mixed(1.0, np.array([1.0, 0.0])).mixed(0.5, atoms.one_hot((2,), 1, 1.0))
    >>> tracker.point()
    array([0.5, 0.5])
    """

    exact_objective = True

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def mixed(self, gamma: float, atom: Any) -> Dense:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if isinstance(atom, atoms.Blocks):
            old = self._value if self._value is not None else (None,) * len(atom.parts)
            return Dense(tuple(_mix(x, gamma, part) for x, part in zip(old, atom.parts, strict=True)))
        return Dense(_mix(self._value, gamma, atom))

    def point(self) -> Any:
        """Return xbar."""
        return atoms.Blocks(self._value) if isinstance(self._value, tuple) else self._value

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        point = self.point()
        return 0 if point is None else int(point.nbytes)


def _mix(x: Array | None, gamma: float, atom: Any) -> Array:
    if x is None:
        return np.array(atoms.dense(atom) * gamma, copy=True)
    if gamma == 0.0:
        return x
    mixed = (1.0 - gamma) * x
    atoms.add_to(mixed, gamma, atom)
    return mixed
