"""Vectors that are matrices, flat in C order or not."""

from __future__ import annotations

import math

from unipd import validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput


def matrix_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return (rows, columns) checked.

    >>> matrix_shape((2, 3))
    (2, 3)
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise InvalidInput("shape", "two numbers, rows and columns", repr(shape))
    return validate.integer("shape", shape[0], minimum=1), validate.integer("shape", shape[1], minimum=1)


def as_matrix(vector: Array, shape: tuple[int, int]) -> Array:
    """Return a vector, flat or not, as the matrix that it holds, or raise.

    >>> import numpy as np
    >>> as_matrix(np.arange(4.0), (2, 2))
    array([[0., 1.],
           [2., 3.]])
    """
    if vector.size != shape[0] * shape[1]:
        raise InvalidInput("vector", f"shape {shape}, or flat {(math.prod(shape),)}", f"shape {vector.shape}")
    return vector.reshape(shape)


def require_matrix(matrix: tuple[int, int], shape: Shape) -> None:
    """Raise unless data of this shape holds such a matrix, flat or not.

    >>> require_matrix((2, 3), (6,))
    """
    if shape not in (matrix, (math.prod(matrix),)):
        raise InvalidInput("b", f"shape {matrix}, or flat {(math.prod(matrix),)}", f"shape {shape}")
