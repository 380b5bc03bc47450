"""Separable problems on several ranks: blocks of x, with their oracles, divided and balanced."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.atoms import Blocks
from unipd.cluster.agreement import Watch
from unipd.cluster.balance import scattered
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput
from unipd.maps.blocks import BlockMap
from unipd.protocols import SharpAnswer
from unipd.pulse import listening
from unipd.sharp.product import Product, summed_answers

REBALANCE = 16
"""Calls after which the blocks are divided anew, by the time that they took."""


class LazyBlocks(Sequence[Any]):
    """The adjoints of the blocks, each computed when it is asked for and kept.

    >>> LazyBlocks(2, lambda index: 10 * index)[1]
    10
    """

    def __init__(self, count: int, make: Any) -> None:
        self._make = make
        self._parts: list[Any] = [None] * count

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        if self._parts[index] is None:
            self._parts[index] = self._make(index)
        return self._parts[index]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


class DistributedBlockMap(BlockMap):
    """A x = sum_i A_i x_i with the blocks divided: images are added up, adjoints made where they are needed."""

    def __init__(self, map: BlockMap, ranks: Ranks) -> None:
        super().__init__(map.maps)
        self.stands_for = map
        """What a checkpoint takes this for: the same whatever the number of ranks."""
        self.ranks = ranks
        self.owners: IntArray = scattered([_size(part.domain) for part in self.maps], ranks.size)
        self._mine = np.flatnonzero(self.owners == ranks.rank).tolist()
        self._watch = Watch(ranks)

    def image(self, atom: Any) -> Array:
        """Return sum_i A_i x_i."""
        parts = atom.parts if hasattr(atom, "parts") else atom
        if len(parts) != len(self.maps):
            raise InvalidInput("x", f"{len(self.maps)} blocks", f"{len(parts)}")
        total = np.zeros(self.codomain, self.dtype)
        for index in self._mine:
            total += self.maps[index].image(parts[index])
        return self.ranks.summed(total)

    def adjoint(self, dual: Array) -> Any:
        """Return the blocks' adjoints, made when they are asked for."""
        self._watch(np.asarray(dual))
        real = np.real(dual)

        def make(index: int) -> Any:
            part = self.maps[index]
            return part.adjoint(dual if part.dtype.kind == "c" else real)

        return LazyBlocks(len(self.maps), make)


class DistributedProduct(Product):
    """A product of oracles, each asked by one rank; answers are handed round in buffers.

    The blocks are divided by their sizes first, and every few calls anew by the time that they took. Answers are
    joined in the order of the blocks, so that nothing but the time depends on who asked which oracle.
    """

    def __init__(self, product: Product, ranks: Ranks) -> None:
        super().__init__(product.oracles, product.threads)
        self.stands_for = product
        """What a checkpoint takes this for: the same whatever the number of ranks."""
        self.ranks = ranks
        self.owners: IntArray = scattered([_size(oracle.shape) for oracle in self.oracles], ranks.size)
        self._times = np.zeros(len(self.oracles))
        self._calls = 0

    def _joined(self, method: str, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        directions = self._parts(direction)
        starts = [None] * len(self.oracles) if start is None else self._parts(start)
        share = tolerance / len(self.oracles)
        answers: list[SharpAnswer] = []
        mine = np.flatnonzero(self.owners == self.ranks.rank)
        with listening(None):  # a time limit is looked at by all ranks together, never inside one rank's blocks
            for index in mine.tolist():
                oracle = getattr(self.oracles[index], method, self.oracles[index])
                begun = time.perf_counter()
                answers.append(oracle(directions[index], tolerance=share, start=starts[index]))
                self._times[index] += time.perf_counter() - begun
        everything: list[Any] = [None] * len(self.oracles)
        for rank, theirs in enumerate(self.ranks.objects(_columns(answers))):
            for index, answer in zip(np.flatnonzero(self.owners == rank).tolist(), _rows(theirs), strict=True):
                everything[index] = answer
        self._balance()
        return summed_answers(everything)

    def _balance(self) -> None:
        self._calls += 1
        if self.ranks.size > 1 and self._calls % REBALANCE == 0:
            self.owners = scattered(self.ranks.summed(self._times), self.ranks.size)
            self._times[:] = 0.0


def _columns(answers: list[SharpAnswer]) -> Any:
    """Return answers as few arrays: equal shapes are stacked, numbers put in one table."""
    atoms = [answer.atom for answer in answers]
    table = np.array([[a.value, a.objective, a.error, a.matvecs] for a in answers], np.float64).reshape(-1, 4)
    bounds = [answer.bound for answer in answers]
    kinds = {(atom.shape, atom.dtype) if isinstance(atom, np.ndarray) else None for atom in atoms}
    stacked = np.stack(atoms) if len(kinds) == 1 and None not in kinds else atoms
    return stacked, table, bounds[0] if len(set(bounds)) == 1 else bounds


def _rows(columns: Any) -> list[SharpAnswer]:
    atoms, table, bounds = columns
    kinds = [bounds] * len(table) if isinstance(bounds, str) else bounds
    rows = zip(atoms, table.tolist(), kinds, strict=True)
    return [SharpAnswer(atom, *numbers[:3], matvecs=int(numbers[3]), bound=kind) for atom, numbers, kind in rows]


def _size(shape: Any) -> float:
    """Return the number of entries of a block (of blocks)."""
    return float(sum(_size(part) for part in shape)) if shape and isinstance(shape[0], tuple) else math.prod(shape)


__all__ = ["Blocks", "DistributedBlockMap", "DistributedProduct", "LazyBlocks"]
