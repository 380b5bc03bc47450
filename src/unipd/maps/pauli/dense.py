"""The Pauli map through dense matrices and Walsh-Hadamard transforms in NumPy, for few qubits.

With D_x[j] = sum_z c(x, z) (-1)^(z . j), the matrix of sum c P has the entries M[j, j ^ x] = D_x[j]: a transform over z
for every x. Backwards, tr(P(x, z) X) is (-i)^|x & z| times the transform of the diagonal j -> X[j ^ x, j] at z.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.maps.pauli.memory import reused
from unipd.maps.pauli.strings import bit_count, most_repeats, phases

_BATCH = 1 << 22
"""Most entries of the diagonals transformed at a time."""


@cache
def sign_table(bits: int, dtype: Any) -> FloatArray:
    """Return the 2^bits x 2^bits table of (-1)^(a . b).

    >>> sign_table(1, np.float64)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    index = np.arange(1 << bits)
    return (1.0 - 2.0 * (bit_count(index[:, None] & index) & 1)).astype(dtype)


def walsh_columns(data: Any) -> Any:
    """Return the transformed columns of ``data``: row a is sum_b (-1)^(a . b) data[b].

    The table of signs is a Kronecker product of two small ones, and products with these are BLAS calls that pass over
    the data twice; one pass a bit, with additions alone, takes twice as long. The answer is in memory that the next
    call on the same thread overwrites: fresh pages would cost more than the sums.

    >>> walsh_columns(np.array([[1.0], [2.0], [0.0], [0.0]])).ravel()
    array([ 3., -1.,  3., -1.])
    """
    rows = data.shape[0]
    low = (rows.bit_length() - 1) // 2
    real: Any = np.ascontiguousarray(data).view(data.real.dtype)
    high = rows >> low
    once, twice = (reused(f"walsh {turn}", real.shape, real.dtype) for turn in (1, 2))
    np.matmul(sign_table(high.bit_length() - 1, real.dtype), real.reshape(high, -1), out=once.reshape(high, -1))
    blocks = (high, 1 << low, -1)
    np.matmul(sign_table(low, real.dtype), once.reshape(blocks), out=twice.reshape(blocks))
    return twice.view(data.dtype)


def image_of_matrix(matrix: Array, x: IntArray, z: IntArray) -> FloatArray:
    """Return Re tr(P_k X) for all strings, from the dense matrix X.

    >>> image_of_matrix(np.diag([1.0, 0.0]), np.array([0, 0, 1]), np.array([0, 1, 0]))
    array([1., 1., 0.])
    """
    index = np.arange(matrix.shape[0])[:, None]
    result = np.empty(x.size)
    values, column = np.unique(x, return_inverse=True)
    step = max(_BATCH // matrix.shape[0], 1)
    for start in range(0, values.size, step):
        part = values[start : start + step]
        sums = walsh_columns(matrix[index ^ part, index])
        mine = np.flatnonzero((column >= start) & (column < start + step))
        result[mine] = (phases(x[mine], z[mine]) * sums[z[mine], column[mine] - start]).real
    return result


class DensePaulis:
    """The strings of a map with few qubits: their places in the p x p table of coefficients, and their phases.

    >>> strings = DensePaulis(1, np.array([1]), np.array([1]), np.complex128)
    >>> strings.matrix(np.array([2.0]))
    array([[0.+0.j, 0.-2.j],
           [0.+2.j, 0.+0.j]])
    """

    def __init__(self, qubits: int, x: IntArray, z: IntArray, dtype: Any) -> None:
        self.size = 1 << qubits
        self.dtype = np.dtype(dtype)
        self.phases = phases(x, z)
        self._places = z * self.size + x
        self._repeated = most_repeats(x, z) > 1
        index = np.arange(self.size)[:, None]
        partners = index ^ index.T
        self._rows, self._columns = index * self.size + partners, partners * self.size + index

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.phases.nbytes + self._places.nbytes + self._rows.nbytes + self._columns.nbytes

    def matrix(self, dual: Array) -> Array:
        """Return sum_k lam_k P_k; lam is scaled to its largest entry before it is rounded to the precision."""
        scale = float(np.abs(dual).max())
        coefficients = self.phases * (dual / scale if scale else dual)
        table = self._table(np.complex128 if self._repeated else self.dtype)
        table[:] = 0.0
        if self._repeated:
            np.add.at(table.reshape(-1), self._places, coefficients)
        else:
            table.reshape(-1)[self._places] = coefficients
        diagonals = walsh_columns(table.astype(self.dtype, copy=False))
        diagonals *= self.dtype.type(scale)
        return np.take(diagonals, self._rows, mode="clip")

    def image(self, matrix: Array) -> FloatArray:
        """Return Re tr(P_k X)."""
        columns = self._table(self.dtype)
        np.take(matrix.astype(self.dtype, copy=False), self._columns, out=columns, mode="clip")
        sums = walsh_columns(columns).reshape(-1)
        return (self.phases * sums[self._places]).real

    def _table(self, dtype: Any) -> Any:
        """Return memory for p x p entries."""
        return reused("pauli table", (self.size, self.size), dtype)
