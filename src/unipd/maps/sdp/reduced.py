"""A semidefinite map on a face of the psd cone: Z -> A(Q Z Q^T), with Q a basis of the complement of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import LowRank
from unipd.maps.base import Map
from unipd.spectral import SymmetricOperator
from unipd.spectral.operators import LazyMatrix


class Reflection:
    """Q, a basis of the complement of a vector: all columns but the first of a Householder reflection.

    >>> reflection = Reflection(np.array([3.0, 4.0]))
    >>> abs(reflection.times(np.ones((1, 1))).T @ np.array([3.0, 4.0])).round(12)
    array([0.])
    """

    def __init__(self, vector: Array) -> None:
        self.unit: Array = vector / np.linalg.norm(vector)
        axis = self.unit.copy()
        axis[0] += np.copysign(1.0, axis[0])
        self._axis: Array = axis / np.linalg.norm(axis)

    def times(self, block: Array) -> Array:
        """Return Q B."""
        padded = np.concatenate([np.zeros((1, block.shape[1]), block.dtype), block])
        return padded - 2.0 * np.outer(self._axis, self._axis @ padded)

    def adjoint_times(self, block: Array) -> Array:
        """Return Q^T B."""
        return (block - 2.0 * np.outer(self._axis, self._axis @ block))[1:]

    def lift(self, atom: LowRank) -> LowRank:
        """Return Q Z Q^T for a psd Z."""
        left = self.times(atom.left)
        return LowRank(left, left, atom.weights)


class ReducedOperator(LazyMatrix):
    """Q^T S Q for a symmetric S, formed on request only."""

    def __init__(self, middle: SymmetricOperator, reflection: Reflection) -> None:
        order = middle.shape[0] - 1
        super().__init__((order, order), middle.dtype)
        self.middle, self.reflection = middle, reflection

    def matmat(self, block: Array) -> Array:
        """Return Q^T S Q B."""
        return self.reflection.adjoint_times(self.middle.matmat(self.reflection.times(block)))

    def rmatmat(self, block: Array) -> Array:
        """Return the same."""
        return self.matmat(block)

    def __sub__(self, other: ReducedOperator) -> ReducedOperator:
        return ReducedOperator(self.middle - other.middle, self.reflection)

    def toarray(self) -> Array:
        """Return Q^T S Q as an array."""
        half = self.reflection.adjoint_times(self.middle.toarray())
        full = self.reflection.adjoint_times(half.T)
        return (full + full.T) / 2


class ReducedMap(Map):
    """Z -> A(Q Z Q^T) for a semidefinite map A.

    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> one = np.ones((1, 1))
    >>> trace = SdpMap((2, 2), Entries.from_matrices([np.eye(2)]), 1)
    >>> ReducedMap(trace, Reflection(np.ones(2))).image(LowRank(one, one, np.ones(1))).round(12)
    array([1.])
    """

    def __init__(self, unreduced: Any, reflection: Reflection) -> None:
        order = unreduced.domain[0] - 1
        super().__init__((order, order), unreduced.codomain, unreduced.dtype)
        self.unreduced, self.reflection = unreduced, reflection

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.unreduced.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(Q Z Q^T)."""
        return self.unreduced.image(self.reflection.lift(atom))

    def adjoint(self, dual: Array) -> ReducedOperator:
        """Return Q^T A^*(lam) Q."""
        return ReducedOperator(self.unreduced.adjoint(dual), self.reflection)
