"""The Pauli map through dense matrices and Walsh-Hadamard transforms in NumPy, for few qubits.

With D_x[j] = sum_z c(x, z) (-1)^(z . j), the matrix of sum c P has the entries M[j, j ^ x] = D_x[j]: a transform over z
for every x. Backwards, tr(P(x, z) X) is (-i)^|x & z| times the transform of the diagonal j -> X[j ^ x, j] at z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.maps.pauli.strings import phases

_BATCH = 1 << 22
"""Most entries of the diagonals transformed at a time."""


def walsh_columns(data: Any) -> Any:
    """Transform the columns of ``data`` in place: row a becomes sum_b (-1)^(a . b) data[b].

    >>> walsh_columns(np.array([[1.0], [2.0], [0.0], [0.0]])).ravel()
    array([ 3., -1.,  3., -1.])
    """
    half = 1
    while half < data.shape[0]:
        view = data.reshape(-1, 2, half, data.shape[1])
        total = view[:, 0] + view[:, 1]
        np.subtract(view[:, 0], view[:, 1], out=view[:, 1])
        view[:, 0] = total
        half *= 2
    return data


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
        index = np.arange(self.size)
        self._partners = index[:, None] ^ index

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.phases.nbytes + self._places.nbytes + self._partners.nbytes

    def matrix(self, dual: Array) -> Array:
        """Return sum_k lam_k P_k; lam is scaled to its largest entry before it is rounded to the precision."""
        scale = float(np.abs(dual).max())
        coefficients: Any = self.phases * (dual / scale if scale else dual)
        table: Any = np.empty((self.size, self.size), self.dtype)
        cells = self.size * self.size
        table.real = np.bincount(self._places, coefficients.real, cells).reshape(table.shape)
        table.imag = np.bincount(self._places, coefficients.imag, cells).reshape(table.shape)
        diagonals = walsh_columns(table)
        diagonals *= self.dtype.type(scale)
        return np.take_along_axis(diagonals, self._partners, axis=1)

    def image(self, matrix: Array) -> FloatArray:
        """Return Re tr(P_k X)."""
        index = np.arange(self.size)[:, None]
        sums = walsh_columns(matrix.astype(self.dtype)[self._partners, index])
        return (self.phases * sums.reshape(-1)[self._places]).real
