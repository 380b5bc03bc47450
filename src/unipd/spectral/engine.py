"""The entry point: choose a solver, prepare the start, and return top eigenpairs or singular triples.

Small matrices are made dense, for LAPACK; one top singular triple of a sampled matrix is a single compiled call; all
else is a Krylov run (:mod:`unipd.spectral.krylov`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd._util import arrays, validate
from unipd.errors import InvalidInput, OracleError
from unipd.spectral.krylov import (
    ROUNDING,
    Bidiagonal,
    CompiledBidiagonalization,
    Lanczos,
    Limits,
    Stop,
    ValueTolerance,
)
from unipd.spectral.operators import RESIDUAL, RIGOROUS, Products, Triples, as_operator, is_small, rounding_allowance

SOLVERS = ("auto", "lanczos", "dense")
"""Names that ``Engine.solver`` takes."""
PRECISION = 1e-6
"""Relative residual at which early iterates agree with those of an exact oracle to five digits."""
_SUBSPACE = 80
"""Columns of a compiled run before a restart, by default."""
_MOST_STEPS = 640
"""Steps of a compiled run before its first restart, by default: one that has lost nothing yet needs the fewest."""
_MOST_BYTES = 1 << 25
"""Bytes of both bases up to which a first run may exceed the subspace of a restart."""
_DOUBLE = np.dtype(np.float64)
_TYPICAL_WEIGHT = 0.1
"""A random unit vector of length n has at least this / n of its weight on a given vector, three times in four."""


@dataclass(frozen=True)
class Engine:
    """How top eigenpairs and singular triples are computed.

    Parameters
    ----------
    solver
        "auto" (dense when small, else Lanczos), "lanczos" or "dense".
    block
        Block size of Lanczos, at least the number of pairs wanted, the default; more serves degenerate tops.
    subspace
        Columns of the basis before a restart; by default max(40, count + 8 * block). One singular triple of a small
        sampled matrix has 80, and before the first restart as many as 32 MB hold, up to 640.
    max_products
        Products after which a run returns what it has.
    seed
        Seed of every random vector.
    mix
        Share of a random direction mixed into a warm start, so that no start is orthogonal to the answer.
    missed_eigenvalue_guard
        Continue until eigenvalues that exceed the answer by this share of the spread would have shown, so that a
        warm start near a lower eigenvector is left; None trusts the start (saves products when it is known to be
        good). Used with block size 1.
    operator_limit
        "auto" makes operators dense when their smaller side is at most this.
    array_limit
        "auto" treats arrays and sparse matrices as dense when their smaller side is at most this.
    precision
        Largest residual of singular triples relative to the largest value, however loose the requested tolerance; None
        leaves the choice to the oracle.

    Raises
    ------
    InvalidInput
        If a setting is out of range.

    See Also
    --------
    fixed_tolerance_engine, Certification

    Examples
    --------
    >>> import numpy as np
    >>> Engine(solver="lanczos").eigenpairs(np.diag([1.0, 4.0, 2.0])).value.__round__(10)
    4.0
    """

    solver: str = "auto"
    block: int | None = None
    subspace: int | None = None
    max_products: int = 4000
    seed: int = 0
    mix: float = 0.2
    missed_eigenvalue_guard: float | None = 0.1
    operator_limit: int = 64
    array_limit: int = 256
    precision: float | None = None

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InvalidInput("solver", f"one of {', '.join(SOLVERS)}", repr(self.solver))
        validate.positive("mix", self.mix)
        validate.integer("max_products", self.max_products, minimum=1)
        if self.precision is not None:
            validate.positive("precision", self.precision)
        for name in ("block", "subspace"):
            if getattr(self, name) is not None:
                validate.integer(name, getattr(self, name), minimum=1)

    def eigenpairs(
        self,
        operator: Any,
        count: int = 1,
        *,
        start: Any = None,
        tolerance: float = 1e-8,
        relative: bool = True,
        value_tolerance: ValueTolerance = None,
    ) -> Triples:
        """Return the ``count`` algebraically largest eigenpairs of a Hermitian operator.

        Parameters
        ----------
        operator
            The Hermitian matrix: an array, a sparse matrix or anything with ``matvec``.
        count
            Number of pairs (at most the size of the matrix).
        start
            Vector or block to start from, such as a recent eigenvector.
        tolerance
            Largest residual norm allowed, relative to the spread of the spectrum seen or absolute.
        relative
            Whether ``tolerance`` is relative.
        value_tolerance
            Also requires that the sum of the values fall short by at most this much, as estimated from
            residuals and gaps; may be a function of the top value.
        """
        products = Products(operator, hermitian=True)
        stop = self._stop(products.shape[1], tolerance, relative, value_tolerance, start is not None)
        return self._solve(products, count, start, stop)

    def singular_triples(
        self,
        operator: Any,
        count: int = 1,
        *,
        start: tuple[Any, Any] | None = None,
        tolerance: float = 1e-8,
        relative: bool = True,
        value_tolerance: ValueTolerance = None,
    ) -> Triples:
        """Return the ``count`` largest singular triples; ``start`` is a pair (left, right) of vectors or blocks.

        The other parameters are those of :meth:`eigenpairs`; a relative tolerance is relative to the largest
        singular value. A wide operator is run through its adjoint, so that the bases start on the shorter side.
        """
        if relative and self.precision is not None:
            tolerance = min(tolerance, self.precision)
        rule = (tolerance, relative, value_tolerance, start is not None)
        if count == 1 and as_operator(operator).has_compiled_run:
            found = self._compiled_triple(operator, start, *rule)
            if found is not None:
                return found
        products = Products(operator)
        wide = products.shape[0] < products.shape[1]
        side = None if start is None else start[0 if wide else 1]
        tall = products.transposed() if wide else products
        found = self._solve(tall, count, side, self._stop(min(products.shape), *rule))
        return found.swap_sides() if wide else found

    def _makes_dense(self, shape: Shape, limit: int) -> bool:
        return self.solver == "dense" or (self.solver == "auto" and is_small(shape, limit))

    def _solve(self, products: Products, count: int, start: Any, stop: Stop) -> Triples:
        """Return the top of the spectrum of a Hermitian or tall operator, by LAPACK or by a Krylov run."""
        rows = products.shape[1]
        if validate.integer("count", count, minimum=1) > rows:
            raise InvalidInput("count", f"at most {rows}, the rank possible", f"{count}")
        if self._makes_dense(products.shape, self.array_limit if products.explicit else self.operator_limit):
            return decompose_dense(products, count)
        block = min(rows, max(self.block or 1, count))
        first = starting_block(start, rows, block, products.dtype, self.seed, self.mix)
        run = Lanczos if products.hermitian else Bidiagonal
        return run(products, first, self._limits(count, block), self.seed + 1).until_converged(count, stop)

    def _compiled_triple(self, operator: Any, start: Any, *rule: Any) -> Triples | None:
        """Return the top triple by a compiled run.

        Between the products of a method its data has left the processor's cache, and a line of Python costs ten times
        what it seems to. Returns None for engines that make the operator dense or use blocks, and for starts that
        :func:`starting_block` must validate.
        """
        shape, dtype, length = operator.shape, operator.dtype, min(operator.shape)
        if self.block not in (None, 1) or self._makes_dense(shape, self.operator_limit):
            return None
        wide, random = shape[0] < shape[1], random_columns(length, 1, _DOUBLE, self.seed)[:, 0]
        first, mix = random, 0.0
        if start is not None:
            side, mix = start[0 if wide else 1], self.mix
            fits = isinstance(side, np.ndarray) and side.ndim == 2 and side.shape[0] == length and side.shape[1] > 0
            if not fits or side.dtype.kind != "f":
                return None
            first = side[:, 0]
        limits, steps = self._limits(1, 1), self.subspace or 0
        if self.subspace is None:
            limits = Limits(_SUBSPACE, self.max_products)
            steps = min(_MOST_STEPS, _MOST_BYTES // (sum(shape) * dtype.itemsize))
        run, stop = CompiledBidiagonalization(operator, wide, max(steps, limits.subspace)), self._stop(length, *rule)
        precision = ROUNDING * arrays.precision(operator)
        found = run.triple((first.astype(dtype), random, mix), limits.products, stop, precision)
        if run.unfit:
            return None
        if found is None:
            triples = continue_run(run, stop, limits, self.seed + 1)
        else:
            top, residual, left, right = found
            numbers = np.array((top, residual + precision * top))
            triples = Triples(numbers[:1], left[:, None], right[:, None], numbers[1:], run.made, RESIDUAL, True)
        return triples.swap_sides() if wide else triples

    def _limits(self, count: int, block: int) -> Limits:
        """Return the sizes of a run for ``count`` pairs with this block size."""
        subspace = max(self.subspace, count + 2 * block + 2) if self.subspace else max(40, count + 8 * block)
        return Limits(subspace, self.max_products)

    def _stop(self, rows: int, tolerance: float, relative: bool, value: ValueTolerance, warm: bool) -> Stop:
        """Return the stopping rule for vectors of length ``rows``, from a warm or a random start."""
        allowed = validate.nonnegative("tolerance", tolerance)
        if value is not None and not callable(value):
            validate.nonnegative("value_tolerance", value)
        weight = _TYPICAL_WEIGHT / rows * ((self.mix / (1.0 + self.mix)) ** 2 if warm else 1.0)
        absolute, share = (0.0, allowed) if relative else (allowed, 0.0)
        return Stop(absolute, share, value, self.missed_eigenvalue_guard, weight)


def decompose_dense(products: Products, count: int) -> Triples:
    """Return the top of the spectrum of the matrix made dense, by LAPACK; exact up to n eps ||M||.

    >>> decompose_dense(Products(np.diag([1.0, 5.0]), hermitian=True), 1).value
    5.0
    """
    matrix = products.dense()
    if not np.isfinite(matrix).all():
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    if products.hermitian:
        # By divide and conquer, since relatively robust representations lose orthogonality within clusters; and by
        # NumPy, because the waiting BLAS threads of SciPy would slow those of NumPy, which multiply, and be slowed.
        values, vectors = np.linalg.eigh(matrix)
        values = values[::-1]
        left = right = np.asfortranarray(vectors[:, ::-1][:, :count])
    else:
        outer, values, inner = np.linalg.svd(matrix, full_matrices=False)
        left, right = np.asfortranarray(outer[:, :count]), np.asfortranarray(inner[:count].conj().T)
    errors = np.full(count, rounding_allowance(matrix, float(np.abs(values).max())))
    return Triples(np.array(values[:count], np.float64), left, right, errors, products.count, RIGOROUS, True)


def fixed_tolerance_engine(precision: float | None) -> Engine | None:
    """Return an engine whose singular vectors have at most a given residual; None leaves the choice to the oracle.

    Methods request values to within a share of eps. In the first iterations from lam = 0 the values of g are of the
    order of eps themselves, so that vectors far from the singular ones suffice: the method is as good, but its iterates
    depend on them. Precise vectors make iterates comparable with those of an exact oracle.

    Parameters
    ----------
    precision
        Relative residual of every run, whatever the oracle asks for; None for no engine.

    See Also
    --------
    Engine

    Examples
    --------
    >>> fixed_tolerance_engine(None) is None, fixed_tolerance_engine(1e-6).precision
    (True, 1e-06)
    """
    return None if precision is None else Engine(precision=precision)


def continue_run(compiled: CompiledBidiagonalization, stop: Stop, limits: Limits, seed: int) -> Triples:
    """Continue a compiled run that has not reached its goals: restart it, or replace a vector that vanishes."""
    products = Products(compiled.operator)
    products = products.transposed() if compiled.adjoint else products
    products.count = compiled.made
    run = Bidiagonal(products, compiled.bases[1][:1].T, limits, seed)
    return run.until_converged(1, stop, run.resume(compiled) if compiled.known else None)


def starting_block(start: Any, rows: int, block: int, dtype: Any, seed: int, mix: float) -> Array:
    """Return ``block`` columns to start from: the given vectors mixed with random ones, then random ones.

    A warm start v becomes v / ||v|| + mix * g / ||g|| with g Gaussian, so that its angle to any fixed vector is
    almost surely not a right one. g is turned to the phase of v (<g, v> >= 0): the phase of an eigenvector is left to
    rounding, and v and -v must lead to the same answer. Vectors of length zero count as absent.

    >>> starting_block(np.array([0.0, 5.0]), 2, 1, np.float64, 0, 0.0)
    array([[0.],
           [1.]])
    """
    columns = random_columns(rows, block, np.result_type(dtype, np.float64), seed).copy()
    if start is not None:
        given = _validate_start(start, rows, np.dtype(dtype))[:, :block]
        for number, column in enumerate(given.T):
            length = math.sqrt(arrays.dot(column, column).real)
            if length > 0:
                random = columns[:, number]
                product = arrays.dot(random, column)
                phase = product / abs(product) if product != 0 else 1.0
                columns[:, number] = column / length + mix * phase * random
    return columns.astype(dtype, copy=False)


def random_columns(rows: int, block: int, dtype: np.dtype[Any], seed: int) -> Array:
    """Return random unit columns; the array is shared, and remembered where it is small."""
    chosen = _random_columns if rows * block <= _MOST_REMEMBERED else _random_columns.__wrapped__
    return chosen(rows, block, dtype, seed)


_MOST_REMEMBERED = 1 << 16
"""Entries of random columns that are cached: a method needs the same ones in every iteration."""


@lru_cache(maxsize=8)
def _random_columns(rows: int, block: int, dtype: np.dtype[Any], seed: int) -> Array:
    columns = arrays.draw_normal(np.random.default_rng(seed), (rows, block), dtype)
    columns /= np.linalg.norm(columns, axis=0)
    return columns


def _validate_start(start: Any, rows: int, dtype: np.dtype[Any]) -> Array:
    block = np.asarray(start)
    if block.ndim == 1:
        block = block[:, np.newaxis]
    if block.ndim != 2 or block.shape[0] != rows:
        raise InvalidInput("start", f"vectors of length {rows}", f"shape {np.shape(start)}")
    if not validate.all_finite(block):
        raise InvalidInput("start", "finite numbers", "NaN or inf")
    return np.real(block) if dtype.kind != "c" else block
