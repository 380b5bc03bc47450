"""An orthonormal basis that grows column by column: Gram-Schmidt in two passes, random vectors where it ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import serial
from unipd._typing import Array
from unipd.errors import OracleError


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
        self._negligible = 8.0 * float(np.finfo(self.array.dtype).eps)

    @property
    def full(self) -> bool:
        """Whether the columns span the whole space."""
        return self.size == self.array.shape[0]

    def columns(self, first: int = 0, last: int | None = None) -> Array:
        """Return a view of columns first, ..., last - 1."""
        return self.array[:, first : self.size if last is None else last]

    def append(self, vector: Array, recent: int = 0) -> tuple[Array, float]:
        """Add the part of a vector outside the span; return (Q^* w, norm of that part).

        A vector inside the span (up to rounding) leaves a norm of 0, and a random direction is added in its
        place while there is one. ``recent`` columns, the last ones, are where most of the vector is expected to lie:
        they are tried alone before the whole basis, which saves a pass over it.
        """
        rest = self._copied(vector)
        coefficients, length = self._split(rest, recent)
        if length > 0:
            self._accept(rest, length)
        elif not self.full:
            self._accept(*self._random_direction())
        return coefficients, length

    def compress(self, rotation: Array, columns: Array) -> None:
        """Replace the basis by (Q[:, :k] rotation) followed by given columns that are orthonormal to Q[:, :k]."""
        old, new = rotation.shape
        tail = columns.copy()
        self.array[:, :new] = serial.product(self.array[:, :old], rotation.astype(self.array.dtype, copy=False))
        self.size = new + tail.shape[1]
        self.array[:, new : self.size] = tail

    def _copied(self, vector: Array) -> Array:
        """Write a vector to the next free column (where there is none, elsewhere) and return that."""
        if self.size == self.array.shape[1]:
            return vector.astype(self.array.dtype)
        column = self.array[:, self.size]
        column[:] = vector
        return column

    def _split(self, rest: Array, recent: int = 0) -> tuple[Array, float]:
        """Leave of a vector the part outside the span; return (Q^* w, length of that part)."""
        length = original = length_of(rest)
        coefficients = np.zeros(self.size, self.array.dtype)
        for sweep in range(_MOST_SWEEPS if self.size else 0):
            first = max(0, self.size - recent) if sweep == 0 and recent else 0
            coefficients[first:] += _remove(self.columns(first), rest)
            before, length = length, length_of(rest)
            if sweep > 0 and length > 0.5 * before:
                break
        return coefficients, length if length > self._negligible * original and not self.full else 0.0

    def _random_direction(self) -> tuple[Array, float]:
        self._seed = generator = np.random.default_rng(self._seed)  # made when needed: that takes its time
        while True:
            rest = self._copied(gaussian(generator, (self.array.shape[0],), self.array.dtype))
            _, length = self._split(rest)
            if length > 0:
                return rest, length

    def _accept(self, column: Array, length: float) -> None:
        """Count in the next column, scaled to length one."""
        column /= column.dtype.type(length)
        self.size += 1


_MOST_SWEEPS = 4
"""Two passes are enough unless the vector is nearly in the span."""
_MOST_PIECES = 32
"""Bases that would take more pieces than this have kernels of their own."""


def _remove(known: Array, rest: Array) -> Array:
    """Subtract from a vector, in place, its part in the span of orthonormal columns; return the coefficients.

    Small bases are multiplied in one thread: waking the threads of BLAS costs more than the product, and on a busy
    machine very much more.
    """
    if known.size * (2 if known.dtype.kind == "c" else 1) > _MOST_PIECES * serial.ENTRIES:
        return _remove_long(known, rest)
    inside = serial.product(rest.conj(), known).conj()
    rest -= serial.product(known, inside)
    return inside


def _remove_long(known: Array, rest: Array) -> Array:
    """Do as :func:`_remove` with compiled kernels (imported on first use: Numba is slow to import)."""
    from unipd.spectral import basis_kernels

    inside = np.zeros(known.shape[1], np.result_type(rest.dtype, np.float64))
    basis_kernels.project(known, rest, inside)
    rounded = inside.astype(rest.dtype)
    basis_kernels.subtract(known, rest, rounded)
    return rounded


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
    squared = float(serial.dot(parts, parts))  # unlike np.dot and @ it does not warn of overflow
    if _SAFE_SQUARE < squared < 1.0 / _SAFE_SQUARE:
        return math.sqrt(squared)
    size = float(np.abs(parts).max(initial=0.0))
    if not math.isfinite(size):
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    return size * math.sqrt(float(np.sum(np.square(parts / size, dtype=np.float64)))) if size > 0.0 else 0.0


def over(vector: Array, length: float) -> Array:
    """Return a vector over its length, part by part: quotients of complex numbers overflow where 1 / length does.

    >>> over(np.array([1e-310j]), 1e-310)
    array([0.+1.j])
    """
    parts: Array = vector.view(np.real(vector).dtype) / length
    return parts.view(vector.dtype)


_SAFE_SQUARE = 1e-20
"""Sums of squares from this to its inverse neither overflow nor lose much to underflow."""
