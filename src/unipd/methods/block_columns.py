"""Images of many atoms as sparse columns of real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd.problem import Problem

_DENSE_SHARE = 0.1
"""Share of nonzeros from which products are faster with a dense matrix."""
_SMALL = 1 << 16
"""Entries up to which they are, however few nonzeros there are."""


def as_real(vector: Array) -> FloatArray:
    """Return an array as a vector of doubles, complex numbers as pairs, so that real inner products stay.

    >>> as_real(np.array([1 + 2j, 3]))
    array([1., 2., 3., 0.])
    """
    flat = np.ascontiguousarray(vector).reshape(-1)
    if flat.dtype.kind == "c":
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)


def as_complex(vector: FloatArray, problem: Problem) -> Array:
    """Return the array of the problem's dual shape and dtype of which ``vector`` is the real form."""
    pairs = vector.view(np.complex128) if problem.dtype.kind == "c" else vector
    return pairs.astype(problem.dtype).reshape(problem.dual_shape)


@dataclass(frozen=True)
class Columns:
    """Columns in compressed form; plain arrays, so that a state is easily stored."""

    rows: int
    ends: IntArray
    """Where each column ends among the entries, after a leading zero."""
    places: IntArray
    entries: FloatArray

    @staticmethod
    def none(problem: Problem) -> Columns:
        """Return no columns of the length of a problem's dual vectors."""
        rows = problem.b.size * (2 if problem.dtype.kind == "c" else 1)
        return Columns(rows, np.zeros(1, np.intp), np.zeros(0, np.intp), np.zeros(0))

    def with_more(self, vectors: Sequence[FloatArray]) -> Columns:
        """Return the columns with these behind."""
        places = [np.flatnonzero(vector) for vector in vectors]
        sizes = [place.size for place in places]
        return Columns(
            self.rows,
            np.concatenate([self.ends, self.ends[-1] + np.cumsum(sizes, dtype=np.intp)]),
            np.concatenate([self.places, *places]),
            np.concatenate([self.entries, *(v[p] for v, p in zip(vectors, places, strict=True))]),
        )

    def taken(self, order: Any) -> Columns:
        """Return the columns at these places."""
        part: Any = self._sparse()[:, order]
        return Columns(self.rows, part.indptr.astype(np.intp), part.indices.astype(np.intp), part.data)

    def matrix(self) -> Any:
        """Return the columns as a matrix for products, dense when zeros or columns are few."""
        sparse, size = self._sparse(), self.rows * (self.ends.size - 1)
        return sparse.toarray() if self.entries.size > _DENSE_SHARE * size or size <= _SMALL else sparse

    def images(self, problem: Problem) -> Array:
        """Return the columns as a dense matrix of a problem's kind of numbers, in double precision."""
        dense = self._sparse().T.toarray()
        return (dense.view(np.complex128) if problem.dtype.kind == "c" else dense).T

    def _sparse(self) -> Any:
        return scipy.sparse.csc_array((self.entries, self.places, self.ends), shape=(self.rows, self.ends.size - 1))
