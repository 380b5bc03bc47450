"""Keep xbar by its atoms: a list that grows with every step, or a combination whose weights a method computes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd import atoms
from unipd._typing import FloatArray

_SMALLEST_SCALE = 1e-100
"""Common scale of the weights below which they are rewritten."""
_DIGEST = 16
"""Largest number of bytes of a key."""


@runtime_checkable
class HasAtoms(Protocol):
    """A tracker that knows the atoms of xbar = sum_i w_i a_i."""

    @property
    def atoms(self) -> Sequence[Any]:
        """a_i."""
        ...

    @property
    def weights(self) -> FloatArray:
        """w_i."""
        ...


class AtomList:
    """Tracker of xbar = sum_i w_i a_i by its atoms, in the order in which they came.

    Mixing multiplies every old weight by (1 - gamma); a common scale does that in O(1). Trackers of
    consecutive iterations share one growing list, of which each sees only its own length.

    See Also
    --------
    Combination, LowRankTracker, unipd.polish

    Examples
    --------
    >>> tracker = AtomList().mix(1.0, np.array([1.0, 0.0])).mix(0.25, np.array([0.0, 1.0]))
    >>> tracker.weights, tracker.point()
    (array([0.75, 0.25]), array([0.75, 0.25]))
    """

    exact_objective = False
    error = None
    has_shared_atoms = True

    def __init__(self) -> None:
        self._atoms: list[Any] = []
        self._raw: list[float] = []
        self._count = 0
        self._scale = 1.0

    def mix(self, gamma: float, atom: Any) -> AtomList:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if gamma == 0.0 and self._count > 0:
            return self
        new = AtomList()
        scale = (1.0 - gamma) * self._scale
        if scale > _SMALLEST_SCALE:
            new._atoms, new._raw = self._lists_to_extend()
            new._scale = scale
        elif gamma < 1.0:
            new._atoms = self._atoms[: self._count]
            new._raw = [(1.0 - gamma) * w for w in self.weights]
        new._atoms.append(atom)
        new._raw.append(gamma / new._scale)
        new._count = len(new._atoms)
        return new

    def _lists_to_extend(self) -> tuple[list[Any], list[float]]:
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


@dataclass(frozen=True, eq=False)
class Combination:
    """Tracker of x = sum_i w_i a_i whose weights a method recomputes.

    Parameters
    ----------
    atoms
        The atoms a_i.
    weights
        The weights w_i.

    See Also
    --------
    AtomList, unipd.Corrective

    Examples
    --------
    >>> Combination((np.array([1.0, 0.0]), np.array([0.0, 1.0])), np.array([0.75, 0.25])).point()
    array([0.75, 0.25])
    """

    atoms: tuple[Any, ...]
    weights: FloatArray

    error = None
    has_shared_atoms = False

    @property
    def exact_objective(self) -> bool:
        """Whether f(x) is evaluated at x: not for low-rank atoms, whose sum is expensive to decompose."""
        return not any(is_low_rank(atom) for atom in self.atoms)

    def mix(self, gamma: float, atom: Any) -> Combination:
        """Refuse: the weights come from the method."""
        raise NotImplementedError("the weights of this combination are computed by its method")

    def point(self) -> Any:
        """Return x as an array, or as stacked factors when the atoms are low-rank."""
        return atoms.combination([float(w) for w in self.weights], self.atoms)

    @property
    def nbytes(self) -> int:
        """Bytes of the atoms and their weights."""
        return sum(atom.nbytes for atom in self.atoms) + self.weights.nbytes


def is_low_rank(atom: Any) -> bool:
    """Whether an atom, or a block of it, is kept by its factors."""
    if isinstance(atom, atoms.Blocks):
        return any(is_low_rank(part) for part in atom.parts)
    return isinstance(atom, atoms.LowRank)


def vertex_key(atom: Any) -> bytes:
    """Return bytes that are equal for equal vertices, a digest where they are many; nothing is made dense.

    Parameters
    ----------
    atom
        An array or a structured point.

    See Also
    --------
    AtomList, unipd.PairwiseFrankWolfe

    Examples
    --------
    >>> import numpy as np
    >>> vertex_key(np.array([1.0, 0.0])) == vertex_key(np.array([1.0, 0.0]))
    True
    """
    if isinstance(atom, atoms.SparsePoint):
        content = atom.indices.tobytes() + atom.values.tobytes()
    elif isinstance(atom, atoms.Blocks):
        return b"".join(vertex_key(part) for part in atom.parts)
    elif isinstance(atom, atoms.LowRank):
        content = atom.left.tobytes() + atom.right.tobytes() + atom.weights.tobytes()
    else:
        content = atom.tobytes()
    return content if len(content) <= _DIGEST else hashlib.blake2b(content, digest_size=_DIGEST).digest()
