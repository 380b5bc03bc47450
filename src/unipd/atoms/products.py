"""Products of operators of any kind with blocks of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array


def apply(operator: Any, block: Array) -> Array:
    """Return ``operator @ block`` for arrays, sparse matrices and anything with matmat or matvec."""
    if hasattr(operator, "matmat"):
        return operator.matmat(block)
    if hasattr(operator, "matvec") and not hasattr(operator, "__matmul__"):
        return np.stack([operator.matvec(column) for column in block.T], axis=1)
    return operator @ block


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
