"""Products with many columns at once, and images of matrices of many factors: blocks of the matrix, and BLAS.

The kernels make every diagonal entry anew for each column. With tens of columns it is cheaper to make a part of the
matrix once. For the masks x that share their high bits h, the entries M[j, j ^ x] = D_x[j] fill the square blocks
of rows and columns with high bits g and g ^ h; the diagonals D_x come from a transform over z. So p/B parts of p B
entries each are made, used and forgotten, and products with their blocks are BLAS calls; backwards, blocks of
X = U V^* are summed along diagonals.
"""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.maps.pauli.dense import walsh_columns
from unipd.maps.pauli.memory import reused
from unipd.maps.pauli.strings import phases

BLOCK_BITS = 7
"""Rows of a block: 2^7, at which products of blocks are near the full speed of BLAS."""
PART_BITS = 20
"""Entries of a part: at most 2^20."""
WIDE = 24
"""Columns from which on this pays where all masks x occur."""
MOST_QUBITS = 14
"""Qubits up to which blocks are large enough for BLAS."""


class WideStrings:
    """The strings of a map, sorted by the high bits of x.

    >>> strings = WideStrings(1, np.array([1]), np.array([1]), np.complex128)
    >>> strings.product(np.array([2.0]), np.eye(2))
    array([[0.+0.j, 0.-2.j],
           [0.+2.j, 0.+0.j]])
    """

    def __init__(self, qubits: int, x: IntArray, z: IntArray, dtype: type) -> None:
        bits = min(qubits, BLOCK_BITS, max(PART_BITS - qubits, 1))
        self.size, self.side, self.dtype = 1 << qubits, 1 << bits, np.dtype(dtype)
        self._masks = np.unique(x).size if qubits <= MOST_QUBITS else 0
        self._order = np.argsort(x >> bits, kind="stable")
        x, z = x[self._order], z[self._order]
        self._phases = phases(x, z).astype(dtype)
        self._places: IntArray = z * self.side + (x & (self.side - 1))
        self._bounds: IntArray = np.searchsorted(x >> bits, np.arange((self.size >> bits) + 1))
        inside = np.arange(self.side)
        self._partners: IntArray = inside[:, None] ^ inside

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._order.nbytes + self._phases.nbytes + self._places.nbytes

    def pays(self, columns: int) -> bool:
        """Whether so many columns at once are faster here than one after the other in the kernels."""
        return columns * self._masks >= WIDE * self.size

    def product(self, dual: Array, block: Array) -> Array:
        """Return (sum_k lam_k P_k) U; lam is scaled to its largest entry before it is rounded to the precision."""
        scale = float(np.abs(dual).max()) or 1.0
        coefficients = self._phases * (dual[self._order] / scale)
        columns = np.ascontiguousarray(block, self.dtype).reshape(-1, self.side, block.shape[1])
        result = np.zeros_like(columns)
        table = reused("wide table", (self.size, self.side), self.dtype)
        rows = np.arange(self.side)[:, None] * self.side + self._partners
        for high, part in self._parts():
            table[:] = 0.0
            np.add.at(table.reshape(-1), self._places[part], coefficients[part])
            diagonals = walsh_columns(table).reshape(-1, self.side * self.side)
            blocks = np.take(diagonals, rows, axis=1, mode="clip")
            result += blocks @ columns[np.arange(columns.shape[0]) ^ high]
        return self.dtype.type(scale) * result.reshape(self.size, -1)

    def image(self, left: Array, right: Array) -> FloatArray:
        """Return Re tr(P_k U V^*)."""
        columns = np.ascontiguousarray(left, self.dtype).reshape(-1, self.side, left.shape[1])
        turned = np.ascontiguousarray(right.conj(), self.dtype).reshape(columns.shape).transpose(0, 2, 1)
        result = np.empty(self._order.size)
        rows = self._partners * self.side + np.arange(self.side)[:, None]
        for high, part in self._parts():
            blocks = columns[np.arange(columns.shape[0]) ^ high] @ turned
            diagonals = np.take(blocks.reshape(-1, self.side * self.side), rows, axis=1, mode="clip")
            sums = walsh_columns(diagonals.reshape(self.size, self.side)).reshape(-1)
            result[self._order[part]] = (self._phases[part] * sums[self._places[part]]).real
        return result

    def _parts(self) -> list[tuple[int, slice]]:
        """Return the high bits of x that occur, each with its strings."""
        ends = self._bounds
        return [(h, slice(ends[h], ends[h + 1])) for h in range(ends.size - 1) if ends[h] < ends[h + 1]]
