"""Balls of matrix norms as sets K: nuclear and spectral; vectors that hold matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import clip_modulus, l1_threshold, project_moduli_l1, shrink, total
from unipd.couplings.base import ConvexSet
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


class _SingularValueBall(ConvexSet):
    """A ball given by the singular values: the projection acts on them and keeps the singular vectors."""

    def __init__(self, radius: float, shape: tuple[int, int]) -> None:
        self.radius = validate.nonnegative("radius", radius)
        self.shape = matrix_shape(shape)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the data is a matrix of this shape, flat or not."""
        require_matrix(self.shape, shape)

    def _values(self, vector: Array) -> Array:
        return np.linalg.svd(as_matrix(vector, self.shape), compute_uv=False)

    def _factors(self, vector: Array) -> tuple[Array, Array, Array]:
        left, values, right = np.linalg.svd(as_matrix(vector, self.shape), full_matrices=False)
        return left, values, right


class NuclearBall(_SingularValueBall):
    """K = {||R||_* <= radius}, h(lam) = radius sigma_1(lam).

    The projection (hence every step of a method) needs a FULL singular value decomposition,
    O(rows columns min(rows, columns)) work; h itself needs the singular values alone. Prefer a nuclear ball as the set
    X, whose sharp operator needs one singular pair, where the model allows.

    Parameters
    ----------
    radius
        Bound on the sum of the singular values.
    shape
        Rows and columns. Matrices come in this shape, or flat in C order.

    See Also
    --------
    SpectralBall, unipd.sharp.NuclearBall

    Examples
    --------
    >>> NuclearBall(2.0, (2, 2)).project(np.array([3.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 0.])
    """

    def project(self, vector: Array) -> Array:
        """Project the singular values on the l1 ball."""
        left, values, right = self._factors(vector)
        kept = project_moduli_l1(values, self.radius).astype(values.dtype, copy=False)
        return vector if kept is values else ((left * kept) @ right).reshape(vector.shape)

    def conjugate(self, dual: Array) -> float:
        """Return radius times the largest singular value."""
        return self.radius * float(self._values(dual)[0])

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Clip the singular values at the threshold of the ball of radius ``step * radius``."""
        left, values, right = self._factors(vector)
        kept = clip_modulus(values, l1_threshold(values, float(step) * self.radius))
        return ((left * kept) @ right).reshape(vector.shape)


class SpectralBall(_SingularValueBall):
    """K = {sigma_1(R) <= radius}, h(lam) = radius ||lam||_*.

    The projection and h both need a FULL singular value decomposition: O(rows columns min(rows, columns)) work.

    Parameters
    ----------
    radius
        Bound on the largest singular value.
    shape
        Rows and columns. Matrices come in this shape, or flat in C order.

    See Also
    --------
    NuclearBall, PSDCone, unipd.sharp.SpectralBall

    Examples
    --------
    >>> SpectralBall(2.0, (2, 2)).project(np.array([3.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 1.])
    """

    def project(self, vector: Array) -> Array:
        """Clip the singular values at the radius."""
        left, values, right = self._factors(vector)
        inside = values[0] <= self.radius
        return vector if inside else ((left * clip_modulus(values, self.radius)) @ right).reshape(vector.shape)

    def conjugate(self, dual: Array) -> float:
        """Return radius times the sum of the singular values."""
        return self.radius * total(self._values(dual))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the soft threshold of the singular values at ``step * radius``."""
        left, values, right = self._factors(vector)
        return ((left * shrink(values, float(step) * self.radius)) @ right).reshape(vector.shape)
