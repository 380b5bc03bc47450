"""The sparse matrix of sampled entries on several ranks, and its products."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput


class DistributedSampledMatrix:
    """The sparse matrix of sampled entries with a block of rows on each rank.

    Parameters
    ----------
    own
        The matrix of this rank's rows; None where there are no entries.
    width
        Number of columns.
    bounds
        First row of each rank, and the number of rows.
    dtype
        Its dtype.
    ranks
        The ranks.

    Examples
    --------
    >>> from unipd.cluster.world import Single
    >>> empty = DistributedSampledMatrix(None, 2, np.array([0, 3]), np.dtype(np.float64), Ranks(Single()))
    >>> empty.shape, empty.matvec(np.ones(2))
    ((3, 2), array([0., 0., 0.]))
    """

    hermitian = False
    """As that of a sampled matrix."""

    def __init__(self, own: Any, width: int, bounds: IntArray, dtype: np.dtype[Any], ranks: Ranks) -> None:
        self.shape: tuple[int, int] = (int(bounds[-1]), width)
        self.dtype = dtype
        self._own, self._ranks = own, ranks
        self._lines = slice(int(bounds[ranks.rank]), int(bounds[ranks.rank + 1]))
        self._heights = np.diff(bounds)

    def matvec(self, x: Array) -> Array:
        """Return M x: the ranks' rows, joined."""
        return self.matmat(np.asarray(x).reshape(-1))

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x: the sum of the ranks' vectors."""
        return self.rmatmat(np.asarray(x).reshape(-1))

    def matmat(self, x: Array) -> Array:
        """Return M X for the columns of X."""
        block = _sized(x, self.shape[1])
        height = self._lines.stop - self._lines.start
        nothing = np.zeros((height, *block.shape[1:]), np.result_type(self.dtype, block))
        own = nothing if self._own is None else _product(self._own, block, forward=True)
        return self._ranks.joined(own, self._heights)

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X for the columns of X."""
        block = _sized(x, self.shape[0])[self._lines]
        nothing = np.zeros((self.shape[1], *block.shape[1:]), np.result_type(self.dtype, block))
        return self._ranks.summed(nothing if self._own is None else _product(self._own, block, forward=False))

    def frobenius(self) -> float:
        """Return the Frobenius norm."""
        own = 0.0 if self._own is None else self._own.frobenius()
        return float(np.linalg.norm(self._ranks.joined(np.array([own]))))

    def toarray(self) -> Array:
        """Return the matrix as an array: for small sizes and for tests."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))


def _product(matrix: Any, block: Array, *, forward: bool) -> Array:
    if block.ndim == 1:
        return matrix.matvec(block) if forward else matrix.rmatvec(block)
    return matrix.matmat(block) if forward else matrix.rmatmat(block)


def _sized(x: Array, size: int) -> Array:
    array = np.asarray(x)
    if array.ndim == 0 or array.shape[0] != size:
        raise InvalidInput("x", f"{size} rows", f"shape {array.shape}")
    return array
