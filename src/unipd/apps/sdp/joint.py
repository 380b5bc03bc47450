"""The map of a semidefinite program together with its cost: both on one sparsity pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.maps.base import Map
from unipd.maps.sdp import SdpMap, SymmetricOperator


class JointMap(Map):
    """A, with the cost C as one more row of the same data: C + A^*(lam) is one sparse matrix.

    Parameters
    ----------
    extended
        X -> (<C, X>, A(X)).

    Examples
    --------
    >>> from unipd.maps.sdp import Entries
    >>> joint = JointMap(SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0]), np.eye(2)]), 2))
    >>> joint.image(np.eye(2)), joint.slack(np.array([3.0])).toarray()
    (array([2.]), array([[4., 0.], [0., 5.]]))
    """

    def __init__(self, extended: SdpMap) -> None:
        rows = extended.codomain[0] - 1
        super().__init__(extended.domain, (rows,), extended.dtype)
        self.extended = extended
        self.cost: SymmetricOperator = extended.adjoint(np.eye(1, rows + 1, dtype=self.dtype)[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.extended.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(X)."""
        return self.extended.image(atom)[1:]

    def cost_and_image(self, atom: Any) -> tuple[float, Array]:
        """Return <C, X> and A(X), read together."""
        both = self.extended.image(atom)
        return float(both[0]), both[1:]

    def adjoint(self, dual: Array) -> SymmetricOperator:
        """Return A^*(lam), on the joint pattern."""
        return self.extended.adjoint(np.concatenate([np.zeros(1, self.dtype), dual]))

    def slack(self, dual: Array) -> SymmetricOperator:
        """Return S = C + A^*(lam)."""
        return self.extended.adjoint(np.concatenate([np.ones(1, self.dtype), dual]))

    def minus(self, left: SymmetricOperator, right: SymmetricOperator) -> SymmetricOperator:
        """Return the difference of two matrices on the joint pattern."""
        return replace(left, data=left.data - right.data, coefficients=left.coefficients - right.coefficients)
