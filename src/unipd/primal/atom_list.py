"""Keep xbar as a list of atoms with weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import FloatArray

_SMALLEST_SCALE = 1e-100


class AtomList:
    """Tracker of xbar = sum_i w_i a_i by its atoms, in the order in which they came.

    Mixing multiplies every old weight by (1 - gamma); a common scale does that in O(1). Trackers of
    consecutive iterations share one growing list, of which each sees only its own length.

    >>> tracker = AtomList().mixed(1.0, np.array([1.0, 0.0])).mixed(0.25, np.array([0.0, 1.0]))
    >>> tracker.weights, tracker.point()
    (array([0.75, 0.25]), array([0.75, 0.25]))
    """

    exact_objective = False

    def __init__(self) -> None:
        self._atoms: list[Any] = []
        self._raw: list[float] = []
        self._count = 0
        self._scale = 1.0

    def mixed(self, gamma: float, atom: Any) -> AtomList:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if gamma == 0.0 and self._count > 0:
            return self
        new = AtomList()
        scale = (1.0 - gamma) * self._scale
        if scale > _SMALLEST_SCALE:
            new._atoms, new._raw = self._tip()
            new._scale = scale
        elif gamma < 1.0:
            new._atoms = self._atoms[: self._count]
            new._raw = [(1.0 - gamma) * w for w in self.weights]
        new._atoms.append(atom)
        new._raw.append(gamma / new._scale)
        new._count = len(new._atoms)
        return new

    def _tip(self) -> tuple[list[Any], list[float]]:
        """Return the lists to append to: the shared ones, or copies when another tracker went ahead."""
        if len(self._atoms) == self._count:
            return self._atoms, self._raw
        return self._atoms[: self._count], self._raw[: self._count]

    @property
    def atoms(self) -> list[Any]:
        """The atoms."""
        return self._atoms[: self._count]

    @property
    def weights(self) -> FloatArray:
        """Their weights."""
        return self._scale * np.array(self._raw[: self._count])

    def point(self) -> Any:
        """Return xbar as an array, or as stacked factors when the atoms are low-rank."""
        if self._count == 0:
            return None
        return atoms.combination([float(w) for w in self.weights], self.atoms)

    @property
    def nbytes(self) -> int:
        """Bytes of the atoms."""
        return sum(atom.nbytes for atom in self.atoms) + 8 * self._count
