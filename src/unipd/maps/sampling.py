"""Sampled entries of a matrix: the map of matrix completion, and its adjoint as an operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating
from unipd.maps.checksum import checksum
from unipd.maps.pattern import Pattern
from unipd.maps.sampled_matrix import SampledMatrix


class Sampling(Map):
    """A(X)_k = X[rows[k], cols[k]], the entries of a matrix that were measured.

    The places are compressed once, with indices of 16 bits where they fit and of 32 elsewhere; a place may be measured
    more than once. When ``rows`` (or ``cols``) come sorted, no permutation is kept and none is applied. The image of a
    low-rank atom is a sampled product of its factors; the adjoint is a :class:`SampledMatrix`, never an array of the
    matrix's shape.

    Parameters
    ----------
    rows, cols
        Places of the measurements, integers from 0.
    shape
        Shape of the matrix.
    dtype
        Dtype of the measurements; of complex atoms a real map takes the real part.
    threads
        Threads of the products; by default Numba's setting. Results do not depend on it.

    Examples
    --------
    >>> sampling = Sampling([0, 1, 1], [2, 0, 1], (2, 3))
    >>> sampling.image(np.arange(6.0).reshape(2, 3))
    array([2., 3., 4.])
    >>> sampling.adjoint(np.array([1.0, 2.0, 3.0])).toarray()
    array([[0., 0., 1.],
           [2., 3., 0.]])
    """

    negates = True

    def __init__(
        self,
        rows: Any,
        cols: Any,
        shape: tuple[int, int],
        dtype: Any = np.float64,
        *,
        threads: int | None = None,
    ) -> None:
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput("shape", "two sizes, rows and columns", repr(shape))
        sizes = (
            validate.integer("shape[0]", shape[0], minimum=1),
            validate.integer("shape[1]", shape[1], minimum=1),
        )
        if max(sizes) >= 2**32:
            raise InvalidInput("shape", "sizes below 2^32", repr(sizes))
        row_indices = _indices("rows", rows, sizes[0])
        col_indices = _indices("cols", cols, sizes[1])
        if row_indices.size != col_indices.size:
            raise InvalidInput("cols", f"{row_indices.size} indices, one for each of rows", f"{col_indices.size}")
        count = None if threads is None else validate.integer("threads", threads, minimum=1)
        self.pattern = Pattern(row_indices, col_indices, sizes, count)
        super().__init__(sizes, (self.pattern.size,), floating(dtype))

    @property
    def rows(self) -> IntArray:
        """Rows of the measurements."""
        return self.pattern.indices()[0]

    @property
    def cols(self) -> IntArray:
        """Columns of the measurements."""
        return self.pattern.indices()[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the index arrays."""
        return self.pattern.nbytes

    @property
    def stands_for(self) -> Any:
        """What a checkpoint takes this for: the same as a map that is spread over processes."""
        places = self.rows.astype(np.uint64) * np.uint64(self.domain[1]) + self.cols
        return ("Sampling", self.domain, self.dtype.str, self.codomain, int(checksum(places)[0]))

    def image(self, atom: Any) -> Array:
        """Return the sampled entries of X; of a low-rank X without forming it."""
        if tuple(atom.shape) != self._domain:
            raise InvalidInput("atom", f"shape {self.domain}", f"shape {atom.shape}")
        if isinstance(atom, atoms.LowRank):
            return self._sampled_factors(atom)
        if isinstance(atom, atoms.SparsePoint):
            return self._sampled_nonzeros(atom)
        return self._cast(np.asarray(atom)[self.pattern.indices()])

    def adjoint(self, dual: Array) -> SampledMatrix:
        """Return the matrix with lam_k added at (rows[k], cols[k]); it refers to ``dual``, not to a copy."""
        return SampledMatrix(self.pattern, self._arranged(dual))

    @property
    def in_lines(self) -> bool:
        """Whether the measurements come sorted, as :meth:`image_lines` needs them."""
        return self.pattern.in_order

    def image_lines(self, atom: atoms.LowRank) -> tuple[IntArray, IntArray, Array, Array, IntArray]:
        """Return what makes the sampled entries of a low-rank X line by line, for compiled passes over parts of them.

        (starts, places, along, across, bounds): entry k of line i, ``starts[i] <= k < starts[i + 1]``, is
        <along[i], across[places[k]]>, and lines from ``bounds[c]`` to ``bounds[c + 1]`` are the parts.
        """
        return self.pattern.image_lines(*self._factors(atom))

    def opposite_adjoint(self, dual: Array) -> SampledMatrix:
        """Return A^*(-lam) without an array for -lam; it refers to ``dual``."""
        if type(self).adjoint is Sampling.adjoint:
            return SampledMatrix(self.pattern, self._arranged(dual), opposite=True)
        matrix: Any = self.adjoint(dual)  # a class below has its own
        return matrix.negative() if isinstance(matrix, SampledMatrix) else -matrix

    def _arranged(self, dual: Array) -> Array:
        """Return the entries of a dual vector in the order of the pattern, checked."""
        vector, pattern = np.ascontiguousarray(dual), self.pattern
        if vector.shape != self._codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {vector.shape}")
        if vector.dtype is not self._dtype:
            vector = vector.astype(floating(vector.dtype), copy=False)
        return vector if pattern.in_order else pattern.arranged(vector)

    def _factors(self, atom: atoms.LowRank) -> tuple[Array, Array]:
        dtype, left, right = self._dtype, atom.left, atom.right
        if left.dtype.kind == "c":
            dtype = np.result_type(dtype, np.complex64)
        if right.dtype.kind == "c":
            right = right.conj()
        return np.ascontiguousarray(left * atom.weights, dtype), np.ascontiguousarray(right, dtype)

    def _sampled_factors(self, atom: atoms.LowRank) -> Array:
        return self._cast(self.pattern.sampled(*self._factors(atom)))

    def _sampled_nonzeros(self, atom: atoms.SparsePoint) -> Array:
        out = np.zeros(self.codomain, self.dtype)
        values = self._cast(atom.values)
        for row, col, value in zip(*np.unravel_index(atom.indices, self.domain), values, strict=True):
            out[self.pattern.find(int(row), int(col))] += value
        return out

    def _cast(self, values: Array) -> Array:
        if values.dtype is self._dtype:
            return values
        real = self._dtype.kind != "c" and values.dtype.kind == "c"
        return (np.real(values) if real else values).astype(self._dtype, copy=False)


def _indices(name: str, value: Any, size: int) -> IntArray:
    """Return checked indices as unsigned 32-bit integers, without a copy where they are 32-bit already."""
    array = np.asarray(value)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InvalidInput(name, "a list of integers, at least one", f"dtype {array.dtype}, shape {array.shape}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= size:
        raise InvalidInput(name, f"indices from 0 to {size - 1}", str(low if low < 0 else high))
    if array.dtype in (np.int32, np.uint32):
        return np.ascontiguousarray(array).view(np.uint32)
    return array.astype(np.uint32)
