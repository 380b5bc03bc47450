"""Small matrices made dense, with LAPACK: rigorous up to n eps ||M||."""

from __future__ import annotations

import numpy as np
import scipy

from unipd._typing import Array, FloatArray
from unipd.errors import OracleError
from unipd.spectral.operators import Products
from unipd.spectral.results import RIGOROUS, EigenPairs, SingularTriples


def is_small(shape: tuple[int, ...], limit: int) -> bool:
    """Whether a matrix counts as small: its shorter side within the limit and the longer one not extreme."""
    return min(shape) <= limit and max(shape) <= 16 * limit


def dense_eigenpairs(products: Products, count: int) -> EigenPairs:
    """Return the top eigenpairs of the matrix made dense; exact up to n eps ||M||.

    >>> dense_eigenpairs(Products(np.diag([1.0, 5.0]), hermitian=True), 1).value
    5.0
    """
    matrix = _finite(products.dense())
    size = matrix.shape[0]
    # Divide and conquer: relatively robust representations lose orthogonality within clusters.
    values, vectors = scipy.linalg.eigh(matrix, check_finite=False, driver="evd")
    allowance = rounding_allowance(matrix, float(np.abs(values).max()))
    return EigenPairs(
        values=_doubles(values[::-1][:count]),
        vectors=np.asfortranarray(vectors[:, size - count :][:, ::-1]),
        residuals=np.full(count, allowance),
        matvecs=products.count,
        upper=float(values[-1]) + allowance,
        bound_kind=RIGOROUS,
        converged=True,
        solver="dense",
    )


def dense_singular_triples(products: Products, count: int) -> SingularTriples:
    """Return the top singular triples of the matrix made dense; exact up to n eps ||M||.

    >>> dense_singular_triples(Products(np.array([[0.0, 2.0]])), 1).value
    2.0
    """
    matrix = _finite(products.dense())
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    allowance = rounding_allowance(matrix, float(values[0]))
    return SingularTriples(
        values=_doubles(values[:count]),
        left=np.asfortranarray(left[:, :count]),
        right=np.asfortranarray(right[:count].conj().T),
        residuals=np.full(count, allowance),
        matvecs=products.count,
        upper=float(values[0]) + allowance,
        bound_kind=RIGOROUS,
        converged=True,
        solver="dense",
    )


def rounding_allowance(matrix: Array, norm: float) -> float:
    """Return n eps ||M||, which covers the backward error of LAPACK's eigenvalues and singular values."""
    return max(matrix.shape) * float(np.finfo(matrix.dtype).eps) * norm


def _doubles(values: Array) -> FloatArray:
    return np.array(values, np.float64)


def _finite(matrix: Array) -> Array:
    if not np.isfinite(matrix).all():
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    return matrix
