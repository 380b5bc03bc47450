"""Pauli maps through Walsh-Hadamard transforms and BLAS: dense matrices for few qubits, blocks for many columns.

With D_x[j] = sum_z c(x, z) (-1)^(z . j), the matrix of sum c P has the entries M[j, j ^ x] = D_x[j]: a transform over z
for every x. Backwards, tr(P(x, z) X) is (-i)^|x & z| times the transform of the diagonal j -> X[j ^ x, j] at z.

For few qubits the matrix is formed at once. The compiled kernels, for more qubits, recompute all diagonal entries
for each column; with tens of columns it is cheaper to form a part of the matrix once. For the masks x that share their
high bits h, the entries M[j, j ^ x] = D_x[j] fill the square blocks of rows and columns with high bits g and g ^ h. So
p/B parts of p B entries each are made, used and discarded, and products with their blocks are BLAS calls; backwards,
blocks of X are summed along diagonals.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import distinct
from unipd.maps.pauli.strings import phases, sign_table

BLAS_BLOCK_BITS = 7
"""Rows of a block: 2^7, at which products of blocks are near the full speed of BLAS."""
BLAS_PART_BITS = 20
"""Entries of a part: at most 2^20."""
MULTI_VECTOR_COLUMNS = 24
"""Columns from which on blocks are faster than the kernels where all masks x occur."""
BLAS_QUBITS = 14
"""Qubits up to which blocks are large enough for BLAS."""


_kept = threading.local()


def thread_workspace(shape: tuple[int, int], dtype: Any) -> Array:
    """Return two uninitialised arrays, this thread's last ones if they fit: new pages cost as much as a transform.

    >>> thread_workspace((4, 2), np.float64) is thread_workspace((4, 2), np.float64)
    True
    """
    pair: Array | None = vars(_kept).get("pair")
    if pair is None or pair.shape[1:] != shape or pair.dtype != dtype:
        pair = _kept.pair = np.empty((2, *shape), dtype)
    return pair


def walsh_columns(data: Any, scratch: Any) -> Any:
    """Transform the columns of contiguous ``data`` in place, and return it: row a becomes sum_b (-1)^(a . b) data[b].

    The table of signs is a Kronecker product of two small ones, and products with these are BLAS calls that pass over
    the data twice; one pass per bit, with additions alone, takes twice as long.

    >>> walsh_columns(np.array([[1.0], [2.0], [0.0], [0.0]]), np.empty((4, 1))).ravel()
    array([ 3., -1.,  3., -1.])
    """
    rows = data.shape[0]
    low = (rows.bit_length() - 1) // 2
    high = rows >> low
    real, once = data.view(data.real.dtype), scratch.view(data.real.dtype)
    np.matmul(sign_table(high.bit_length() - 1, real.dtype), real.reshape(high, -1), out=once.reshape(high, -1))
    blocks = (high, 1 << low, -1)
    np.matmul(sign_table(low, real.dtype), once.reshape(blocks), out=real.reshape(blocks))
    return data


class PauliBlocks:
    """The strings of a map, sorted by the high bits of x, for parts of the matrix made at once.

    Parameters
    ----------
    qubits, x, z
        The strings.
    dtype
        Complex dtype of the blocks.
    whole
        Whether the matrix is one block; otherwise blocks have a size that suits BLAS.

    Examples
    --------
    >>> strings = PauliBlocks(1, np.array([1]), np.array([1]), np.complex128, whole=True)
    >>> strings.matrix(np.array([2.0]))
    array([[0.+0.j, 0.-2.j],
           [0.+2.j, 0.+0.j]])
    >>> strings.image_of_matrix(np.array([[0.5, -0.5j], [0.5j, 0.5]]))
    array([1.])
    """

    def __init__(self, qubits: int, x: IntArray, z: IntArray, dtype: Any, *, whole: bool = False) -> None:
        bits = qubits if whole else min(qubits, BLAS_BLOCK_BITS, max(BLAS_PART_BITS - qubits, 1))
        self.size, self.side, self.dtype = 1 << qubits, 1 << bits, np.dtype(dtype)
        self._masks = distinct(x).size if qubits <= BLAS_QUBITS else 0
        self._order = np.argsort(x >> bits, kind="stable")
        x, z = x[self._order], z[self._order]
        self._phases = phases(x, z).astype(dtype)
        self._places: IntArray = z * self.side + (x & (self.side - 1))
        self._bounds: IntArray = np.searchsorted(x >> bits, np.arange((self.size >> bits) + 1))
        inside = np.arange(self.side)[:, None]
        partners = inside ^ inside.T
        self._rows, self._columns = inside * self.side + partners, partners * self.side + inside

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = (self._order, self._phases, self._places, self._rows, self._columns)
        return sum(array.nbytes for array in arrays)

    def is_faster(self, columns: int) -> bool:
        """Whether blocks are faster than the kernels for this number of columns."""
        return columns * self._masks >= MULTI_VECTOR_COLUMNS * self.size

    def matrix(self, dual: Array) -> Array:
        """Return sum_k lam_k P_k, where it is one block."""
        return next(self._blocks(dual))[1][0]

    def product(self, dual: Array, block: Array) -> Array:
        """Return (sum_k lam_k P_k) U."""
        columns = np.ascontiguousarray(block, self.dtype).reshape(-1, self.side, block.shape[1])
        result = np.zeros_like(columns)
        for high, blocks in self._blocks(dual):
            result += blocks @ columns[np.arange(columns.shape[0]) ^ high]
        return result.reshape(self.size, -1)

    def image_of_factors(self, left: Array, right: Array) -> FloatArray:
        """Return Re tr(P_k U V^*)."""
        columns = np.ascontiguousarray(left, self.dtype).reshape(-1, self.side, left.shape[1])
        turned = np.ascontiguousarray(right.conj(), self.dtype).reshape(columns.shape).transpose(0, 2, 1)
        return self._image(lambda high: columns[np.arange(columns.shape[0]) ^ high] @ turned)

    def image_of_matrix(self, matrix: Array) -> FloatArray:
        """Return Re tr(P_k X) for an array X."""
        blocks: Any = matrix.astype(self.dtype, copy=False).reshape((self.size // self.side, self.side) * 2)
        index = np.arange(blocks.shape[0])
        return self._image(lambda high: blocks[index ^ high, :, index, :] if index.size > 1 else blocks)

    def _blocks(self, dual: Array) -> Iterator[tuple[int, Array]]:
        """Yield the high bits h of each part with its blocks, those of rows g and columns g ^ h for every g.

        lam is scaled to its largest entry before it is rounded to the precision.
        """
        scale = float(np.abs(dual).max()) or 1.0
        coefficients = self._phases * (dual[self._order] / scale)
        table, scratch = thread_workspace((self.size, self.side), self.dtype)
        for high, part in self._parts():
            table[:] = 0.0
            np.add.at(table.reshape(-1), self._places[part], coefficients[part].astype(self.dtype, copy=False))
            diagonals = walsh_columns(table, scratch).reshape(-1, self.side * self.side)
            diagonals *= self.dtype.type(scale)
            yield high, np.take(diagonals, self._rows, axis=1, mode="clip")

    def _image(self, blocks_of: Callable[[int], Array]) -> FloatArray:
        """Return Re tr(P_k X), with ``blocks_of(h)`` the blocks of X of rows g ^ h and columns g for every g."""
        result = np.empty(self._order.size)
        table, scratch = thread_workspace((self.size, self.side), self.dtype)
        diagonals = table.reshape(-1, self.side, self.side)
        for high, part in self._parts():
            blocks = blocks_of(high).reshape(-1, self.side * self.side)
            np.take(blocks, self._columns, axis=1, mode="clip", out=diagonals)
            sums = walsh_columns(table, scratch).reshape(-1)
            result[self._order[part]] = (self._phases[part] * sums[self._places[part]]).real
        return result

    def _parts(self) -> list[tuple[int, slice]]:
        """Return the high bits of x that occur, each with its strings."""
        ends = self._bounds
        return [(h, slice(ends[h], ends[h + 1])) for h in range(ends.size - 1) if ends[h] < ends[h + 1]]
