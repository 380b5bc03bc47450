"""Sets K of matrices, given by singular values or eigenvalues: nuclear and spectral balls, the semidefinite cone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, Shape
from unipd._util import validate
from unipd._util.arrays import TINY, clip_modulus, hermitian_part, l1_threshold, project_moduli_l1, shrink, total
from unipd.couplings.base import ConvexSet, RowScaling, domain_rounding, power_of_two
from unipd.errors import InvalidInput

RUIZ_SWEEPS = 20
"""Ruiz' iteration halves the logarithm of the spread in every sweep: after 20, powers of two no longer change."""


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
