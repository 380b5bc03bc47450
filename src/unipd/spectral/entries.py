"""Operators whose entries are at hand, and what a rigorous bound may make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd.spectral.dense import always_dense
from unipd.spectral.products import Products, is_explicit


def affords_rigorous(operator: Any, hermitian: bool, limit: int) -> bool:
    """Whether a rigorous bound takes a moment, and no array of the matrix's shape unless the matrix is small.

    Only operators that are known by their products alone are made dense for it: the longer side counts as well.

    >>> affords_rigorous(np.ones((2, 900)), False, 10), affords_rigorous(np.ones((20, 20)), False, 10)
    (True, False)
    """
    if hermitian and is_explicit(operator):
        return True
    return min(operator.shape) <= limit if knows_entries(operator) else always_dense(operator.shape, limit)


def knows_entries(operator: Any) -> bool:
    """Whether the entries are at hand without products: an array, a sparse matrix, an operator with ``tocsr``."""
    return is_explicit(operator) or hasattr(operator, "tocsr")


def entries_of(products: Products) -> Any:
    """Return the matrix as it is known, an array or a sparse matrix; by products where nothing is known."""
    operator = products.operator
    if products.explicit:
        return operator
    return operator.tocsr() if knows_entries(operator) else products.dense()


def array_of(products: Products) -> Array:
    """Return the matrix as an array, without products where its entries are known."""
    matrix = entries_of(products)
    return np.asarray(matrix.toarray() if scipy.sparse.issparse(matrix) else matrix).astype(products.dtype, copy=False)
