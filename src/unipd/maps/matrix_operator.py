"""Matrices that adjoints return without forming them: products with blocks of columns are enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import apply, apply_adjoint


class MatrixOperator(ABC):
    """A matrix M through M X and M^* X, with SciPy's operator methods; vectors are blocks of one column."""

    def __init__(self, shape: tuple[int, int], dtype: Any) -> None:
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def hermitian(self) -> bool:
        """Whether M = M^* for certain."""
        return False

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

    @property
    def hermitian(self) -> bool:
        """Whether all parts are Hermitian operators."""
        return all(getattr(part, "hermitian", False) for part in self.parts)

    def matmat(self, x: Array) -> Array:
        """Return the sum of the parts' products."""
        return sum((apply(part, x) for part in self.parts[1:]), apply(self.parts[0], x))

    def rmatmat(self, x: Array) -> Array:
        """Return the sum of the parts' adjoint products."""
        return sum((apply_adjoint(part, x) for part in self.parts[1:]), apply_adjoint(self.parts[0], x))

    def frobenius(self) -> float:
        """Return the sum of the parts' bounds."""
        return sum(frobenius_bound(part) for part in self.parts)


def frobenius_bound(operator: Any) -> float:
    """Return an upper bound of a matrix's Frobenius norm, inf for an operator that knows none."""
    if isinstance(operator, np.ndarray):
        return float(np.linalg.norm(operator))
    return float(operator.frobenius()) if hasattr(operator, "frobenius") else math.inf
