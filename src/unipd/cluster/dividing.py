"""Divide a map, an oracle or a whole problem among ranks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from unipd.apps.sdp.face import FacedMap
from unipd.apps.sdp.joint import JointMap
from unipd.cluster.agreement import require_same
from unipd.cluster.balance import shares
from unipd.cluster.blocks import DistributedBlockMap, DistributedProduct
from unipd.cluster.pauli import DistributedPauliMap
from unipd.cluster.ranks import Ranks
from unipd.cluster.rows import DistributedRows
from unipd.cluster.sampling import DistributedSampling
from unipd.cluster.sdp import DistributedSdpMap
from unipd.errors import InvalidInput
from unipd.maps import BlockMap, DenseMatrix, Sampling, Sandwich, SparseMatrix, Stacked
from unipd.maps.convert import as_map
from unipd.maps.pauli import PauliMap
from unipd.maps.rank_one import RankOneMeasurements
from unipd.maps.sdp import SdpMap
from unipd.problem import Problem
from unipd.sharp.product import Product

SPLITTABLE = (
    "a map that can be divided: PauliMap, Sampling, SdpMap, DenseMatrix, SparseMatrix, RankOneMeasurements, or a "
    "BlockMap, Stacked or Sandwich of these"
)
_DONE = (DistributedPauliMap, DistributedSampling, DistributedSdpMap, DistributedRows, DistributedBlockMap)


def distribute(map: Any, comm: Any = None) -> Any:
    """Return a map with the same images and products, computed by all ranks together.

    Every rank calls this with the same map (a Pauli map makes its tables at the first product, so that each rank makes
    its own only) and from then on every rank calls the same methods in the same order, as a solver does by itself.

    Parameters
    ----------
    map
        The map, or a NumPy or SciPy matrix; a :class:`~unipd.sharp.product.Product` of oracles is divided by blocks.
    comm
        An mpi4py communicator, or :class:`Ranks`; default: all processes.

    Examples
    --------
    >>> from unipd.cluster.world import Single
    >>> from unipd.maps import DenseMatrix
    >>> distribute(DenseMatrix(np.eye(2)), Ranks(Single())).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    ranks = as_ranks(comm)
    if isinstance(map, np.ndarray) or issparse(map):
        map = as_map(map)
    if isinstance(map, _DONE):
        return map
    for kind, divide in _WAYS:
        if isinstance(map, kind):
            return divide(map, ranks)
    raise InvalidInput("map", SPLITTABLE, type(map).__name__)


def distribute_problem(problem: Problem, comm: Any = None) -> Problem:
    """Return the same problem with its map, and a product of oracles, divided among the ranks."""
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", type(problem).__name__)
    ranks = as_ranks(comm)
    facts = {"b": problem.b, "coupling": type(problem.coupling).__name__, "set": type(problem.sharp).__name__}
    require_same(ranks, "the problem", facts)
    sharp: Any = problem.sharp
    map = distribute(problem.map, ranks)
    if isinstance(sharp, Product) and isinstance(map, DistributedBlockMap):
        sharp = DistributedProduct(sharp, ranks)
    elif getattr(sharp, "joint", None) is problem.map:
        sharp = copy.copy(sharp)
        sharp.joint, sharp.cost = map, map.cost
    other = copy.copy(problem)
    other.map, other.sharp = map, sharp
    return other


def as_ranks(comm: Any) -> Ranks:
    """Return the ranks of a communicator."""
    return comm if isinstance(comm, Ranks) else Ranks(comm)


def idle_ranks(map: Any) -> int:
    """Return how many ranks have no part of a distributed map: more ranks than work are allowed.

    >>> idle_ranks("a map of one process")
    0
    """
    held = getattr(map, "parts", getattr(map, "counts", None))
    if held is not None:
        return int(np.sum(np.asarray(held) == 0))
    if isinstance(map, DistributedBlockMap):
        return map.ranks.size - np.unique(map.owners).size
    inner = [getattr(map, name, None) for name in ("extended", "joint", "map")]
    inner += list(getattr(map, "maps", ()))
    return max((idle_ranks(part) for part in inner if part is not None), default=0)


def _rows_of_dense(map: DenseMatrix, ranks: Ranks) -> DistributedRows:
    own = _own_rows(map.matrix.shape[0], ranks)
    require_same(ranks, "the matrix", {"A": map.matrix})
    return _rows(lambda: DenseMatrix(map.matrix[own].copy(), map.domain), own, map, ranks)


def _rows_of_sparse(map: SparseMatrix, ranks: Ranks) -> DistributedRows:
    own = _own_rows(map.matrix.shape[0], ranks)
    require_same(ranks, "the matrix", {"values": map.matrix.data, "places": map.matrix.indices})
    return _rows(lambda: SparseMatrix(map.matrix.tocsr()[own], map.domain), own, map, ranks)


def _rows_of_rank_one(map: RankOneMeasurements, ranks: Ranks) -> DistributedRows:
    own = _own_rows(map.left.shape[0], ranks)
    require_same(ranks, "the measurements", {"left": map.left, "right": map.right})
    right = None if map.right is map.left else map.right[own].copy()
    return _rows(lambda: RankOneMeasurements(map.left[own].copy(), right), own, map, ranks)


def _rows(make: Callable[[], Any], own: slice, whole: Any, ranks: Ranks) -> DistributedRows:
    return DistributedRows(make() if own.stop > own.start else None, ranks, whole)


def _own_rows(count: int, ranks: Ranks) -> slice:
    ends = np.cumsum(shares(count, ranks.size))
    return slice(int(ends[ranks.rank] - shares(count, ranks.size)[ranks.rank]), int(ends[ranks.rank]))


def _joint(map: JointMap, ranks: Ranks) -> JointMap:
    return JointMap(distribute(map.extended, ranks))


def _faced(map: FacedMap, ranks: Ranks) -> FacedMap:
    return FacedMap(_joint(map.joint, ranks), map.reflection)


def _sandwich(map: Sandwich, ranks: Ranks) -> Sandwich:
    other = copy.copy(map)
    other.map = distribute(map.map, ranks)
    return other


def _stacked(map: Stacked, ranks: Ranks) -> Stacked:
    return Stacked([distribute(part, ranks) for part in map.maps])


def _blocks(map: BlockMap, ranks: Ranks) -> BlockMap:
    """Divide by blocks where there are enough of them, else divide every block."""
    if len(map.maps) >= ranks.size:
        return DistributedBlockMap(map, ranks)
    return BlockMap([distribute(part, ranks) for part in map.maps])


_WAYS: tuple[tuple[Any, Callable[[Any, Ranks], Any]], ...] = (
    (PauliMap, DistributedPauliMap),
    (Sampling, DistributedSampling.of),
    (SdpMap, DistributedSdpMap),
    (JointMap, _joint),
    (FacedMap, _faced),
    (DenseMatrix, _rows_of_dense),
    (SparseMatrix, _rows_of_sparse),
    (RankOneMeasurements, _rows_of_rank_one),
    (Sandwich, _sandwich),
    (Stacked, _stacked),
    (BlockMap, _blocks),
    (Product, DistributedProduct),
)
