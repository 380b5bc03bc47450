"""The cone of positive semidefinite matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexSet
from unipd.couplings.matrices import as_matrix, require_matrix
from unipd.couplings.rounding import domain_rounding


class PSDCone(ConvexSet):
    """K = {R : R = R^*, R >= 0}, the real symmetric or complex Hermitian positive semidefinite matrices.

    h is the indicator of the polar cone, the matrices whose Hermitian part is negative semidefinite (an
    anti-Hermitian part is orthogonal to K and free). A dual matrix counts as inside when the top eigenvalue of
    its Hermitian part is at most :func:`~unipd.couplings.rounding.domain_rounding` (some size * eps * ||lam||); the
    bound that h gives is then right up to that number times the trace of A x^* - b.

    Every operation costs one full eigendecomposition: O(size^3) work, O(size^2) memory.

    Parameters
    ----------
    size
        Number of rows. Matrices come as arrays of shape (size, size), or flat in C order.

    Examples
    --------
    >>> PSDCone(2).project(np.array([[1.0, 0.0], [0.0, -2.0]]))
    array([[1., 0.],
           [0., 0.]])
    """

    def __init__(self, size: int) -> None:
        self.size = validate.integer("size", size, minimum=1)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the data is a square matrix of this size, flat or not."""
        require_matrix((self.size, self.size), shape)

    def project(self, vector: Array) -> Array:
        """Keep the nonnegative eigenvalues of the Hermitian part."""
        hermitian, _ = self._parts(vector)
        return _positive_part(hermitian).reshape(vector.shape)

    def conjugate(self, dual: Array) -> float:
        """Return 0 when the Hermitian part is negative semidefinite (up to rounding), inf otherwise."""
        hermitian, _ = self._parts(dual)
        return 0.0 if np.linalg.eigvalsh(hermitian)[-1] <= domain_rounding(dual) else math.inf

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Keep the nonpositive eigenvalues of the Hermitian part, and the anti-Hermitian part."""
        hermitian, rest = self._parts(vector)
        return (rest - _positive_part(-hermitian)).reshape(vector.shape)

    def _parts(self, vector: Array) -> tuple[Array, Array]:
        """Return the Hermitian and the anti-Hermitian part."""
        matrix = as_matrix(vector, (self.size, self.size))
        adjoint = matrix.conj().T
        return 0.5 * (matrix + adjoint), 0.5 * (matrix - adjoint)


def _positive_part(hermitian: Array) -> Array:
    """Return V max(w, 0) V^* from the columns with w > 0 alone, as V sqrt(w) (V sqrt(w))^*: exactly Hermitian."""
    values, vectors = np.linalg.eigh(hermitian)
    kept = values > 0
    factor = vectors[:, kept] * np.sqrt(values[kept])
    product = factor @ factor.conj().T
    return 0.5 * (product + product.conj().T)
