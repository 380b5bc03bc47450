"""Maps given by a matrix: dense or sparse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import atoms, validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating


class DenseMatrix(Map):
    """A x with A a NumPy array of shape (n, p); a sparse atom costs only its columns.

    >>> DenseMatrix(np.eye(2)).image(atoms.one_hot((2,), 1, 3.0))
    array([0., 3.])
    """

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        self.matrix = validate.finite_array("A", matrix, ndim=2)
        rows, columns = self.matrix.shape
        super().__init__(_domain(domain, columns), (rows,), self.matrix.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix."""
        return self.matrix.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x."""
        if isinstance(atom, atoms.SparsePoint):
            return self.matrix[:, atom.indices] @ atom.values
        return self.matrix @ np.asarray(atoms.dense(atom)).reshape(-1)

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam (conjugating the vector, not the matrix)."""
        if self.matrix.dtype.kind == "c":
            return (dual.conj() @ self.matrix).conj().reshape(self.domain)
        return (dual @ self.matrix).reshape(self.domain)


class SparseMatrix(Map):
    """A x with A a SciPy sparse matrix or array, kept by columns (CSC) and never made dense."""

    def __init__(self, matrix: Any, domain: Shape | None = None) -> None:
        compressed: Any = sp.csc_array(matrix)
        compressed = compressed.astype(floating(compressed.dtype), copy=False)
        if not np.isfinite(compressed.data).all():
            raise InvalidInput("A", "finite numbers", "NaN or inf among the stored entries")
        self.matrix: Any = compressed
        self._transposed = compressed.T
        rows, columns = compressed.shape
        super().__init__(_domain(domain, columns), (rows,), compressed.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the three CSC arrays."""
        return self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes

    def image(self, atom: Any) -> Array:
        """Return A x; a sparse atom reads only its columns."""
        if not isinstance(atom, atoms.SparsePoint):
            return self.matrix @ np.asarray(atoms.dense(atom)).reshape(-1)
        out = np.zeros(self.codomain, np.result_type(self.dtype, atom.dtype))
        starts = self.matrix.indptr
        for column, value in zip(atom.indices, atom.values, strict=True):
            part = slice(starts[column], starts[column + 1])
            np.add.at(out, self.matrix.indices[part], value * self.matrix.data[part])
        return out

    def adjoint(self, dual: Array) -> Array:
        """Return A^* lam."""
        if self.dtype.kind == "c":
            return (self._transposed @ dual.conj()).conj().reshape(self.domain)
        return (self._transposed @ dual).reshape(self.domain)


def _domain(domain: Shape | None, columns: int) -> Shape:
    """Return the shape of x that a matrix with so many columns acts on, in C order."""
    if domain is None:
        return (columns,)
    if math.prod(domain) != columns:
        raise InvalidInput("A", f"{math.prod(domain)} columns, one an entry of x", f"{columns} columns")
    return domain
