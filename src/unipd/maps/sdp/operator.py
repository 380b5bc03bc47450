"""The adjoint A^*(lam) of a semidefinite map: a symmetric matrix, sparse plus a few rank-one terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput, MemoryForecastError

DENSE_LIMIT = 20_000
"""Largest order that is made dense (3.2 GB of doubles)."""


@dataclass(frozen=True, eq=False)
class SymmetricOperator:
    """S = M + V diag(c) V^T with M symmetric sparse (both triangles, CSR) and V a few dense columns.

    Known through its products, as an eigensolver wants it: ``matvec`` and ``matmat`` (and their adjoints,
    which are the same). ``toarray`` and ``tocsr`` form the matrix, for small orders.

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0])]), 1).adjoint(np.array([3.0]))
    >>> operator.matvec(np.array([1.0, 1.0]))
    array([3., 6.])
    """

    starts: IntArray
    """CSR row pointers of M."""
    indices: IntArray
    """CSR column indices of M."""
    data: Array
    """CSR values of M."""
    vectors: Array
    """V, of shape (n, k)."""
    coefficients: Array
    """c, of shape (k,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n)."""
        order = self.starts.size - 1
        return (order, order)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the entries."""
        return self.data.dtype

    def matvec(self, x: Array) -> Array:
        """Return S x."""
        from unipd.maps.sdp import kernels  # compiled on first use

        vector = np.ascontiguousarray(x).reshape(-1)
        self._check(vector)
        out = np.empty(vector.size, np.result_type(self.dtype, vector.dtype))
        kernels.csr_vector(self.starts, self.indices, self.data, vector, out)
        if self.coefficients.size:
            out += self.vectors @ (self.coefficients * (self.vectors.T @ vector))
        return out

    def matmat(self, block: Array) -> Array:
        """Return S B for a block of columns B."""
        from unipd.maps.sdp import kernels  # compiled on first use

        block = np.ascontiguousarray(block)
        self._check(block)
        out = np.empty(block.shape, np.result_type(self.dtype, block.dtype))
        kernels.csr_block(self.starts, self.indices, self.data, block, out)
        if self.coefficients.size:
            out += self.vectors @ (self.coefficients[:, None] * (self.vectors.T @ block))
        return out

    def rmatvec(self, x: Array) -> Array:
        """Return S^T x = S x."""
        return self.matvec(x)

    def rmatmat(self, block: Array) -> Array:
        """Return S^T B = S B."""
        return self.matmat(block)

    def __matmul__(self, other: Array) -> Array:
        return self.matvec(other) if other.ndim == 1 else self.matmat(other)

    def diagonal(self) -> Array:
        """Return the diagonal entries."""
        sparse: Any = scipy.sparse.csr_array((self.data, self.indices, self.starts), shape=self.shape)
        return sparse.diagonal() + self.vectors**2 @ self.coefficients

    def tocsr(self) -> Any:
        """Return S as a SciPy CSR array; rank-one terms make it dense."""
        sparse: Any = scipy.sparse.csr_array((self.data, self.indices, self.starts), shape=self.shape)
        return scipy.sparse.csr_array(self.toarray()) if self.coefficients.size else sparse

    def toarray(self) -> Array:
        """Return S as an array, for orders up to 20,000."""
        if self.shape[0] > DENSE_LIMIT:
            raise MemoryForecastError(f"a dense matrix of order {self.shape[0]} is too large: use matvec or tocsr")
        sparse: Any = scipy.sparse.csr_array((self.data, self.indices, self.starts), shape=self.shape)
        out = sparse.toarray()
        if self.coefficients.size:
            outer = (self.vectors * self.coefficients) @ self.vectors.T
            out += (outer + outer.T) / 2
        return out

    def _check(self, x: Array) -> None:
        if x.shape[0] != self.shape[0]:
            raise InvalidInput("x", f"{self.shape[0]} rows", f"shape {x.shape}")
        if x.dtype.kind == "c":
            raise InvalidInput("x", "real numbers", f"dtype {x.dtype}")
