"""From what users have (arrays, sparse matrices, operators, lists of them) to a linear map."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd.errors import InvalidInput
from unipd.maps.base import require_map
from unipd.maps.blocks import BlockMap
from unipd.maps.matrix import DenseMatrix, SparseMatrix
from unipd.maps.operator import OperatorMap
from unipd.protocols import LinearMap

_ACCEPTED = "a NumPy array, a SciPy sparse matrix, an operator with matvec and rmatvec, a unipd map, or a list of those"


def as_map(value: Any, domain: Any = None) -> LinearMap:
    """Return ``value`` as a linear map; matrices and operators act on x of shape ``domain`` in C order.

    >>> as_map([[1.0, 2.0]]).codomain
    (1,)
    """
    if hasattr(value, "image") and hasattr(value, "adjoint"):
        return require_map("A", value)
    if scipy.sparse.issparse(value):
        return _matrix_map(SparseMatrix, value, domain)
    if isinstance(value, np.ndarray):
        return _matrix_map(DenseMatrix, value, domain)
    if hasattr(value, "matvec") and hasattr(value, "rmatvec"):
        return OperatorMap(value, domain)
    if isinstance(value, (list, tuple)):
        if value and all(_is_row(part) for part in value):
            return _matrix_map(DenseMatrix, value, domain)
        domains = domain if domain is not None else [None] * len(value)
        if len(domains) != len(value):
            raise InvalidInput("A", f"{len(domains)} blocks, one an oracle", f"{len(value)} blocks")
        return BlockMap([as_map(part, shape) for part, shape in zip(value, domains, strict=True)])
    raise InvalidInput("A", _ACCEPTED, type(value).__name__)


def _matrix_map(kind: type[DenseMatrix | SparseMatrix], value: Any, domain: Any) -> LinearMap:
    """Return the map of a matrix; what is wrong with the matrix is said of A, as callers know it."""
    try:
        return kind(value, domain)
    except InvalidInput as error:
        name = "A" if error.argument == "matrix" else error.argument
        raise InvalidInput(name, error.expected, error.got) from error


def _is_row(part: Any) -> bool:
    """Whether a part of a list is the row of one matrix rather than the map of one block."""
    return isinstance(part, (list, tuple, float, int)) or (isinstance(part, np.ndarray) and part.ndim == 1)
