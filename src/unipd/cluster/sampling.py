"""Sampled entries of a matrix on several ranks: each has the entries of a block of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.atoms import LowRank
from unipd.cluster.agreement import Watch, require_same
from unipd.cluster.balance import contiguous
from unipd.cluster.ranks import Ranks
from unipd.cluster.sampled import DistributedSampledMatrix
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating
from unipd.maps.checksum import checksum
from unipd.maps.sampling import Sampling


class DistributedSampling(Map):
    """A(X)_k = X[rows[k], cols[k]] with the entries of a block of rows on each rank.

    A product M v joins the ranks' rows, M^T u adds up vectors of the columns, and an image joins the values.

    Parameters
    ----------
    rows, cols
        This rank's entries, sorted by rows or not; rows lie between ``bounds[rank]`` and ``bounds[rank + 1]``.
    shape
        Shape of the whole matrix.
    bounds
        First row of each rank, and the number of rows.
    ranks
        The ranks.
    dtype, threads
        As in :class:`~unipd.maps.Sampling`.

    Examples
    --------
    >>> from unipd.cluster.world import Single
    >>> part = DistributedSampling([0, 1], [1, 0], (2, 2), np.array([0, 2]), Ranks(Single()))
    >>> part.adjoint(np.array([3.0, 4.0])).matvec(np.array([1.0, 2.0]))
    array([6., 4.])
    """

    def __init__(
        self,
        rows: Any,
        cols: Any,
        shape: tuple[int, int],
        bounds: IntArray,
        ranks: Ranks,
        dtype: Any = np.float64,
        threads: int | None = None,
    ) -> None:
        self.ranks, self.bounds = ranks, np.asarray(bounds, np.int64)
        self.lines = slice(int(bounds[ranks.rank]), int(bounds[ranks.rank + 1]))
        own, columns = np.asarray(rows), np.asarray(cols)
        if own.size and (own.min() < self.lines.start or own.max() >= self.lines.stop):
            raise InvalidInput("rows", f"rows from {self.lines.start} to {self.lines.stop - 1}", f"{own.min()}")
        self.part: Sampling | None = None
        if own.size:
            local = (own - own.dtype.type(self.lines.start)).astype(np.uint32, copy=False)
            size = (self.lines.stop - self.lines.start, shape[1])
            self.part = Sampling(local, columns, size, dtype, threads=threads)
        self.counts: IntArray = ranks.joined(np.array([own.size], np.int64))
        """Entries of each rank."""
        first = int(self.counts[: ranks.rank].sum())
        self.own = slice(first, first + own.size)
        self._order: IntArray | None = None
        self._whole: Any = None
        self._watch = Watch(ranks)
        super().__init__((int(shape[0]), int(shape[1])), (int(self.counts.sum()),), floating(dtype))

    @classmethod
    def of(cls, map: Sampling, ranks: Ranks) -> DistributedSampling:
        """Divide a map that every rank has; images stay in its order."""
        rows, cols = map.rows, map.cols
        require_same(ranks, "the sampling map", {"shape": map.domain, "rows": rows, "cols": cols})
        bounds = contiguous(np.bincount(rows, minlength=map.domain[0]) + 1, ranks.size)
        owners = np.searchsorted(bounds[1:-1], rows, side="right")
        mine = np.flatnonzero(owners == ranks.rank)
        part = cls(rows[mine], cols[mine], map.domain, bounds, ranks, map.dtype, map.pattern.threads)
        part._whole = map
        if np.any(np.diff(owners) < 0):
            part._order = np.argsort(owners, kind="stable").astype(np.int32)
        return part

    @classmethod
    def of_shards(cls, rows: Any, cols: Any, shape: tuple[int, int], *, ranks: Ranks) -> DistributedSampling:
        """Join the entries of all ranks, each with rows of its own, in the order of the rows."""
        own = np.asarray(rows)
        return cls(own, cols, shape, row_bounds(own, shape[0], ranks), ranks)

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        return 0 if self.part is None else self.part.nbytes

    @property
    def stands_for(self) -> Any:
        """What a checkpoint takes this for: the same whatever the number of ranks (which all ask for it)."""
        return self._whole if self._whole is not None else self.identity(self.own.start)

    def identity(self, first: int) -> tuple[Any, ...]:
        """Return what tells this map from others."""
        own = np.zeros(1, np.uint64)
        if self.part is not None:
            rows = self.part.rows.astype(np.uint64) + np.uint64(self.lines.start)
            own = checksum(rows * np.uint64(self.domain[1]) + self.part.cols, first)
        return ("Sampling", self.domain, self.dtype.str, self.codomain, int(self.ranks.summed(own)[0]))

    def image(self, atom: Any) -> Array:
        """Return the sampled entries of X."""
        if tuple(atom.shape) != self.domain:
            raise InvalidInput("atom", f"shape {self.domain}", f"shape {atom.shape}")
        values = np.empty(self.codomain, self.dtype)
        if self.part is not None:
            values[self.own] = self.part.image(_lines(atom, self.lines))
        self.ranks.completed(values, self.counts)
        if self._order is None:
            return values
        out = np.empty_like(values)
        out[self._order] = values
        return out

    def adjoint(self, dual: Array) -> DistributedSampledMatrix:
        """Return the matrix with lam_k at (rows[k], cols[k])."""
        vector = np.asarray(dual)
        if vector.shape != self.codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {vector.shape}")
        self._watch(vector)
        own = vector[self.own] if self._order is None else vector[self._order[self.own]]
        matrix = None if self.part is None else self.part.adjoint(own)
        return DistributedSampledMatrix(matrix, self.domain[1], self.bounds, floating(vector.dtype), self.ranks)


def row_bounds(rows: Array, count: int, ranks: Ranks) -> IntArray:
    """Return the first row of each rank and the number of rows; ranks must hold rows in order, none on two of them."""
    ends = np.array([[rows.min(), rows.max()] if rows.size else [-1, -1]], np.int64)
    table = ranks.joined(ends)
    bounds = np.full(ranks.size + 1, count, np.int64)
    last = -1
    for rank, (low, high) in enumerate(table):
        if low >= 0 and low <= last:
            raise InvalidInput("rows", "rows of one rank only, in the order of the ranks", f"row {low} on rank {rank}")
        last = int(high) if low >= 0 else last
        bounds[rank + 1] = last + 1
    bounds[0], bounds[-1] = 0, count
    return bounds


def _lines(atom: Any, lines: slice) -> Any:
    """Return a block of rows of a point."""
    from unipd import atoms

    if isinstance(atom, LowRank):
        return LowRank(atom.left[lines], atom.right, atom.weights)
    if isinstance(atom, atoms.SparsePoint):
        rows, cols = np.unravel_index(atom.indices, atom.shape)
        chosen = (rows >= lines.start) & (rows < lines.stop)
        size = (lines.stop - lines.start, atom.shape[1])
        places = np.ravel_multi_index((rows[chosen] - lines.start, cols[chosen]), size)
        return atoms.SparsePoint(size, places, atom.values[chosen])
    return np.asarray(atoms.dense(atom))[lines]
