"""Measurements divided among ranks: images are joined, adjoints are added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import apply_adjoint
from unipd.cluster.agreement import Watch
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.matrix_operator import MatrixOperator, frobenius_bound


class DistributedRows(Map):
    """A x = (A_0 x, A_1 x, ...), rank r with the map A_r; the adjoint is the sum of the ranks' adjoints.

    Parameters
    ----------
    part
        This rank's map, with images that are vectors; None when it has no measurements.
    ranks
        The ranks.
    stands_for
        What a checkpoint takes the map for.

    Examples
    --------
    >>> from unipd.cluster.world import Single
    >>> from unipd.maps import DenseMatrix
    >>> DistributedRows(DenseMatrix(np.eye(2)), Ranks(Single())).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, part: Any, ranks: Ranks, stands_for: Any = None) -> None:
        self.part, self.ranks = part, ranks
        self._whole = stands_for
        counts, domain, dtype = _described(part, ranks)
        self.counts = counts
        """Measurements of each rank."""
        first = int(counts[: ranks.rank].sum())
        self.own = slice(first, first + int(counts[ranks.rank]))
        """Where this rank's measurements are among all."""
        super().__init__(domain, (int(counts.sum()),), dtype)
        self._watch = Watch(ranks)
        self._kind: tuple[bool, Any] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        return int(getattr(self.part, "nbytes", 0))

    @property
    def stands_for(self) -> Any:
        """What a checkpoint takes this for: the same whatever the number of ranks (which all ask for it)."""
        if self._whole is not None:
            return self._whole
        own = None if self.part is None else self.part.identity(self.own.start)
        known = [one for one in self.ranks.objects(own) if one is not None]
        return (*known[0][:-1], sum(one[-1] for one in known) % (1 << 64))

    def image(self, atom: Any) -> Array:
        """Return the images of all ranks, one after the other."""
        values = np.empty(self.codomain, self.dtype)
        if self.part is not None:
            values[self.own] = self.part.image(atom)
        return self.ranks.completed(values, self.counts)

    def adjoint(self, dual: Array) -> Any:
        """Return the sum of the ranks' adjoints: arrays are added up here, operators at every product."""
        vector = np.asarray(dual)
        if vector.shape != self.codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {vector.shape}")
        self._watch(vector)
        own = None if self.part is None else self.part.adjoint(vector[self.own])
        dense, dtype = self._kind_of(own)
        if not dense:
            return SummedOperator(own, self.domain, dtype, self.ranks)
        return self.ranks.summed(np.zeros(self.domain, dtype) if own is None else own)

    def _kind_of(self, own: Any) -> tuple[bool, Any]:
        """Return whether adjoints are arrays, and their dtype: asked once, since a rank without a part cannot know."""
        if self._kind is None:
            kinds: list[Any] = self.ranks.objects(None if own is None else (isinstance(own, np.ndarray), own.dtype))
            self._kind = next(kind for kind in kinds if kind is not None)
        assert self._kind is not None
        return self._kind


class SummedOperator(MatrixOperator):
    """The sum of the ranks' matrices, through its products.

    >>> from unipd.cluster.world import Single
    >>> SummedOperator(np.eye(2), (2, 2), np.float64, Ranks(Single())).matvec(np.ones(2))
    array([1., 1.])
    """

    def __init__(self, own: Any, shape: Any, dtype: Any, ranks: Ranks) -> None:
        super().__init__(tuple(shape), dtype)
        self._own, self._ranks = own, ranks

    def matmat(self, x: Array) -> Array:
        """Return M X."""
        from unipd.atoms import apply

        nothing = np.zeros((self.shape[0], x.shape[1]), self.dtype)
        return self._ranks.summed(nothing if self._own is None else np.asarray(apply(self._own, x)))

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X."""
        nothing = np.zeros((self.shape[1], x.shape[1]), self.dtype)
        return self._ranks.summed(nothing if self._own is None else np.asarray(apply_adjoint(self._own, x)))

    def frobenius(self) -> float:
        """Return the sum of the ranks' bounds."""
        own = 0.0 if self._own is None else frobenius_bound(self._own)
        return float(self._ranks.joined(np.array([own])).sum())


def _described(part: Any, ranks: Ranks) -> tuple[Any, Any, np.dtype[Any]]:
    """Return the ranks' counts, and domain and dtype, which must be the same on all that have measurements."""
    own = None if part is None else (part.codomain, part.domain, np.dtype(part.dtype))
    known = ranks.objects(own)
    some = [one for one in known if one is not None]
    if not some:
        raise InvalidInput("map", "measurements on some rank", "none")
    for codomain, domain, dtype in some:
        if len(codomain) != 1 or domain != some[0][1] or dtype != some[0][2]:
            raise InvalidInput("map", "images that are vectors, of points of one shape and dtype", f"{codomain, dtype}")
    counts = np.array([0 if one is None else one[0][0] for one in known], np.int64)
    return counts, some[0][1], some[0][2]
