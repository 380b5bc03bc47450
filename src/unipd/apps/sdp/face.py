"""Facial reduction: a constraint <v v^T, X> = 0 on a psd X means X v = 0, so X = Q Z Q^T with Q a basis of v-perp.

Such a program has no strictly feasible X, and without the reduction its multipliers are unbounded. Q is all but one
column of a Householder reflection, H = I - 2 w w^T with H e_1 = +-v / |v|: products cost O(n) a column and Q is never
formed. A bound for Z is one for X. For a dual vector in the original space the constraint needs a large finite
multiplier t, whose loss is |s|^2 / (t + v^T S v - lambda) in the smallest eigenvalue lambda of Q^T S Q, where
s = Q^T S v (Schur complement, |v| = 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.joint import JointMap
from unipd.atoms import LowRank
from unipd.maps.base import Map
from unipd.maps.sdp import SymmetricOperator


class Reflection:
    """Q: the complement of a vector as all columns but the first of a Householder reflection.

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


@dataclass(frozen=True, eq=False)
class FacedOperator:
    """Q^T S Q for a symmetric S, never formed but on request."""

    middle: SymmetricOperator
    reflection: Reflection

    @property
    def shape(self) -> tuple[int, int]:
        """One less than S on both sides."""
        order = self.middle.shape[0] - 1
        return (order, order)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of S."""
        return self.middle.dtype

    def matmat(self, block: Array) -> Array:
        """Return Q^T S Q B."""
        return self.reflection.adjoint_times(self.middle.matmat(self.reflection.times(block)))

    def matvec(self, x: Array) -> Array:
        """Return Q^T S Q x."""
        return self.matmat(x.reshape(-1, 1))[:, 0]

    rmatmat, rmatvec = matmat, matvec

    def toarray(self) -> Array:
        """Return Q^T S Q as an array."""
        half = self.reflection.adjoint_times(self.middle.toarray())
        full = self.reflection.adjoint_times(half.T)
        return (full + full.T) / 2


class FacedMap(Map):
    """Z -> A(Q Z Q^T), with its cost; the interface of :class:`~unipd.apps.sdp.joint.JointMap`.

    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> joint = JointMap(SdpMap((2, 2), Entries.from_matrices([np.eye(2), np.eye(2)]), 2))
    >>> FacedMap(joint, Reflection(np.ones(2))).image(LowRank(np.ones((1, 1)), np.ones((1, 1)), np.ones(1))).round(12)
    array([1.])
    """

    def __init__(self, joint: JointMap, reflection: Reflection) -> None:
        order = joint.domain[0] - 1
        super().__init__((order, order), joint.codomain, joint.dtype)
        self.joint, self.reflection = joint, reflection
        self.cost = FacedOperator(joint.cost, reflection)

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.joint.nbytes

    def lifted(self, atom: Any) -> LowRank:
        """Return X = Q Z Q^T as factors."""
        left = self.reflection.times(atom.left)
        return LowRank(left, left, atom.weights)

    def image(self, atom: Any) -> Array:
        """Return A(Q Z Q^T)."""
        return self.joint.image(self.lifted(atom))

    def cost_and_image(self, atom: Any) -> tuple[float, Array]:
        """Return <C, Q Z Q^T> and A(Q Z Q^T)."""
        return self.joint.cost_and_image(self.lifted(atom))

    def adjoint(self, dual: Array) -> FacedOperator:
        """Return Q^T A^*(lam) Q."""
        return FacedOperator(self.joint.adjoint(dual), self.reflection)

    def slack(self, dual: Array) -> FacedOperator:
        """Return Q^T (C + A^*(lam)) Q."""
        return FacedOperator(self.joint.slack(dual), self.reflection)

    def minus(self, left: FacedOperator, right: FacedOperator) -> FacedOperator:
        """Return the difference of two matrices on the joint pattern."""
        return FacedOperator(self.joint.minus(left.middle, right.middle), self.reflection)


@dataclass(frozen=True)
class Face:
    """A constraint c <v v^T, X> = 0."""

    constraint: int
    coefficient: float
    vector: Array

    def multiplier(self, slack: SymmetricOperator, smallest: float, loss: float) -> float:
        """Return the multiplier of the constraint that costs ``loss`` of the smallest eigenvalue of Q^T S Q.

        S + t v v^T / |v|^2 then has no eigenvalue below ``smallest - loss``.
        """
        unit = self.vector / np.linalg.norm(self.vector)
        image = slack.matvec(unit)
        diagonal = float(unit @ image)
        side = image - diagonal * unit
        strength = float(side @ side) / loss - diagonal + smallest
        return max(strength, 0.0) / (self.coefficient * float(self.vector @ self.vector))


def find_face(data: SdpData) -> Face | None:
    """Return a rank-one constraint that holds X on a proper face, if there is one.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> ones = Entries.from_matrices([np.ones((3, 3))])
    >>> data = SdpData(3, ones, ones, np.zeros(1), np.zeros(1), (Block(0, 3, False),))
    >>> find_face(data).vector
    array([1., 1., 1.])
    """
    block: Any = data.extended.blocks[0]
    others = np.diff(data.extended.matrix.indptr)
    for column, owner in enumerate(block.owners):
        row = int(owner) - 1
        alone = row >= 0 and others[owner] == 0
        if alone and data.equal[row] and data.b[row] == 0.0:
            return Face(row, float(block.coefficients[column]), block.vectors[:, column])
    return None
