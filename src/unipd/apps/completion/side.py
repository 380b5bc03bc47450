"""One side of the completion model: X = L_u Z L_v^T with L = [D^(-1/2), g F]."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.atoms import apply, apply_adjoint
from unipd.errors import InvalidInput
from unipd.maps import Sampling
from unipd.maps.matrix_operator import MatrixOperator
from unipd.spectral import Engine


class Side(MatrixOperator):
    """The factor L = [diag(scales), F] of one side; ||Z||_* bounds X through L L^T = D^(-1) + F F^T.

    Any L with the same L L^T gives the same set of matrices X. This one is sparse when F is: products cost as much as
    those with the ratings, and X's row of a user is its own row plus a mixture of the rows of its features.

    Parameters
    ----------
    scales
        D^(-1/2), one number for each row.
    features
        F: an array or a sparse matrix with as many rows, or None.

    Examples
    --------
    >>> side = Side(np.array([1.0, 2.0]), sp.csr_array(np.array([[3.0], [0.0]])))
    >>> side.matmat(np.eye(3))
    array([[1., 0., 3.],
           [0., 2., 0.]])
    """

    def __init__(self, scales: Any, features: Any = None) -> None:
        self.scales = validate.real_array("scales", scales, ndim=1)
        self.features: Any = None if features is None else _checked(features, self.scales.size)
        self._products: Any = _sampled(self.features) if sp.issparse(self.features) else self.features
        width = 0 if self.features is None else self.features.shape[1]
        super().__init__((self.scales.size, self.scales.size + width), self.scales.dtype)

    @property
    def diagonal(self) -> bool:
        """Whether L has no features."""
        return self.features is None

    def matmat(self, x: Array) -> Array:
        """Return L X."""
        rows = self.shape[0]
        out = self.scales[:, np.newaxis] * x[:rows]
        if self.features is not None:
            out += apply(self._products, x[rows:])
        return out

    def rmatmat(self, x: Array) -> Array:
        """Return L^T X."""
        own = self.scales[:, np.newaxis] * x
        if self.features is None:
            return own
        return np.concatenate([own, apply_adjoint(self._products, x)], axis=0)

    def energies(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of L^T diag(weights) L."""
        own = self.scales**2 * weights
        if self.features is None:
            return own
        squares: Any = self.features.power(2) if sp.issparse(self.features) else self.features**2
        return np.concatenate([own, squares.T @ weights])

    def leading(self, weights: FloatArray, count: int) -> tuple[FloatArray, Array] | None:
        """Return the leading eigenvalues and eigenvectors of L^T diag(weights) L; None when it is diagonal."""
        count = min(count, *self.shape)
        if self.features is None or count == 0:
            return None
        roots = np.sqrt(weights)
        found = Engine().singular_triples(_Scaled(roots, self), count, tolerance=1e-2)
        return found.values**2, np.ascontiguousarray(found.right)


class _Scaled(MatrixOperator):
    """diag(roots) L as an operator."""

    def __init__(self, roots: FloatArray, side: Side) -> None:
        super().__init__(side.shape, side.dtype)
        self._roots, self._side = roots[:, np.newaxis], side

    def matmat(self, x: Array) -> Array:
        return self._roots * self._side.matmat(x)

    def rmatmat(self, x: Array) -> Array:
        return self._side.rmatmat(self._roots * x)


def _sampled(features: Any) -> Any:
    """Return a sparse matrix with the library's own products, which are faster than SciPy's and use threads."""
    if features.nnz == 0:
        return features
    entries = features.tocoo()
    return Sampling(entries.row, entries.col, features.shape).adjoint(entries.data)


def _checked(features: Any, rows: int) -> Any:
    if sp.issparse(features):
        matrix: Any = features.tocsr().astype(np.float64, copy=False)
        validate.finite_array("features", matrix.data)
    else:
        matrix = validate.real_array("features", features, ndim=2).astype(np.float64, copy=False)
    if matrix.shape[0] != rows or matrix.shape[1] == 0:
        raise InvalidInput("features", f"a matrix of {rows} rows", f"shape {matrix.shape}")
    return matrix
