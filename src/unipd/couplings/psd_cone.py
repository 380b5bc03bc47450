"""The cone of positive semidefinite matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import TINY, hermitian_part
from unipd.couplings.base import ConvexSet, RowScaling, domain_rounding, power_of_two
from unipd.couplings.matrix_balls import as_matrix, require_matrix

RUIZ_SWEEPS = 20
"""Ruiz' iteration halves the logarithm of the spread in every sweep: after 20, powers of two no longer change."""


class PSDCone(ConvexSet):
    """K = {R : R = R^*, R >= 0}, the real symmetric or complex Hermitian positive semidefinite matrices.

    h is the indicator of the polar cone, the matrices whose Hermitian part is negative semidefinite (an
    anti-Hermitian part is orthogonal to K and free). A dual matrix counts as inside when the top eigenvalue of
    its Hermitian part is at most :func:`~unipd.couplings.base.domain_rounding` (some size * eps * ||lam||); the
    bound that h gives is then right up to that number times the trace of A x^* - b.

    Every operation costs one full eigendecomposition: O(size^3) work, O(size^2) memory.

    Parameters
    ----------
    size
        Number of rows. Matrices come as arrays of shape (size, size), or flat in C order.

    Raises
    ------
    InvalidInput
        ``size``: expected an integer of at least 1.

    See Also
    --------
    SecondOrderCone, SpectralBall

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

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Apply the divided differences of min(w, 0) in the eigenbasis (Daleckii-Krein)."""
        values, vectors = np.linalg.eigh(self._parts(vector)[0])
        stack = directions.T.reshape(-1, self.size, self.size)
        hermitian = 0.5 * (stack + stack.conj().transpose(0, 2, 1))
        turned = _divided_differences(values) * (vectors.conj().T @ hermitian @ vectors)
        changes = vectors @ turned @ vectors.conj().T + (stack - hermitian)
        return changes.reshape(directions.shape[1], -1).T.astype(directions.dtype, copy=False)

    def prox_curvature(self, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
        """Use the smaller side of the spectrum: J keeps nonpositive eigenvalues, and I - J the others.

        In the eigenbasis V of v, J multiplies the entry (k, l) of V^* X V by (w_k^- - w_l^-) / (w_k - w_l), which is 1
        where both eigenvalues are negative and 0 where both are positive. Only V_N^* X V is needed for J, with V_N the
        negative side, or V_P^* X V for I - J.
        """
        stack = columns.reshape(self.size, self.size, -1)
        if not np.array_equal(stack, stack.transpose(1, 0, 2).conj()):
            return super().prox_curvature(vector, step, columns, gram)
        values, vectors = np.linalg.eigh(self._parts(vector)[0])
        inside = values < 0
        few = bool(2 * np.count_nonzero(inside) <= self.size)
        part = _one_sided(np.abs(values), vectors, inside if few else ~inside, stack)
        product = (part.conj().T @ part).real.astype(np.float64)
        return product if few else gram - product

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Return factors d_i d_j from Ruiz' iteration, d_i <- d_i / sqrt(max_j d_i n_ij d_j): a congruence keeps K."""
        table = norms.reshape(self.size, self.size)
        table, sides = np.maximum(table, table.T), np.ones(self.size)
        for _ in range(RUIZ_SWEEPS):
            largest = (sides[:, None] * table * sides[None, :]).max(axis=1)
            sides = sides / np.sqrt(np.where(largest > 0, largest, 1.0))
        sides = power_of_two(sides)
        return RowScaling(np.outer(sides, sides).reshape(-1), self)

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
    return hermitian_part(factor @ factor.conj().T)


def _divided_differences(values: Array) -> Array:
    """Return (m(a) - m(b)) / (a - b) of m = min(., 0) for all pairs, its slope where they agree."""
    negative = np.minimum(values, 0.0)
    rise = negative[:, None] - negative[None, :]
    run = values[:, None] - values[None, :]
    same = np.abs(run) <= 1e-14 * np.abs(values).max(initial=TINY)
    slope = np.broadcast_to((values < 0)[:, None], run.shape).astype(values.dtype)
    return np.where(same, slope, rise / np.where(same, 1.0, run))


def _one_sided(sizes: Array, vectors: Array, side: Array, stack: Array) -> Array:
    """Return V_N^* X V for every X, its entries times the root of their factor, as columns."""
    size, count = stack.shape[0], stack.shape[2]
    chosen = vectors[:, side]
    turned = (chosen.conj().T @ stack.reshape(size, size * count)).reshape(-1, size, count)
    turned = vectors.T @ turned
    ours, all_sizes = sizes[side][:, None], sizes[None, :]
    across = 2.0 * ours / np.maximum(ours + all_sizes, np.finfo(sizes.dtype).tiny)
    factors = np.where(side[None, :], 1.0, across)
    return (np.sqrt(factors)[:, :, None] * turned).reshape(-1, count)
