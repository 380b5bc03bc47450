"""The Pauli map on several ranks: each has the tables of its own x masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray, IntArray
from unipd.cluster.agreement import Watch, require_same
from unipd.cluster.balance import contiguous
from unipd.cluster.ranks import Ranks
from unipd.maps.pauli import DenseOperator, HermitianOperator, PauliMap
from unipd.maps.pauli.layout import BLOCK_BITS, LONGEST, longest_light
from unipd.maps.pauli.strings import bit_count


class DistributedPauliMap(PauliMap):
    """A Pauli map whose strings are divided by x masks: a rank makes the tables of its own strings only.

    A product adds the ranks' vectors up (p numbers are exchanged), an image joins their values (n numbers).

    Parameters
    ----------
    map
        The whole map; its tables are not made.
    ranks
        The ranks.
    """

    def __init__(self, map: PauliMap, ranks: Ranks) -> None:
        method = "dense" if map.dense else "matrix-free"
        super().__init__(map.qubits, map.x, map.z, map.precision, map.threads, method=method)
        require_same(ranks, "the Pauli map", {"qubits": map.qubits, "x": map.x, "z": map.z, "precision": map.precision})
        self.stands_for = map
        """What a checkpoint takes this for: the same whatever the number of ranks."""
        self.ranks = ranks
        parts = divided(self.qubits, self.x, self.z, ranks.size, single=self.precision == "single")
        self.counts = np.array([part.size for part in parts], np.int64)
        """Strings of each rank."""
        self._order: IntArray = np.concatenate(parts).astype(np.int32)
        self._mine: IntArray = parts[ranks.rank]
        self.part: PauliMap | None = None
        if self._mine.size:
            x, z = self.x[self._mine], self.z[self._mine]
            self.part = PauliMap(self.qubits, x, z, self.precision, self.threads, method=method)
        own = 1 if self.part is None else self.part.repeats
        self._most = int(ranks.joined(np.array([own], np.int64)).max())
        self._watch = Watch(ranks)

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        return self.x.nbytes + self.z.nbytes + self._order.nbytes + (0 if self.part is None else self.part.nbytes)

    def adjoint(self, dual: Array) -> HermitianOperator:
        """Return sum_k lam_k P_k; its products are exchanged."""
        vector = validate.real_array("dual", dual, shape=self.codomain)
        self._watch(vector)
        own = None if self.part is None else self.part.adjoint(vector[self._mine])
        if self.dense:
            kind = np.complex64 if self.precision == "single" else np.complex128
            matrix = np.zeros(self.domain, kind) if own is None else own.toarray()
            return DenseOperator(self.ranks.summed(matrix))
        return _DistributedOperator(self, own, vector, self._most)

    def image(self, atom: Any) -> FloatArray:
        """Return Re tr(P_k X)."""
        own = np.empty(0) if self.part is None else self.part.image(atom)
        result = np.empty(self.codomain)
        result[self._order] = self.ranks.joined(own, self.counts)
        return result


class _DistributedOperator(HermitianOperator):
    """The sum over the ranks of their own operators."""

    def __init__(self, map: DistributedPauliMap, own: HermitianOperator | None, dual: Array, repeats: int) -> None:
        super().__init__(map.domain[0], np.complex64 if map.precision == "single" else np.complex128)
        self._ranks = map.ranks
        self._own = own
        frobenius = math.sqrt(self.shape[0] * repeats) * float(np.linalg.norm(dual))
        allowance = 1.0 + 64.0 * float(np.finfo(self.dtype).eps)
        self._bound = min(float(np.abs(dual).sum()), frobenius) * allowance

    def norm_bound(self) -> float:
        """Return the bound of :class:`~unipd.maps.pauli.PauliOperator` for all strings."""
        return self._bound

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        vector = self._checked(x)
        own = np.zeros(self.shape[0], self.dtype) if self._own is None else self._own.matvec(vector)
        return self._ranks.summed(own)

    def matmat(self, x: Array) -> Array:
        """Return M X, exchanged in one go."""
        block = np.asarray(x)
        own = np.zeros(block.shape, self.dtype) if self._own is None else self._own.matmat(block)
        return np.asfortranarray(self._ranks.summed(own.T).T)


def divided(qubits: int, x: IntArray, z: IntArray, parts: int, *, single: bool = True) -> list[IntArray]:
    """Return the strings of each rank: whole groups of x masks in the kernels' order, about equal work each.

    The kernels sweep the vector once for a pair of masks x and x ^ 32 (more than once for many strings), whatever
    the strings: sweeps are the work that is balanced.

    >>> [part.tolist() for part in divided(6, np.array([0, 1, 2, 1]), np.zeros(4, np.int64), 2)]
    [[0, 1, 3], [2]]
    """
    lanes, low = (8, 3) if single else (4, 2)
    unit = (x >> low) & ((1 << (5 - low)) - 1)
    pair = ((((x & (lanes - 1)) << max(qubits - BLOCK_BITS, 0)) | (x >> BLOCK_BITS)) << (5 - low)) | unit
    order = np.argsort(pair, kind="stable")
    first = np.flatnonzero(np.diff(pair[order], prepend=-1))
    group = np.cumsum(np.diff(pair[order], prepend=-1) != 0) - 1
    power = bit_count(x & z) & 1
    slot = 8 * group + (((x >> 5) & 1) * 4 + power * 2 + ((z >> 5) & 1))[order]
    longest = np.bincount(slot, minlength=8 * first.size).reshape(-1, 8).max(axis=1)
    work = np.where(longest > longest_light(max(qubits, BLOCK_BITS)), 1 + qubits, -(-longest // LONGEST))
    cuts = np.append(first, x.size)[contiguous(work, parts)]
    return [order[cuts[rank] : cuts[rank + 1]] for rank in range(parts)]
