"""Directions seen through a diagonal scaling or through some of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, Shape
from unipd.spectral.entries import knows_entries
from unipd.spectral.products import Products, is_explicit


class ScaledOperator:
    """diag(rows) M diag(columns) with real diagonals, never formed."""

    def __init__(self, operator: Any, rows: Array, columns: Array) -> None:
        self.operator = operator
        self._products = Products(operator)
        precision = np.finfo(self._products.dtype).dtype
        self._rows = rows.astype(precision)[:, np.newaxis]
        self._columns = columns.astype(precision)[:, np.newaxis]

    @property
    def shape(self) -> Shape:
        """Shape of M."""
        return self._products.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of M."""
        return self._products.dtype

    def matmat(self, block: Array) -> Array:
        """Return the product with a block of columns."""
        return self._rows * self._products.forward(self._columns * block)

    def rmatmat(self, block: Array) -> Array:
        """Return the product of the adjoint with a block of columns."""
        return self._columns * self._products.adjoint(self._rows * block)

    def matvec(self, x: Array) -> Array:
        """Return the product with a vector."""
        return self.matmat(x.reshape(-1, 1))[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return the product of the adjoint with a vector."""
        return self.rmatmat(x.reshape(-1, 1))[:, 0]


class ScaledEntries(ScaledOperator):
    """The same of an operator that knows its entries."""

    def tocsr(self) -> Any:
        """Return the scaled matrix as a sparse one."""
        rows, columns = (scipy.sparse.diags_array(side[:, 0]) for side in (self._rows, self._columns))
        return (rows @ self.operator.tocsr() @ columns).tocsr()


def scaled_by(operator: Any, rows: Array, columns: Array) -> Any:
    """Return diag(rows) M diag(columns) in the form that M has.

    >>> scaled_by(np.ones((1, 2)), np.array([2.0]), np.array([1.0, 3.0]))
    array([[2., 6.]])
    """
    if isinstance(operator, np.ndarray):
        precision = np.result_type(operator.dtype, np.float32)
        return (rows[:, np.newaxis] * operator * columns).astype(precision, copy=False)
    if scipy.sparse.issparse(operator):
        return (scipy.sparse.diags_array(rows) @ operator @ scipy.sparse.diags_array(columns)).astype(operator.dtype)
    kind = ScaledEntries if knows_entries(operator) else ScaledOperator
    return kind(operator, rows, columns)


class ColumnsOperator:
    """Some columns of M, never formed: vectors are padded by zeros."""

    def __init__(self, operator: Any, columns: Array) -> None:
        self.operator = operator
        self._products = Products(operator)
        self._columns = columns

    @property
    def shape(self) -> Shape:
        """Rows of M and the number of columns."""
        return (self._products.shape[0], self._columns.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of M."""
        return self._products.dtype

    def matvec(self, x: Array) -> Array:
        """Return the product with a vector."""
        padded = np.zeros((self._products.shape[1], 1), self.dtype)
        padded[self._columns, 0] = x.reshape(-1)
        return self._products.forward(padded)[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return the product of the adjoint with a vector."""
        return self._products.adjoint(x.reshape(-1, 1))[self._columns, 0]


class ColumnsEntries(ColumnsOperator):
    """The same of an operator that knows its entries."""

    def tocsr(self) -> Any:
        """Return the columns as a sparse matrix."""
        return self.operator.tocsr()[:, self._columns]


def columns_of(operator: Any, columns: Array) -> Any:
    """Return some columns of M: a matrix for a matrix, an operator for an operator.

    >>> columns_of(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2]))
    array([[1., 3.]])
    """
    if is_explicit(operator):
        return operator.tocsc()[:, columns] if scipy.sparse.issparse(operator) else operator[:, columns]
    kind = ColumnsEntries if knows_entries(operator) else ColumnsOperator
    return kind(operator, columns)
