"""Thick-restart (block) Lanczos with full reorthogonalisation: the orthonormal basis, the starting block, the run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import arrays, validate
from unipd.errors import InvalidInput, OracleError
from unipd.spectral.operators import Multiplier
from unipd.spectral.stopping import ROUNDING, Stop


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
        self._negligible = ROUNDING * float(np.finfo(self.array.dtype).eps)

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
            rest = self._copy_to_next_column(gaussian(generator, (self.array.shape[0],), self.array.dtype))
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


def gaussian(generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return standard normal numbers of a real or complex dtype.

    >>> gaussian(np.random.default_rng(0), (2, 3), np.complex64).dtype
    dtype('complex64')
    """
    numbers: Array = generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * generator.standard_normal(shape)
    return numbers.astype(dtype)


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


def starting_block(start: Any, rows: int, block: int, dtype: Any, seed: int, mix: float) -> Array:
    """Return ``block`` columns to start from: the given vectors mixed with random ones, then random ones.

    A warm start v becomes v / ||v|| + mix * g / ||g|| with g Gaussian, so that its angle to any fixed vector is
    almost surely not a right one. g is turned to the phase of v (<g, v> >= 0): the phase of an eigenvector is left to
    rounding, and what comes of -v must be what comes of v. Vectors of length zero count as absent.

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
    columns = gaussian(np.random.default_rng(seed), (rows, block), dtype)
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


@dataclass(frozen=True)
class Ritz:
    """Ritz values, largest first, with vectors and residual norms."""

    values: FloatArray
    """Ritz values (or singular values)."""
    vectors: Array
    """Ritz vectors as columns (right singular vectors)."""
    left: Array
    """Left singular vectors; the same array as ``vectors`` for a Hermitian operator."""
    residuals: FloatArray
    """Residual norms."""
    converged: bool
    """Whether the stopping rule was met."""


@dataclass(frozen=True)
class Limits:
    """Sizes of a Krylov run."""

    subspace: int
    """Columns of the basis before a restart."""
    products: int
    """Products after which the run stops unconverged."""


def lanczos(products: Multiplier, start: Array, count: int, stop: Stop, limits: Limits, seed: int) -> Ritz:
    """Return the ``count`` algebraically largest eigenpairs of a Hermitian operator.

    With an orthonormal basis V whose images are known, M V = V H + Q R E^*: H is the projected matrix, Q the next
    block and R what couples them. Ritz pairs come from H in double precision, their residual norms from R. All of
    H is read off the Gram-Schmidt coefficients, so that restarts (keep the best Ritz vectors, then Q) and
    breakdowns (R loses rank, Q gets random columns) need no special form of it.

    Parameters
    ----------
    products
        The operator.
    start
        Starting block; its width is the block size.
    count
        Number of eigenpairs wanted.
    stop
        Stopping rule.
    limits
        Subspace size and number of products.
    seed
        Seed of the random vectors that replace dependent ones.

    Examples
    --------
    >>> from unipd.spectral.operators import Products
    >>> run = lanczos(Products(np.diag([1.0, 3.0, 2.0]), hermitian=True), np.ones((3, 1)), 1, Stop(), Limits(3, 9), 0)
    >>> float(run.values[0].round(12)), run.converged
    (3.0, True)
    """
    basis = Basis(products.shape[0], limits.subspace + start.shape[1], products.dtype, seed)
    for column in start.T:
        basis.append(column)
    projected = np.zeros((basis.array.shape[1],) * 2, np.result_type(products.dtype, np.float64))
    known, links = 0, list[float]()
    while True:
        last, known = known, basis.size
        coupling = _absorb(products, basis, projected, last)
        values, rotation = np.linalg.eigh(projected[:known, :known], UPLO="U")
        values, rotation = values[::-1], rotation[:, ::-1]
        residuals = np.linalg.norm(coupling @ rotation[last:known], axis=0)
        scale = float(np.abs(values).max())
        rounding = ROUNDING * float(np.finfo(products.dtype).eps) * scale
        spread = float(values[0] - values[-1])
        links.append(float(np.linalg.norm(coupling)))
        done = known == products.shape[0] or (
            stop.is_reached(values, residuals, count, spread, rounding)
            and not stop.may_miss_eigenvalue(values, links, stop.guard_level(float(values[0]), spread))
        )
        if done or products.count + basis.size - known > limits.products:
            vectors = combine_columns(basis.columns(0, known), rotation[:, :count])
            return Ritz(values[:count].copy(), vectors, vectors, residuals[:count] + rounding, done)
        if basis.size + start.shape[1] > basis.array.shape[1] < products.shape[0]:
            kept = restart_size(known, count, start.shape[1])
            basis.compress(rotation[:, :kept], basis.columns(known))
            projected[:] = 0.0
            projected[range(kept), range(kept)] = values[:kept]
            known = kept


def _absorb(products: Multiplier, basis: Basis, projected: Array, first: int) -> Array:
    """Multiply the last block, add what is new to the basis, and return R; fill the block's columns of H."""
    known = basis.size
    images = products.forward(basis.columns(first))
    coupling = np.zeros((images.shape[1],) * 2, projected.dtype)
    for index, image in enumerate(images.T):
        coefficients, length = basis.append(image, 2 * images.shape[1])
        projected[:known, first + index] = coefficients[:known]
        added = coefficients.size - known
        coupling[:added, index] = coefficients[known:]
        if basis.size > known + added:
            coupling[added, index] = length
    return coupling[: basis.size - known]


def restart_size(known: int, count: int, block: int) -> int:
    """Return how many Ritz vectors survive a restart: the wanted ones and enough others not to slow convergence."""
    return max(1, min(known - block, max(count + block, (2 * known) // 5)))


def combine_columns(columns: Array, coefficients: Array) -> Array:
    """Return combinations of basis columns, scaled to length one (zero ones stay)."""
    vectors = arrays.product(columns, coefficients.astype(columns.dtype))
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asfortranarray(vectors / np.where(lengths > 0, lengths, 1.0).astype(lengths.dtype))
