"""Matrices that adjoints return without forming them: products with blocks of columns are enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import apply


class MatrixOperator(ABC):
    """A matrix M through M X and M^* X, with SciPy's operator methods; vectors are blocks of one column."""

    def __init__(self, shape: tuple[int, int], dtype: Any) -> None:
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @abstractmethod
    def matmat(self, x: Array) -> Array:
        """Return M X for the columns of X."""

    @abstractmethod
    def rmatmat(self, x: Array) -> Array:
        """Return M^* X for the columns of X."""

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.matmat(np.reshape(x, (-1, 1)))[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        return self.rmatmat(np.reshape(x, (-1, 1)))[:, 0]

    def frobenius(self) -> float:
        """Return an upper bound of the Frobenius norm (inf when none is known)."""
        return math.inf

    def toarray(self) -> Array:
        """Return M as an array: for small sizes and for tests."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))


class OperatorSum(MatrixOperator):
    """The sum of matrices, each an array, a sparse matrix or an operator.

    >>> OperatorSum([np.eye(2), np.ones((2, 2))]).matvec(np.array([1.0, 2.0]))
    array([4., 5.])
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        super().__init__(tuple(self.parts[0].shape), np.result_type(*(part.dtype for part in self.parts)))

    def matmat(self, x: Array) -> Array:
        """Return the sum of the parts' products."""
        return sum((apply(part, x) for part in self.parts[1:]), apply(self.parts[0], x))

    def rmatmat(self, x: Array) -> Array:
        """Return the sum of the parts' adjoint products."""
        return sum((apply_adjoint(part, x) for part in self.parts[1:]), apply_adjoint(self.parts[0], x))

    def frobenius(self) -> float:
        """Return the sum of the parts' bounds."""
        return sum(frobenius_bound(part) for part in self.parts)


def apply_adjoint(operator: Any, block: Array) -> Array:
    """Return ``operator^* @ block`` for arrays, sparse matrices and anything with rmatmat or rmatvec.

    >>> apply_adjoint(np.array([[1.0, 2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """
    if hasattr(operator, "rmatmat"):
        return np.asarray(operator.rmatmat(block))
    if hasattr(operator, "rmatvec"):
        return np.stack([np.asarray(operator.rmatvec(column)) for column in block.T], axis=1)
    if operator.dtype.kind == "c":
        return (operator.T @ block.conj()).conj()
    return operator.T @ block


def frobenius_bound(operator: Any) -> float:
    """Return an upper bound of a matrix's Frobenius norm, inf for an operator that knows none."""
    if isinstance(operator, np.ndarray):
        return float(np.linalg.norm(operator))
    return float(operator.frobenius()) if hasattr(operator, "frobenius") else math.inf
