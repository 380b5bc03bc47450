"""Balls of matrix norms as sets K: nuclear and spectral."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet
from unipd.couplings.matrices import as_matrix, matrix_shape, require_matrix
from unipd.couplings.modulus import clip_modulus, l1_kept, l1_threshold, shrink, total


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
        Bound of the sum of the singular values.
    shape
        Rows and columns. Matrices come in this shape, or flat in C order.

    Examples
    --------
    >>> NuclearBall(2.0, (2, 2)).project(np.array([3.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 0.])
    """

    def project(self, vector: Array) -> Array:
        """Project the singular values on the l1 ball."""
        left, values, right = self._factors(vector)
        kept = l1_kept(values, self.radius).astype(values.dtype, copy=False)
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
        Bound of the largest singular value.
    shape
        Rows and columns. Matrices come in this shape, or flat in C order.

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
