"""Thick-restart (block) Golub-Kahan-Lanczos bidiagonalization: M V = U B, M^* U = V B^* + Q R E^*.

Sampled matrices do a whole single-vector run in one compiled call (:class:`CompiledBidiagonalization`): Python between
the steps would take as long as the products of a small matrix. :class:`Bidiagonal` does everything else: blocks,
complex numbers, restarts, breakdowns, operators known by their products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.context import notify
from unipd.spectral.lanczos import Basis, Limits, Ritz, combine_columns, restart_size
from unipd.spectral.operators import Multiplier
from unipd.spectral.stopping import ALLOWED, ROUNDING, Stop


class CompiledBidiagonalization:
    """A run of single-vector steps from one starting vector, up to where a restart or a breakdown needs more care.

    Parameters
    ----------
    operator
        Matrix M with the method ``compiled_bidiagonalization`` (:class:`~unipd.maps.sampling.SampledMatrix`).
    adjoint
        Whether steps are done with M^*; the matrix of the steps has at least as many rows as columns.
    subspace
        Steps that fit the workspace; unused memory is never touched.

    Examples
    --------
    >>> from unipd.maps import Sampling
    >>> matrix = Sampling([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], (3, 2)).adjoint(np.array([3.0, 0.0, 0.0, 1.0, 0.0]))
    >>> run, goals = CompiledBidiagonalization(matrix, False, 40), np.array([0.0, 1.0, np.inf, -1.0, 1.0] + 5 * [0.0])
    >>> value, residual, left, right = run.triple((np.ones(2), np.ones(2), 0.0), 4000, goals, None)
    >>> round(value, 3), run.known, run.made
    (2.236, 1, 2)
    """

    def __init__(self, operator: Any, adjoint: bool, subspace: int) -> None:
        self.operator, self.adjoint = operator, adjoint
        rows, columns = operator.shape[::-1] if adjoint else operator.shape
        capacity, dtype = min(columns, subspace + 1), operator.dtype
        self.bases: tuple[Array, Array] = np.empty((capacity, rows), dtype), np.empty((capacity, columns), dtype)
        self.small: FloatArray = np.empty((4, capacity))  # the bands of B and the omega estimates
        self.known = self.made = 0
        self.unfit = False

    def triple(
        self,
        start: tuple[Array, FloatArray, float],
        most: int,
        goals: FloatArray,
        value: Callable[[float], float] | None,
    ) -> tuple[float, float, Array, Array] | None:
        """Return the top Ritz value, its residual norm, left and right vector; None where the goals were not reached.

        The run can then be continued, unless the starting vector was ``unfit``: not finite.

        Parameters
        ----------
        start
            Starting right vector, the random unit vector that is mixed into it, and the share of that.
        most
            Largest number of products.
        goals
            Numbers of the stopping rule (:func:`unipd.spectral.kernels.may_stop`).
        value
            Error allowed in the top value as a function of it: the goals are tightened until both agree.
        """
        # Arrays allocated by compiled code are slower than those passed in.
        (_, rows), (capacity, columns), dtype = self.bases[0].shape, self.bases[1].shape, self.bases[0].dtype
        left, right = np.empty(rows, dtype), np.empty(columns, dtype)
        last = min(capacity - 1, most // 2 - 1)
        while True:
            done, made, top, residual = self.operator.compiled_bidiagonalization(
                start, self.bases, self.small, self.known, last, goals, (left, right), adjoint=self.adjoint
            )
            self.known, self.made = self.known + done, self.made + made
            self.unfit = made < 0
            notify("singular vectors", made)
            if top == 0.0:
                return None
            allowed = goals[ALLOWED] if value is None else value(top)
            if allowed >= goals[ALLOWED]:
                return top, residual, left, right
            goals[ALLOWED] = allowed


class Bidiagonal:
    """Bases U and V that grow by (block) Golub-Kahan steps, and the small matrix B between them.

    Parameters
    ----------
    products
        The operator, with at least as many rows as columns.
    start
        Starting block of right vectors; its width is the block size.
    subspace
        Columns before a restart.
    seed
        Seed of the random vectors that replace dependent ones.

    Examples
    --------
    >>> from unipd.spectral.operators import Products
    >>> run = Bidiagonal(Products(np.array([[3.0], [4.0]])), np.ones((1, 1)), 1, 0)
    >>> run.advance().shape, run.known, float(run.small[0, 0])
    ((0, 1), 1, 5.0)
    """

    def __init__(self, products: Multiplier, start: Array, subspace: int, seed: int) -> None:
        rows, columns = products.shape
        self.products = products
        self.block = start.shape[1]
        self.right = Basis(columns, subspace + self.block, products.dtype, seed)
        self.left = Basis(rows, self.right.array.shape[1], products.dtype, seed + 1)
        for column in start.T:
            self.right.append(column)
        self.capacity = self.right.array.shape[1]
        self.projected: Array = np.zeros((self.capacity,) * 2, np.result_type(products.dtype, np.float64))
        self.known = 0
        self.links: list[float] = []
        self._kept = 0

    def resume(self, run: CompiledBidiagonalization) -> Array:
        """Take over the steps of a compiled run that has not reached its goals; return R.

        Its vectors are only as orthogonal as its own steps needed (:mod:`unipd.spectral.kernels`); the
        small matrix is that of orthonormal ones.
        """
        from unipd.spectral.kernels import orthonormalize_rows

        known = run.known
        orthonormalize_rows(run.bases[0], known)
        orthonormalize_rows(run.bases[1], known + 1)
        self.left.array, self.right.array = run.bases[0].T, run.bases[1].T
        alpha, beta = run.small[:2, :known]
        self.projected = np.zeros((len(run.bases[1]),) * 2)
        self.projected[range(known), range(known)] = alpha
        self.projected[range(known), range(1, known + 1)] = beta
        self.links = (alpha * beta).tolist()
        self.known = self.left.size = known
        self.right.size = known + 1
        return beta[-1:, np.newaxis].copy()

    @property
    def small(self) -> Array:
        """The projected matrix B."""
        return self.projected[: self.known, : self.known]

    @property
    def full(self) -> bool:
        """Whether the next step needs a restart."""
        return self.right.size + self.block > self.capacity < self.products.shape[1] > self.right.size

    def advance(self) -> Array:
        """Multiply the last block by M, then its new left vectors by M^*; fill B and return R, which couples it to Q.

        In single-vector runs it is enough to orthogonalise left vectors against the one before (Simon and Zha, SIAM J.
        Sci. Comput. 21, 2000), except right after a restart, when the next column of B is a full one.
        """
        first, known = self.known, self.right.size
        recent, one_sided = 2 * (known - first), self.block == 1 and first > self._kept
        for index, image in enumerate(self.products.forward(self.right.columns(first)).T, start=first):
            coefficients, length = self.left.append(image, recent, one_sided=one_sided)
            self.projected[: coefficients.size, index] = coefficients
            self.projected[coefficients.size, index] = length
        coupling = np.zeros((known - first,) * 2, self.projected.dtype)
        for index, image in enumerate(self.products.adjoint(self.left.columns(first)).T):
            coefficients, length = self.right.append(image, recent)
            added = coefficients.size - known
            coupling[:added, index] = coefficients[known:]
            if self.right.size > known + added:
                coupling[added, index] = length
        coupling = coupling[: self.right.size - known]
        self.known = known
        self.links.append(float(np.linalg.norm(coupling)) * float(abs(self.projected[known - 1, known - 1])))
        return coupling

    def restart(self, outer: Array, values: FloatArray, inner: Array) -> None:
        """Keep the best Ritz triples, as many as the factors have, and the next block."""
        kept, capacity = values.size, self.capacity
        self.right.compress(inner.conj().T, self.right.columns(self.known))
        self.left.compress(outer, self.left.columns(self.known))
        self.right.array, self.left.array = self.right.array[:, :capacity], self.left.array[:, :capacity]
        self.projected = np.zeros_like(self.projected[:capacity, :capacity])
        self.projected[range(kept), range(kept)] = values
        self.known = self._kept = kept


def golub_kahan(products: Multiplier, start: Array, count: int, stop: Stop, limits: Limits, seed: int) -> Ritz:
    """Return the ``count`` largest singular triples of an operator with at least as many rows as columns.

    Two orthonormal bases with M V = U B and M^* U = V B^* + Q R E^*: singular triples of the small B are Ritz
    triples of M, the first relation holds exactly, and the residual of the second comes from R. As in
    :func:`~unipd.spectral.lanczos.lanczos` all of B is read off the Gram-Schmidt coefficients.

    Parameters are those of Lanczos; the start is a block of right singular vectors.

    Examples
    --------
    >>> from unipd.spectral.operators import Products
    >>> run = golub_kahan(Products(np.array([[3.0], [4.0]])), np.ones((1, 1)), 1, Stop(), Limits(1, 9), 0)
    >>> float(run.values[0]), run.left[:, 0]
    (5.0, array([0.6, 0.8]))
    """
    run = Bidiagonal(products, start, limits.subspace, seed)
    return run_until_converged(run, run.advance(), count, stop, limits)


def resume_compiled(
    compiled: CompiledBidiagonalization, products: Multiplier, stop: Stop, limits: Limits, seed: int
) -> Ritz:
    """Continue a compiled run that has not reached its goals: restart it, or replace a vector that vanishes."""
    run = Bidiagonal(products, compiled.bases[1][:1].T, limits.subspace, seed)
    return run_until_converged(run, run.resume(compiled) if compiled.known else run.advance(), 1, stop, limits)


def run_until_converged(run: Bidiagonal, coupling: Array, count: int, stop: Stop, limits: Limits) -> Ritz:
    """Continue a run until it may stop; ``coupling`` is the R of its last step."""
    products = run.products
    eps = float(np.finfo(products.dtype).eps)
    while True:
        known, right, left = run.known, run.right, run.left
        outer, values, inner = np.linalg.svd(run.small)
        residuals = np.linalg.norm(coupling @ outer[known - coupling.shape[1] :], axis=0)
        scale = float(values[0])
        rounding = ROUNDING * eps * scale
        done = known == products.shape[1] or (
            stop.is_reached(values, residuals, count, scale, rounding)
            and not stop.may_miss_eigenvalue(values**2, run.links, stop.guard_level(scale, scale) ** 2)
        )
        if done or products.count + 2 * (right.size - known) > limits.products:
            vectors = combine_columns(right.columns(0, known), inner[:count].conj().T)
            others = combine_columns(left.columns(0, known), outer[:, :count])
            return Ritz(values[:count].copy(), vectors, others, residuals[:count] + rounding, done)
        if run.full:
            kept = restart_size(min(known, run.capacity), count, run.block)
            run.restart(outer[:, :kept], values[:kept], inner[:kept])
        coupling = run.advance()
