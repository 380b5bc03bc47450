"""The part of a matrix that Hermitian points see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import apply, apply_adjoint
from unipd.spectral.products import is_explicit


class HermitianPart:
    """(M + M^*) / 2 of a square operator, never formed: <M, X> is the same for every Hermitian X.

    Examples
    --------
    >>> HermitianPart(np.array([[0.0, 2.0], [0.0, 0.0]])).matvec(np.array([1.0, 0.0]))
    array([0., 1.])
    """

    hermitian = True

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self.shape: tuple[int, int] = tuple(operator.shape)
        self.dtype: np.dtype[Any] = np.dtype(operator.dtype)

    def matmat(self, block: Array) -> Array:
        """Return the product with a block of columns."""
        return 0.5 * hermitian_twice(self.operator, block)

    def matvec(self, x: Array) -> Array:
        """Return the product with a vector."""
        return self.matmat(np.reshape(x, (-1, 1)))[:, 0]

    rmatmat, rmatvec = matmat, matvec

    def frobenius(self) -> float:
        """Return an upper bound of the Frobenius norm, that of M (inf when none is known)."""
        return float(self.operator.frobenius()) if hasattr(self.operator, "frobenius") else math.inf


def hermitian_twice(operator: Any, block: Array) -> Array:
    """Return (M + M^*) X: twice M X when M is known to be Hermitian.

    >>> hermitian_twice(np.array([[0.0, 2.0], [0.0, 0.0]]), np.eye(2))
    array([[0., 2.],
           [2., 0.]])
    """
    product = apply(operator, block)
    if not is_explicit(operator) and getattr(operator, "hermitian", True):
        return 2.0 * product
    return product + apply_adjoint(operator, block)
