"""Dense systems of linear equations that may be singular."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from unipd._typing import Array

RIDGE = 1e-13
"""Added to the diagonal of a matrix that may be singular, relative to its size: far below rounding of the data."""


def factor_definite(matrix: Array) -> Callable[[Array], Array]:
    """Return y -> K^{-1} y by Cholesky's method; as :func:`solve_system` where K is not positive definite in rounding.

    >>> factor_definite(np.array([[2.0, 0.0], [0.0, 4.0]]))(np.ones(2))
    array([0.5 , 0.25])
    """
    try:
        factor = scipy.linalg.cho_factor(matrix, check_finite=False)
    except np.linalg.LinAlgError:
        return lambda right: solve_system(matrix, right)
    return lambda right: scipy.linalg.cho_solve(factor, right, check_finite=False)


def solve_system(matrix: Array, right: Array) -> Array:
    """Return the solution; the shortest one of least squares where the matrix is singular.

    >>> solve_system(np.ones((2, 2)), np.ones(2)).round(12)
    array([0.5, 0.5])
    """
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]
