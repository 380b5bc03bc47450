"""Distribute a map, a separable oracle or a whole problem among the ranks."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from unipd._typing import Array, IntArray
from unipd._util.context import subscribe
from unipd.cluster.communicator import Ranks, assign_evenly, shares
from unipd.cluster.consistency import Distributed, require_same
from unipd.cluster.maps import DistributedPauliMap, DistributedRows, DistributedSdpMap
from unipd.errors import InvalidInput
from unipd.maps import (
    BlockMap,
    DenseMatrix,
    Map,
    RankOneMeasurements,
    Sampling,
    SdpMap,
    SparseMatrix,
    Stacked,
    TwoSidedMap,
    as_map,
)
from unipd.maps.compose import dual_part
from unipd.maps.pauli import PauliMap
from unipd.maps.sdp import CostAndConstraintsMap, ReducedMap
from unipd.problem import Problem
from unipd.protocols import SharpAnswer
from unipd.sharp.product import Product, sum_answers

REBALANCE = 16
"""Calls after which the blocks are reassigned by the time that they took."""


class LazyBlocks(Sequence[Any]):
    """The adjoints of the blocks, each computed on first use.

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


class DistributedBlockMap(Distributed, BlockMap):
    """A x = sum_i A_i x_i with the blocks divided: images are added, adjoints computed where they are used."""

    def __init__(self, map: BlockMap, ranks: Ranks) -> None:
        super().__init__(map.maps)
        self.whole, self.ranks = map, ranks
        owners = assign_evenly([_size(part.domain) for part in self.maps], ranks.size)
        self.work = np.bincount(owners, minlength=ranks.size)
        self._mine = np.flatnonzero(owners == ranks.rank).tolist()

    def image(self, atom: Any) -> Array:
        """Return sum_i A_i x_i."""
        return self.ranks.allreduce(self._sum_images(atom, self._mine))

    def adjoint(self, dual: Array) -> Any:
        """Return the blocks' adjoints, computed on first use."""
        self.require_same_dual(np.asarray(dual))
        maps = self.maps
        return LazyBlocks(len(maps), lambda index: maps[index].adjoint(dual_part(maps[index], dual)))


class DistributedProduct(Distributed, Product):
    """A product of oracles, each called by one rank; answers are exchanged.

    The blocks are assigned by size first, and every few calls again by the time that they took. Answers are combined in
    the order of the blocks, so that only the time depends on the assignment.
    """

    def __init__(self, product: Product, ranks: Ranks) -> None:
        super().__init__(product.oracles, product.threads)
        self.whole, self.ranks = product, ranks
        self.owners: IntArray = assign_evenly([_size(oracle.shape) for oracle in self.oracles], ranks.size)
        self.work = np.bincount(self.owners, minlength=ranks.size)
        self._times = np.zeros(len(self.oracles))
        self._calls = 0

    def _answer_blocks(self, method: str, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        directions = self._parts(direction)
        starts = [None] * len(self.oracles) if start is None else self._parts(start)
        share = tolerance / len(self.oracles)
        answers: list[SharpAnswer] = []
        mine = np.flatnonzero(self.owners == self.ranks.rank)
        with subscribe(None):  # all ranks check a time limit together, never inside one rank's blocks
            for index in mine.tolist():
                oracle = getattr(self.oracles[index], method)
                begun = time.perf_counter()
                answers.append(oracle(directions[index], tolerance=share, start=starts[index]))
                self._times[index] += time.perf_counter() - begun
        by_rank = [answer for theirs in self.ranks.allgather_objects(answers) for answer in theirs]
        order = np.argsort(np.argsort(self.owners, kind="stable"))  # block i among the answers, rank by rank
        self._balance()
        return sum_answers([by_rank[place] for place in order.tolist()])

    def _balance(self) -> None:
        self._calls += 1
        if self.ranks.size > 1 and self._calls % REBALANCE == 0:
            self.owners = assign_evenly(self.ranks.allreduce(self._times), self.ranks.size)
            self._times[:] = 0.0


def _size(shape: Any) -> float:
    """Return the number of entries of a block (of blocks)."""
    return float(sum(_size(part) for part in shape)) if shape and isinstance(shape[0], tuple) else math.prod(shape)


SPLITTABLE = (
    "a map that can be distributed: PauliMap, Sampling, SdpMap, DenseMatrix, SparseMatrix, RankOneMeasurements, or a "
    "BlockMap, Stacked or TwoSidedMap of these"
)


def distribute(map: Any, comm: Any = None) -> Any:
    """Return a map with the same images and products, computed by all ranks together.

    Every rank calls this with the same map, and from then on the same methods in the same order, as a solver does. (A
    Pauli map sorts its strings at the first product: each rank sorts its own only.)

    Parameters
    ----------
    map
        The map, or a NumPy or SciPy matrix; a :class:`~unipd.sharp.product.Product` of oracles is divided by blocks.
    comm
        An mpi4py communicator, or :class:`Ranks`; default: all processes.

    Raises
    ------
    InvalidInput
        If the map cannot be divided.

    See Also
    --------
    distribute_problem, DistributedRows

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> from unipd.maps import DenseMatrix
    >>> distribute(DenseMatrix(np.eye(2)), Ranks(SingleProcess())).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    ranks = as_ranks(comm)
    if isinstance(map, np.ndarray) or issparse(map):
        map = as_map(map)
    if isinstance(map, Distributed):
        return map
    for kind, divide in _DISTRIBUTORS:
        if isinstance(map, kind):
            return divide(map, ranks)
    raise InvalidInput("map", SPLITTABLE, type(map).__name__)


def distribute_problem(problem: Problem, comm: Any = None) -> Problem:
    """Return the same problem with its map, and a product of oracles, divided among the ranks.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    comm
        An mpi4py communicator; default: all processes.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem.

    See Also
    --------
    distribute, run, session

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> unipd.solve(distribute_problem(problem)).status.success
    True
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", type(problem).__name__)
    ranks = as_ranks(comm)
    facts = {"b": problem.b, "coupling": type(problem.coupling).__name__, "set": type(problem.sharp).__name__}
    require_same(ranks, "the problem", facts)
    sharp: Any = problem.sharp
    map = distribute(problem.map, ranks)
    if isinstance(sharp, Product) and isinstance(map, DistributedBlockMap):
        sharp = DistributedProduct(sharp, ranks)
    elif sharp.cost_map is problem.map:
        sharp = copy.copy(sharp)
        sharp.cost_map, sharp.linear_cost, sharp.cost = map, map.cost, map.cost
    other = copy.copy(problem)
    other.map, other.sharp = map, sharp
    return other


def as_ranks(comm: Any) -> Ranks:
    """Return the ranks of a communicator."""
    return comm if isinstance(comm, Ranks) else Ranks(comm)


def idle_ranks(map: Any) -> int:
    """Return the number of ranks without any part of a distributed map: more ranks than work are allowed.

    Parameters
    ----------
    map
        A map that :func:`distribute` returned.

    See Also
    --------
    distribute, Ranks

    Examples
    --------
    >>> idle_ranks("a map of one process")
    0
    """
    if isinstance(map, Distributed):
        return int(np.sum(map.work == 0))
    return max((idle_ranks(part) for part in map.inner_parts), default=0) if isinstance(map, Map) else 0


def _distribute_rows(map: DenseMatrix | SparseMatrix | RankOneMeasurements, ranks: Ranks) -> DistributedRows:
    """Distribute a matrix, or rank-one measurements, by rows."""
    own = ranks.local_slice(shares(map.codomain[0], ranks.size))
    kind: Any = DenseMatrix
    if isinstance(map, RankOneMeasurements):
        kind, arrays = RankOneMeasurements, {"left": map.left, "right": map.right}
        part = (map.left[own].copy(), None if map.right is map.left else map.right[own].copy())
    elif isinstance(map, SparseMatrix):
        kind, arrays = SparseMatrix, {"values": map.matrix.data, "places": map.matrix.indices}
        part = (map.matrix.tocsr()[own], map.domain)
    else:
        arrays, part = {"A": map.matrix}, (map.matrix[own].copy(), map.domain)
    require_same(ranks, "the map", arrays)
    return DistributedRows(kind(*part) if own.stop > own.start else None, ranks, map)


def _distribute_sampling(map: Sampling, ranks: Ranks) -> DistributedRows:
    """Distribute sampled entries: whole rows of the matrix if the entries are sorted by rows."""
    rows, cols = map.rows, map.cols
    require_same(ranks, "the sampling map", {"shape": map.domain, "rows": rows, "cols": cols})
    cuts = np.cumsum(shares(rows.size, ranks.size))[:-1]
    if np.all(rows[1:] >= rows[:-1]):
        cuts = np.searchsorted(rows, rows[np.minimum(cuts, rows.size - 1)])
    own = slice(*np.concatenate([[0], cuts, [rows.size]])[ranks.rank : ranks.rank + 2].tolist())
    if own.start == own.stop:
        return DistributedRows(None, ranks, map)
    part = Sampling(rows[own], cols[own], map.domain, map.dtype, threads=map.pattern.threads)
    return DistributedRows(part, ranks, map)


def _distribute_two_sided(map: TwoSidedMap, ranks: Ranks) -> TwoSidedMap:
    other = copy.copy(map)
    other.map = distribute(map.map, ranks)
    return other


def _distribute_blocks(map: BlockMap, ranks: Ranks) -> BlockMap:
    """Assign whole blocks where there are enough of them, else distribute every block."""
    if len(map.maps) >= ranks.size:
        return DistributedBlockMap(map, ranks)
    return BlockMap([distribute(part, ranks) for part in map.maps])


_DISTRIBUTORS: tuple[tuple[Any, Callable[[Any, Ranks], Any]], ...] = (
    (PauliMap, DistributedPauliMap),
    (Sampling, _distribute_sampling),
    (SdpMap, DistributedSdpMap),
    (CostAndConstraintsMap, lambda map, ranks: CostAndConstraintsMap(distribute(map.cost_and_constraints, ranks))),
    (ReducedMap, lambda map, ranks: ReducedMap(distribute(map.unreduced, ranks), map.reflection)),
    ((DenseMatrix, SparseMatrix, RankOneMeasurements), _distribute_rows),
    (TwoSidedMap, _distribute_two_sided),
    (Stacked, lambda map, ranks: Stacked([distribute(part, ranks) for part in map.maps])),
    (BlockMap, _distribute_blocks),
    (Product, DistributedProduct),
)
