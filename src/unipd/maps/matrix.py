"""Maps given by a matrix: dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import atoms, validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps.base import Map, floating, matrix_domain, misfit

_FEW = 8
"""Nonzeros of an atom up to which its columns are read one by one."""


class DenseMatrix(Map):
    """A x with A a NumPy array of shape (n, p); a sparse atom costs only its columns.

    >>> DenseMatrix(np.eye(2)).image(atoms.one_hot((2,), 1, 3.0))
    array([0., 3.])
    """

    negates = True

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        self.matrix = validate.finite_array("matrix", matrix, ndim=2)
        rows, columns = _nonempty(self.matrix.shape)
        super().__init__(matrix_domain(domain, columns), (rows,), self.matrix.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix."""
        return self.matrix.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x."""
        try:
            if isinstance(atom, atoms.SparsePoint):
                return self.matrix[:, atom.indices] @ atom.values
            return self.matrix @ np.asarray(atoms.dense(atom)).reshape(-1)
        except (ValueError, IndexError) as error:
            raise misfit("atom", atom, self.domain, error) from error

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam (conjugating the vector, not the matrix)."""
        try:
            if self.matrix.dtype.kind == "c":
                return (dual.conj() @ self.matrix).conj().reshape(self.domain)
            return (dual @ self.matrix).reshape(self.domain)
        except ValueError as error:
            raise misfit("dual", dual, self.codomain, error) from error

    def opposite_adjoint(self, dual: Array) -> Array:
        """Return -A^* lam; the shorter of lam and A^* lam is negated, and lam where a subclass has its own adjoint."""
        rows, columns = self.matrix.shape
        if rows > columns and type(self).adjoint is DenseMatrix.adjoint:
            return -1.0 * self.adjoint(dual)
        return self.adjoint(-1.0 * dual)


class SparseMatrix(Map):
    """A x with A a SciPy sparse matrix or array, kept by columns (CSC) and never made dense.

    >>> SparseMatrix(scipy.sparse.eye_array(2)).adjoint(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        if not scipy.sparse.issparse(matrix):
            matrix = validate.finite_array("matrix", matrix, ndim=2)
        rows, columns = _nonempty(matrix.shape)
        compressed = _by_columns(matrix)
        compressed = compressed.astype(floating(compressed.dtype), copy=False)
        if not np.isfinite(compressed.data).all():
            raise InvalidInput("matrix", "finite numbers", "NaN or inf among the stored entries")
        self.matrix: Any = compressed
        self._transposed = compressed.T
        super().__init__(matrix_domain(domain, columns), (rows,), compressed.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the three CSC arrays."""
        return self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x; a sparse atom reads only its columns."""
        try:
            return self._product(atom)
        except (ValueError, IndexError) as error:
            raise misfit("atom", atom, self.domain, error) from error

    def _product(self, atom: Any) -> Array:
        if not isinstance(atom, atoms.SparsePoint):
            return self.matrix @ np.asarray(atoms.dense(atom)).reshape(-1)
        if atom.indices.size > _FEW:
            return self.matrix[:, atom.indices] @ atom.values
        out = np.zeros(self.codomain, np.result_type(self.dtype, atom.dtype))
        starts = self.matrix.indptr
        for column, value in zip(atom.indices, atom.values, strict=True):
            part = slice(starts[column], starts[column + 1])
            np.add.at(out, self.matrix.indices[part], value * self.matrix.data[part])
        return out

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam."""
        try:
            if self.dtype.kind == "c":
                return (self._transposed @ dual.conj()).conj().reshape(self.domain)
            return (self._transposed @ dual).reshape(self.domain)
        except ValueError as error:
            raise misfit("dual", dual, self.codomain, error) from error


def _by_columns(matrix: Any) -> Any:
    """Return the matrix in CSC form, which keeps a number for every column, empty ones too."""
    try:
        return scipy.sparse.csc_array(matrix)
    except MemoryError as error:
        raise MemoryForecastError(
            f"a sparse matrix with {matrix.shape[1]} columns does not fit in memory by columns: {error}; "
            "leave out empty columns, or give A as an operator with matvec and rmatvec"
        ) from error


def _nonempty(shape: Any) -> tuple[int, int]:
    if len(shape) != 2 or min(shape) < 1:
        raise InvalidInput("matrix", "a matrix with at least one row and column", f"shape {tuple(shape)}")
    return int(shape[0]), int(shape[1])
