"""The semidefinite map on several ranks: images by constraints, products of the adjoint by rows of the matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.cluster.agreement import Watch, require_same
from unipd.cluster.balance import contiguous
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps.base import Map
from unipd.maps.sdp import SdpMap, SymmetricOperator
from unipd.maps.sdp.blocks import PsdBlock
from unipd.maps.sdp.operator import DENSE_LIMIT


@dataclass(frozen=True, eq=False)
class RowsOperator(SymmetricOperator):
    """A symmetric matrix of which each rank has a block of rows: ``starts``, ``indices`` and ``data`` are its own."""

    order: int
    """Rows of the whole matrix."""
    bounds: IntArray
    """First row of each rank, and the order."""
    ranks: Ranks

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n)."""
        return (self.order, self.order)

    @cached_property
    def stands_for(self) -> SymmetricOperator:
        """The whole matrix: what a checkpoint takes this for, whatever the number of ranks (which all ask for it)."""
        heights, indices, data = (self.ranks.joined(part) for part in (np.diff(self.starts), self.indices, self.data))
        starts = np.concatenate([[0], np.cumsum(heights)]).astype(self.starts.dtype)
        return SymmetricOperator(starts, indices, data, self.vectors, self.coefficients)

    def matvec(self, x: Array) -> Array:
        """Return S x: the ranks' rows, joined."""
        return self._rows("csr_vector", np.ascontiguousarray(x).reshape(-1))

    def matmat(self, block: Array) -> Array:
        """Return S B: the ranks' rows, joined."""
        return self._rows("csr_block", np.ascontiguousarray(block))

    def diagonal(self) -> Array:
        """Return the diagonal entries: the ranks' own, joined."""
        first = int(self.bounds[self.ranks.rank])
        own: Any = sp.csr_array((self.data, self.indices, self.starts), shape=(self.starts.size - 1, self.order))
        joined = self.ranks.joined(own.diagonal(k=first)[: self.starts.size - 1], np.diff(self.bounds))
        return joined + self.vectors**2 @ self.coefficients

    def tocsr(self) -> Any:
        """Return S as a SciPy CSR array."""
        if self.coefficients.size:
            return sp.csr_array(self.toarray())
        whole = self.stands_for
        return sp.csr_array((whole.data, whole.indices, whole.starts), shape=self.shape)

    def toarray(self) -> Array:
        """Return S as an array, for orders up to 20,000."""
        if self.order > DENSE_LIMIT:
            raise MemoryForecastError(f"a dense matrix of order {self.order} is too large: use matvec or tocsr")
        own: Any = sp.csr_array((self.data, self.indices, self.starts), shape=(self.starts.size - 1, self.order))
        out = self.ranks.joined(own.toarray(), np.diff(self.bounds))
        if self.coefficients.size:
            outer = (self.vectors * self.coefficients) @ self.vectors.T
            out = out + (outer + outer.T) / 2
        return out

    def _rows(self, kernel: str, x: Array) -> Array:
        from unipd.maps.sdp import kernels  # compiled on first use

        self._check(x)
        own = slice(int(self.bounds[self.ranks.rank]), int(self.bounds[self.ranks.rank + 1]))
        out = np.empty((own.stop - own.start, *x.shape[1:]), np.result_type(self.dtype, x.dtype))
        getattr(kernels, kernel)(self.starts, self.indices, self.data, x, out)
        if self.coefficients.size:
            weights = self.coefficients if x.ndim == 1 else self.coefficients[:, None]
            out += self.vectors[own] @ (weights * (self.vectors.T @ x))
        return self.ranks.joined(out, np.diff(self.bounds))


class DistributedSdpMap(Map):
    """A(X)_i = <A_i, X>, the constraints divided for images and the rows of the matrix for the adjoint.

    Numbers are computed as one process does, each on one rank: results are the same to the last bit.

    Parameters
    ----------
    map
        The whole map, with one semidefinite block; of it each rank keeps what it needs.
    ranks
        The ranks.
    """

    def __init__(self, map: SdpMap, ranks: Ranks) -> None:
        block = map.blocks[0]
        if len(map.blocks) != 1 or not isinstance(block, PsdBlock):
            expected = "one semidefinite block (several can be one block diagonal matrix)"
            raise InvalidInput("map", expected, f"blocks of shapes {[part.shape for part in map.blocks]}")
        super().__init__(map.domain, map.codomain, map.dtype)
        matrix, weights = map.matrix, map.weights
        arrays = {"order": block.shape, "places": block.indices, "values": matrix.data, "vectors": block.vectors}
        require_same(ranks, "the semidefinite map", arrays)
        self.stands_for = map
        """What a checkpoint takes this for: the same whatever the number of ranks."""
        self.ranks = ranks
        self._watch = Watch(ranks)
        rows = contiguous(np.diff(matrix.indptr) + 1, ranks.size)
        self.counts = np.diff(rows)
        """Constraints of each rank."""
        first, last = int(rows[ranks.rank]), int(rows[ranks.rank + 1])
        own: Any = matrix[first:last]
        pairs = np.unique(own.indices)
        self._matrix: Any = own[:, pairs]
        terms = (block.owners >= first) & (block.owners < last)
        self._image_block = replace(
            block,
            rows=block.rows[pairs],
            cols=block.cols[pairs],
            owners=block.owners[terms] - first,
            coefficients=block.coefficients[terms],
            vectors=np.ascontiguousarray(block.vectors[:, terms]),
        )
        self._lines = contiguous(np.diff(block.starts) + 1, ranks.size)
        self.parts = self.counts + np.diff(self._lines)
        """Constraints and rows of each rank."""
        low, high = int(self._lines[ranks.rank]), int(self._lines[ranks.rank + 1])
        places = slice(int(block.starts[low]), int(block.starts[high]))
        needed, source = np.unique(block.source[places], return_inverse=True)
        self._transposed: Any = sp.csr_array(matrix[:, needed].T)
        self._weights = weights[needed]
        self._adjoint_block = replace(
            block,
            starts=block.starts[low : high + 1] - block.starts[low],
            indices=block.indices[places].copy(),
            source=source.reshape(-1),
            rows=np.zeros(0, np.int32),
            cols=np.zeros(0, np.int32),
        )

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        held = sum(part.data.nbytes + part.indices.nbytes for part in (self._matrix, self._transposed))
        return held + self._image_block.nbytes + self._adjoint_block.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(X); for an X that is not symmetric, the image of its symmetric part."""
        entries, quadratic = self._image_block.products(atom)
        out = self._matrix @ entries
        if quadratic.size:
            out[self._image_block.owners] += self._image_block.coefficients * quadratic
        return self.ranks.joined(out, self.counts)

    def adjoint(self, dual: Array) -> RowsOperator:
        """Return A^*(lam) = sum_i lam_i A_i as an operator."""
        lam = np.asarray(dual)
        if lam.shape != self.codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {lam.shape}")
        self._watch(lam)
        values = (self._transposed @ lam) * self._weights
        own = self._adjoint_block.adjoint(values, lam)
        parts = (own.starts, own.indices, own.data, own.vectors, own.coefficients)
        return RowsOperator(*parts, order=self.domain[0], bounds=self._lines, ranks=self.ranks)
