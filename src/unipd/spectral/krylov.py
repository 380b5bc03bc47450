"""Thick-restart Krylov runs: (block) Lanczos for eigenpairs, Golub-Kahan for singular triples, and when they may stop.

In this order: the stopping rule, the orthonormal basis, the two runs. Sampled matrices do a whole
single-vector run in one call (:class:`CompiledBidiagonalization`), since Python between the steps would take as long as
their products; :func:`unipd.spectral.kernels.may_stop` is the rule there, given by its numbers (:meth:`Stop.goals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import arrays
from unipd._util.context import notify
from unipd.errors import OracleError
from unipd.spectral.operators import RESIDUAL, Products, Triples

ValueTolerance = float | Callable[[float], float] | None
"""Error allowed in the sum of the values: a number, a function of the top value, or no limit."""
ROUNDING = 8.0
"""Residuals and remainders up to this many eps times the size of the operator are rounding."""
ALLOWED = 2
"""Index, in the numbers of a rule, of the error allowed in the top value."""


@dataclass(frozen=True)
class Stop:
    """Stop when every wanted residual is at most max(absolute, relative * scale) and values are good enough.

    Residuals at the level of rounding always stop a run. A warm start near an eigenvector that is not the top one has a
    small residual at once, so a run with a guard also continues until it would have seen a larger eigenvalue.
    """

    absolute: float = 0.0
    """Residual norm allowed."""
    relative: float = 0.0
    """Residual norm allowed as a share of the scale (the spread of the Ritz values, or the top singular value)."""
    value: ValueTolerance = None
    """Error allowed in the sum of the wanted values; None requires nothing."""
    missed_eigenvalue_guard: float | None = None
    """Share of the scale by which a missed eigenvalue would exceed the answer; None does not guard against it."""
    weight: float = 1.0
    """Weight that the starting vector is assumed to have on the missed eigenvector."""

    def is_reached(self, values: FloatArray, residuals: FloatArray, count: int, scale: float, rounding: float) -> bool:
        """Whether Ritz values (largest first) with these residual norms are good enough in their first ``count``."""
        if values.size < count:
            return False
        worst = float(residuals[:count].max())
        if worst <= rounding:
            return True
        if worst > max(self.absolute, self.relative * scale):
            return False
        allowed = self.allowed(float(values[0]))
        return allowed == math.inf or value_error(values, residuals, count) <= max(allowed, rounding)

    def allowed(self, top: float) -> float:
        """Return the error allowed in the sum of the wanted values, given the top one."""
        return math.inf if self.value is None else self.value(top) if callable(self.value) else self.value

    def goals(self, precision: float) -> FloatArray:
        """Return the rule as numbers, for :func:`unipd.spectral.kernels.may_stop`.

        An error allowed that depends on the top value is inf, as that is not known yet; ``precision`` times the scale
        is rounding. The last four numbers are workspace of ``may_stop``.
        """
        allowed = math.inf if callable(self.value) else self.allowed(0.0)
        guard = -1.0 if self.missed_eigenvalue_guard is None else self.missed_eigenvalue_guard
        return np.array([self.absolute, self.relative, allowed, guard, self.weight, precision, *[0.0] * 4])

    def guard_level(self, top: float, scale: float) -> float:
        """Return the level above which every eigenvalue must have shown in the run."""
        allowed = 0.0 if self.value is None else self.allowed(top)
        return top + max((self.missed_eigenvalue_guard or 0.0) * scale, allowed)

    def may_miss_eigenvalue(self, ritz: FloatArray, links: list[float], level: float) -> bool:
        """Whether an eigenvalue above a level may have been missed in k single-vector Lanczos steps.

        The orthonormal polynomial p_k(z) = prod_i (z - theta_i) / prod_j beta_j of the run satisfies
        p_k(lambda)^2 <= 1 / w for every eigenvalue lambda of weight w in the start
        (:mod:`unipd.spectral.certify`), so one above the level is ruled out when p_k exceeds that there.
        """
        if self.missed_eigenvalue_guard is None or len(links) != ritz.size:
            return False
        gaps: list[float] = (level - ritz).tolist()
        if min(links) == 0.0 or min(gaps) <= 0.0:
            return min(links) > 0.0
        height = sum(map(math.log, gaps)) - sum(map(math.log, links))
        return 2.0 * height < -math.log(self.weight)


def value_error(values: FloatArray, residuals: FloatArray, count: int) -> float:
    """Estimate by how much the first ``count`` Ritz values together fall short of the eigenvalues.

    At worst by the sum of the residual norms. When j >= count Ritz values are separated from the rest by a gap
    (reduced by the residual of the next one), the shortfall is of second order, sum_{i<=j} rho_i^2 / gap: the
    smallest of these is returned. It is an estimate because eigenvalues that the run has not met are not in it.

    >>> value_error(np.array([1.0, 0.0]), np.array([0.01, 0.2]), 1)
    0.000125
    """
    first_order = float(residuals[:count].sum())
    squares = np.cumsum(residuals**2)[count - 1 : -1]
    gaps = values[count - 1 : -1] - values[count:] - residuals[count:]
    useful = gaps > np.sqrt(squares)
    second_order = (squares[useful] / gaps[useful]).min() if useful.any() else np.inf
    return float(min(first_order, second_order))


class Basis:
    """Orthonormal columns Q, stored by columns so that both passes of Gram-Schmidt are BLAS-2 products.

    Parameters
    ----------
    rows
        Length of the vectors.
    capacity
        Columns that there is room for.
    dtype
        Dtype of the vectors.
    seed
        Seed (or generator) of the random vectors that replace dependent ones.

    Examples
    --------
    >>> basis = Basis(3, 2, np.float64, np.random.default_rng(0))
    >>> basis.append(np.array([2.0, 0.0, 0.0]))
    (array([], dtype=float64), 2.0)
    >>> basis.append(np.array([3.0, 4.0, 0.0]))
    (array([3.]), 4.0)
    """

    def __init__(self, rows: int, capacity: int, dtype: Any, seed: int | np.random.Generator) -> None:
        self.array: Array = np.empty((rows, min(rows, capacity)), dtype, order="F")
        self.size = 0
        self._seed = seed
        self._longest = 0.0
        self._negligible = ROUNDING * arrays.precision(self.array)

    @property
    def full(self) -> bool:
        """Whether the columns span the whole space."""
        return self.size == self.array.shape[0]

    def columns(self, first: int = 0, last: int | None = None) -> Array:
        """Return a view of columns first, ..., last - 1."""
        return self.array[:, first : self.size if last is None else last]

    def append(self, vector: Array, recent: int = 0, *, one_sided: bool = False) -> tuple[Array, float]:
        """Add the part of a vector outside the span; return (Q^* w, norm of that part).

        A vector inside the span (up to rounding) leaves a norm of 0, and a random direction is added in its
        place while there is one. ``recent`` columns, the last ones, are where most of the vector is expected to lie:
        they are tried alone before the whole basis, which saves a pass over it. With ``one_sided`` they are enough as
        long as the rest is not much shorter than the longest vector so far.
        """
        rest = self._copy_to_next_column(vector)
        coefficients, length = self._split(rest, recent, one_sided)
        if length > 0:
            self._accept(rest, length)
        elif not self.full:
            self._accept(*self._random_direction())
        return coefficients, length

    def compress(self, rotation: Array, columns: Array) -> None:
        """Replace the basis by (Q[:, :k] rotation) followed by given columns that are orthonormal to Q[:, :k]."""
        old, new = rotation.shape
        tail = columns.copy()
        self.array[:, :new] = arrays.product(self.array[:, :old], rotation.astype(self.array.dtype, copy=False))
        self.size = new + tail.shape[1]
        self.array[:, new : self.size] = tail

    def _copy_to_next_column(self, vector: Array) -> Array:
        """Write a vector to the next free column (where there is none, elsewhere) and return that."""
        if self.size == self.array.shape[1]:
            return vector.astype(self.array.dtype)
        column = self.array[:, self.size]
        column[:] = vector
        return column

    def _split(self, rest: Array, recent: int = 0, one_sided: bool = False) -> tuple[Array, float]:
        """Leave of a vector the part outside the span; return (Q^* w, length of that part)."""
        length = original = length_of(rest)
        self._longest = max(self._longest, length)
        coefficients = np.zeros(self.size, self.array.dtype)
        for sweep in range(_MOST_SWEEPS if self.size else 0):
            first = max(0, self.size - recent) if sweep == 0 and recent else 0
            coefficients[first:] += _remove(self.columns(first), rest)
            before, length = length, length_of(rest)
            if length > 0.5 * before if sweep > 0 else one_sided and length > _SAFE * self._longest:
                break
        return coefficients, length if length > self._negligible * original and not self.full else 0.0

    def _random_direction(self) -> tuple[Array, float]:
        self._seed = generator = np.random.default_rng(self._seed)  # created on demand: it is slow
        while True:
            rest = self._copy_to_next_column(arrays.draw_normal(generator, (self.array.shape[0],), self.array.dtype))
            _, length = self._split(rest)
            if length > 0:
                return rest, length

    def _accept(self, column: Array, length: float) -> None:
        """Count in the next column, scaled to length one."""
        column /= column.dtype.type(length)
        self.size += 1


_SAFE = 0.1
"""One-sided orthogonalisation loses no more than a digit while no rest is below this share of the longest vector."""
_MOST_SWEEPS = 4
"""Two passes are enough unless the vector is nearly in the span."""


def _remove(known: Array, rest: Array) -> Array:
    """Subtract from a vector, in place, its part in the span of orthonormal columns; return the coefficients."""
    inside = arrays.product(rest.conj(), known).conj()
    rest -= arrays.product(known, inside)
    return inside


def length_of(vector: Array) -> float:
    """Return the Euclidean norm of a product with an operator, which must be finite.

    >>> length_of(np.array([3.0, 4.0j]))
    5.0
    """
    parts: Array = vector.view(np.real(vector).dtype)
    squared = float(arrays.dot(parts, parts))  # unlike np.dot and @ it does not warn of overflow
    if _SAFE_SQUARE < squared < 1.0 / _SAFE_SQUARE:
        return math.sqrt(squared)
    size = float(np.abs(parts).max(initial=0.0))
    if not math.isfinite(size):
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    if size > _LARGEST:
        raise OracleError(f"products of the operator are out of range ({size:.1g}): divide the data by a factor")
    return size * math.sqrt(float(np.sum(np.square(parts / size, dtype=np.float64)))) if size > 0.0 else 0.0


def divide_by_length(vector: Array, length: float) -> Array:
    """Return a vector over its length, part by part: quotients of complex numbers overflow where 1 / length does.

    >>> divide_by_length(np.array([1e-310j]), 1e-310)
    array([0.+1.j])
    """
    parts: Array = vector.view(np.real(vector).dtype) / length
    return parts.view(vector.dtype)


_LARGEST = 1e120
"""Krylov runs multiply two lengths; products beyond this are an error. (Tiny operators only lose the guard.)"""
_SAFE_SQUARE = 1e-20
"""Sums of squares from this to its inverse neither overflow nor lose much to underflow."""


@dataclass(frozen=True)
class Limits:
    """Sizes of a Krylov run."""

    subspace: int
    """Columns of the basis before a restart."""
    products: int
    """Products after which the run stops unconverged."""


class Lanczos:
    """Orthonormal columns V that grow by (block) Lanczos steps, M V = V H + Q R E^*, and the projected matrix H.

    Q is the next block and R what couples them. Ritz pairs come from H in double precision, their residual norms from
    R. All of H is read off the Gram-Schmidt coefficients, so that restarts (keep the best Ritz vectors, then Q) and
    breakdowns (R loses rank, Q gets random columns) need no special form of it.

    Parameters
    ----------
    products
        The Hermitian operator.
    start
        Starting block; its width is the block size.
    limits
        Subspace size and number of products.
    seed
        Seed of the random vectors that replace dependent ones.

    Examples
    --------
    >>> run = Lanczos(Products(np.diag([1.0, 3.0, 2.0]), hermitian=True), np.ones((3, 1)), Limits(3, 9), 0)
    >>> found = run.until_converged(1, Stop())
    >>> float(found.values[0].round(12)), found.converged
    (3.0, True)
    """

    products_by_column = 1
    """Products of a step, for each column of the block."""

    def __init__(self, products: Products, start: Array, limits: Limits, seed: int) -> None:
        self.products, self.block, self.limits = products, start.shape[1], limits
        self.right = Basis(products.shape[1], limits.subspace + self.block, products.dtype, seed)
        self.left = self.right
        for column in start.T:
            self.right.append(column)
        self.capacity = self.right.array.shape[1]
        self.projected: Array = np.zeros((self.capacity,) * 2, np.result_type(products.dtype, np.float64))
        self.known = self._kept = 0
        self.links: list[float] = []

    @property
    def small(self) -> Array:
        """The projected matrix."""
        return self.projected[: self.known, : self.known]

    def until_converged(self, count: int, stop: Stop, coupling: Array | None = None) -> Triples:
        """Return the best ``count`` Ritz triples once the run may stop; ``coupling`` is R where a step is done."""
        products, eps = self.products, arrays.precision(self.products)
        while True:
            coupling = self.advance() if coupling is None else coupling
            known, right, left = self.known, self.right, self.left
            outer, values, inner = self.decompose()
            residuals = np.linalg.norm(coupling @ outer[known - coupling.shape[1] :], axis=0)
            rounding = ROUNDING * eps * float(np.abs(values).max())
            done = known == products.shape[1] or self._may_stop(stop, values, residuals, count, rounding)
            next_products = self.products_by_column * (right.size - known)
            if done or products.count + next_products > self.limits.products:
                vectors = combine_columns(right.columns(0, known), inner[:, :count])
                others = vectors if left is right else combine_columns(left.columns(0, known), outer[:, :count])
                found, errors = values[:count].copy(), residuals[:count] + rounding
                return Triples(found, others, vectors, errors, products.count, RESIDUAL, done)
            if right.size + self.block > self.capacity < products.shape[1] > right.size:
                kept = max(1, min(min(known, self.capacity) - self.block, max(count + self.block, (2 * known) // 5)))
                self.restart(outer[:, :kept], values[:kept], inner[:, :kept])
            coupling = None

    def advance(self) -> Array:
        """Multiply the last block, add what is new to the basis, and return R; fill the block's columns of H."""
        first, known = self.known, self.right.size
        inside, coupling = self._extend(self.products.forward(self.right.columns(first)))
        self.projected[:known, first:known] = inside
        self.links.append(float(np.linalg.norm(coupling)))
        return coupling

    def decompose(self) -> tuple[Array, FloatArray, Array]:
        """Return U, the values and V with V values U^* the projected matrix, the largest value first."""
        values, rotation = np.linalg.eigh(self.small, UPLO="U")
        return rotation[:, ::-1], values[::-1], rotation[:, ::-1]

    def restart(self, outer: Array, values: FloatArray, inner: Array) -> None:
        """Keep the best Ritz vectors, as many as the factors have, and the next block."""
        kept, capacity = values.size, self.capacity
        for basis, rotation in {self.right: inner, self.left: outer}.items():
            basis.compress(rotation, basis.columns(self.known))
            basis.array = basis.array[:, :capacity]
        self.projected = np.zeros_like(self.projected[:capacity, :capacity])
        self.projected[range(kept), range(kept)] = values
        self.known = self._kept = kept

    def _may_stop(self, stop: Stop, values: FloatArray, residuals: FloatArray, count: int, rounding: float) -> bool:
        spread = float(values[0] - values[-1])
        return stop.is_reached(values, residuals, count, spread, rounding) and not stop.may_miss_eigenvalue(
            values, self.links, stop.guard_level(float(values[0]), spread)
        )

    def _extend(self, images: Array) -> tuple[Array, Array]:
        """Add what is new in a block to the right basis; return its coefficients in the columns before, and R."""
        known, width = self.right.size, images.shape[1]
        inside, coupling = (np.zeros((size, width), self.projected.dtype) for size in (known, width))
        for index, image in enumerate(images.T):
            coefficients, length = self.right.append(image, 2 * width)
            inside[:, index], rest = coefficients[:known], coefficients[known:]
            coupling[: rest.size, index] = rest
            if self.right.size > known + rest.size:
                coupling[rest.size, index] = length
        self.known = known
        return inside, coupling[: self.right.size - known]


class Bidiagonal(Lanczos):
    """Bases U and V that grow by (block) Golub-Kahan steps, M V = U B and M^* U = V B^* + Q R E^*.

    Singular triples of the small B are Ritz triples of M: the first relation holds exactly, and the residual of the
    second comes from R. The operator has at least as many rows as columns, and the start is a block of right singular
    vectors. This does everything that compiled runs do not: blocks, complex numbers, restarts, breakdowns, operators
    known by their products.

    Examples
    --------
    >>> run = Bidiagonal(Products(np.array([[3.0], [4.0]])), np.ones((1, 1)), Limits(1, 9), 0)
    >>> run.advance().shape, run.known, float(run.small[0, 0])
    ((0, 1), 1, 5.0)
    """

    products_by_column = 2

    def __init__(self, products: Products, start: Array, limits: Limits, seed: int) -> None:
        super().__init__(products, start, limits, seed)
        self.left = Basis(products.shape[0], self.capacity, products.dtype, seed + 1)

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

    def advance(self) -> Array:
        """Multiply the last block by M, then its new left vectors by M^*; fill B and return R, which couples it to Q.

        In single-vector runs it is enough to orthogonalise left vectors against the one before (Simon and Zha, SIAM J.
        Sci. Comput. 21, 2000), except right after a restart, when the next column of B is a full one.
        """
        first, width = self.known, self.right.size - self.known
        one_sided = self.block == 1 and first > self._kept
        for index, image in enumerate(self.products.forward(self.right.columns(first)).T, start=first):
            coefficients, length = self.left.append(image, 2 * width, one_sided=one_sided)
            self.projected[: coefficients.size, index] = coefficients
            self.projected[coefficients.size, index] = length
        coupling = self._extend(self.products.adjoint(self.left.columns(first)))[1]
        self.links.append(float(np.linalg.norm(coupling)) * float(abs(self.small[-1, -1])))
        return coupling

    def decompose(self) -> tuple[Array, FloatArray, Array]:
        """Return the singular value decomposition of B."""
        outer, values, inner = np.linalg.svd(self.small)
        return outer, values, inner.conj().T

    def _may_stop(self, stop: Stop, values: FloatArray, residuals: FloatArray, count: int, rounding: float) -> bool:
        top = float(values[0])
        return stop.is_reached(values, residuals, count, top, rounding) and not stop.may_miss_eigenvalue(
            values**2, self.links, stop.guard_level(top, top) ** 2
        )


def combine_columns(columns: Array, coefficients: Array) -> Array:
    """Return combinations of basis columns, scaled to length one (zero ones stay)."""
    vectors = arrays.product(columns, coefficients.astype(columns.dtype))
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asfortranarray(vectors / np.where(lengths > 0, lengths, 1.0).astype(lengths.dtype))


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
    >>> run = CompiledBidiagonalization(matrix, False, 40)
    >>> value, residual, left, right = run.triple((np.ones(2), np.ones(2), 0.0), 4000, Stop(relative=1.0), 0.0)
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
        self, start: tuple[Array, FloatArray, float], most: int, stop: Stop, precision: float
    ) -> tuple[float, float, Array, Array] | None:
        """Return the top Ritz value, its residual norm, left and right vector; None where the goals were not reached.

        The run can then be continued, unless the starting vector was ``unfit``: not finite.

        Parameters
        ----------
        start
            Starting right vector, the random unit vector that is mixed into it, and the share of that.
        most
            Largest number of products.
        stop
            Stopping rule; where it depends on the top value, the run is continued until both agree.
        precision
            Rounding relative to the top value.
        """
        # Arrays allocated by compiled code are slower than those passed in.
        left, right = (np.empty(basis.shape[1], basis.dtype) for basis in self.bases)
        last, goals = min(len(self.small[0]) - 1, most // 2 - 1), stop.goals(precision)
        while True:
            done, made, top, residual = self.operator.compiled_bidiagonalization(
                start, self.bases, self.small, self.known, last, goals, (left, right), adjoint=self.adjoint
            )
            self.known, self.made = self.known + done, self.made + made
            self.unfit = made < 0
            notify("singular vectors", made)
            if top == 0.0:
                return None
            allowed = stop.allowed(top)
            if allowed >= goals[ALLOWED]:
                return top, residual, left, right
            goals[ALLOWED] = allowed
