"""Cheap rigorous upper bounds of the spectral norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from unipd.errors import OracleError
from unipd.spectral.powers import exponent_of, times_power
from unipd.spectral.products import working_dtype


def norm_bound(operator: Any) -> float | None:
    """Return an upper bound of the largest singular value without any product, or None when none is at hand.

    Matrices: the smaller of the Frobenius norm and sqrt(||M||_1 ||M||_inf). Operators: their own ``norm_bound()``.

    >>> norm_bound(np.array([[1.0, 1.0], [1.0, 1.0]])).__round__(6)
    2.0
    """
    if isinstance(operator, np.ndarray) or scipy.sparse.issparse(operator):
        return _matrix_norm_bound(operator)
    if not hasattr(operator, "norm_bound"):
        return None
    bound = float(operator.norm_bound())
    if not (math.isfinite(bound) and bound >= 0.0):
        raise OracleError(f"norm_bound() of {type(operator).__name__} returned {bound}")
    return bound


def _matrix_norm_bound(matrix: Any) -> float:
    moduli: Any = abs(matrix).astype(np.float64)
    exponent = exponent_of(float(moduli.max()))
    moduli = moduli * 2.0**-exponent
    squares = moduli.multiply(moduli) if scipy.sparse.issparse(moduli) else moduli * moduli
    norm = math.sqrt(float(squares.sum()))
    mixed = math.sqrt(float(moduli.sum(axis=0).max()) * float(moduli.sum(axis=1).max()))
    eps = float(np.finfo(working_dtype(matrix.dtype)).eps)
    return times_power(min(norm, mixed) * (1.0 + (4.0 + sum(matrix.shape)) * eps), exponent)
