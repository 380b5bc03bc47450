"""Maps on several ranks, and how a map, a separable oracle or a whole problem is divided among them.

Rows of any map, blocks of maps and of oracles; of the Pauli map and the semidefinite map, products with the adjoint are
divided too.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.context import subscribe
from unipd.cluster.communicator import Distributed, Ranks, assign_evenly, contiguous_bounds, require_same, shares
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
from unipd.maps.base import frobenius_bound
from unipd.maps.compose import dual_part
from unipd.maps.pauli import DenseOperator, HermitianOperator, PauliMap
from unipd.maps.pauli.layout import BLOCK_BITS, LONGEST, list_keys, longest_light
from unipd.maps.pauli.map import pauli_norm_bound
from unipd.maps.pauli.strings import bit_count
from unipd.maps.sdp import CostAndConstraintsMap
from unipd.problem import Problem
from unipd.protocols import SharpAnswer
from unipd.sharp.product import Product, sum_answers
from unipd.spectral import SymmetricOperator
from unipd.spectral.operators import LazyMatrix


class DistributedRows(Distributed, Map):
    """A x = (A_0 x, A_1 x, ...), rank r with the map A_r; the adjoint is the sum of the ranks' adjoints.

    Parameters
    ----------
    part
        This rank's map, with images that are vectors; None when it has no measurements.
    ranks
        The ranks.
    whole
        The undivided map, which checkpoints compare; None where no rank has it.

    See Also
    --------
    SummedOperator, distribute

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> from unipd.maps import DenseMatrix
    >>> DistributedRows(DenseMatrix(np.eye(2)), Ranks(SingleProcess())).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, part: Any, ranks: Ranks, whole: Any = None) -> None:
        self.part, self.ranks, self.whole = part, ranks, whole
        self.work, domain, dtype = _agree_on_shapes(part, ranks)
        self.own = ranks.local_slice(self.work)
        """Positions of this rank's measurements."""
        super().__init__(domain, (int(self.work.sum()),), dtype)
        self._heights = _find_row_blocks(part, domain, ranks)
        self._kind: Any = None
        """Whether adjoints are arrays, and their dtype, once known."""

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        return 0 if self.part is None else self.part.nbytes

    @property
    def checkpoint_identity(self) -> Any:
        """What a checkpoint compares, the same for any number of ranks; a collective operation."""
        if self.whole is not None:
            return self.whole
        own = None if self.part is None else self.part.identity(self.own.start)
        known = [one for one in self.ranks.allgather_objects(own) if one is not None]
        return (*known[0][:-1], sum(one[-1] for one in known) % (1 << 64))

    def image(self, atom: Any) -> Array:
        """Return the images of all ranks, concatenated."""
        own = np.zeros(0) if self.part is None else self.part.image(atom)
        return self.ranks.allgather(own.astype(self.dtype, copy=False), self.work)

    def adjoint(self, dual: Array) -> Any:
        """Return the sum of the ranks' adjoints: arrays are added up here, operators at every product."""
        vector = self._check_dual(dual)
        self.require_same_dual(vector)
        own = None if self.part is None else self.part.adjoint(vector[self.own])
        if self._kind is None:  # exchanged once, for ranks without measurements
            kind = None if own is None else (isinstance(own, np.ndarray), own.dtype)
            self._kind = next(one for one in self.ranks.allgather_objects(kind) if one is not None)
        is_array, dtype = self._kind
        if not is_array:
            return SummedOperator(own, self.domain, dtype, self.ranks, self._heights)
        return self.ranks.allreduce(np.zeros(self.domain, dtype) if own is None else own)


class SummedOperator(LazyMatrix):
    """The sum of the ranks' matrices, through its products; a rank without measurements has none.

    Where rank r has the nonzero rows of a block of ``heights[r]`` rows, M x is gathered, which is faster.

    Parameters
    ----------
    own
        This rank's matrix; None without measurements.
    shape
        Shape of the sum.
    dtype
        Data type of the sum.
    ranks
        The ranks.
    heights
        Rows of each rank's block, where the ranks' nonzero rows do not overlap.

    See Also
    --------
    DistributedRows, unipd.maps.OperatorSum

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> from unipd.maps import Sampling
    >>> own = Sampling([0, 1], [1, 0], (2, 2)).adjoint(np.array([3.0, 4.0]))
    >>> SummedOperator(own, (2, 2), np.float64, Ranks(SingleProcess())).matvec(np.array([1.0, 2.0]))
    array([6., 4.])
    """

    def __init__(self, own: Any, shape: Any, dtype: Any, ranks: Ranks, heights: IntArray | None = None) -> None:
        super().__init__(tuple(shape), dtype)
        self._own, self._ranks, self._heights = own, ranks, heights

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        vector = np.reshape(x, -1)
        return self._join_rows(self._zeros(0, vector) if self._own is None else self._own.matvec(vector))

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        vector = np.reshape(x, -1)
        return self._ranks.allreduce(self._zeros(1, vector) if self._own is None else self._own.rmatvec(vector))

    def matmat(self, x: Array) -> Array:
        """Return M X."""
        return self._join_rows(self._zeros(0, x) if self._own is None else self._own.matmat(x))

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X."""
        return self._ranks.allreduce(self._zeros(1, x) if self._own is None else self._own.rmatmat(x))

    def _zeros(self, axis: int, x: Array) -> Array:
        return np.zeros((self.shape[axis], *x.shape[1:]), np.result_type(self.dtype, x))

    def _join_rows(self, product: Array) -> Array:
        if self._heights is None:
            return self._ranks.allreduce(product)
        return self._ranks.allgather(product[self._ranks.local_slice(self._heights)], self._heights)

    def frobenius(self) -> float:
        """Return the sum of the ranks' bounds."""
        own = 0.0 if self._own is None else frobenius_bound(self._own)
        return float(self._ranks.allgather(np.array([own])).sum())


def _agree_on_shapes(part: Any, ranks: Ranks) -> tuple[Any, Any, np.dtype[Any]]:
    """Return the ranks' counts, and domain and dtype, which must be the same on all that have measurements."""
    own = None if part is None else (part.domain, np.dtype(part.dtype), part.codomain)
    known = ranks.allgather_objects(own)
    kinds = [one for one in known if one is not None]
    if not kinds:
        raise InvalidInput("map", "measurements on some rank", "none")
    for *kind, codomain in kinds:
        if len(codomain) != 1 or tuple(kind) != kinds[0][:2]:
            raise InvalidInput("map", "vectors as images, of points of one shape and dtype", f"{codomain, kind}")
    counts = np.array([0 if one is None else one[2][0] for one in known], np.int64)
    return counts, *kinds[0][:2]


def _find_row_blocks(part: Any, domain: Any, ranks: Ranks) -> IntArray | None:
    """Return the heights of consecutive blocks of rows, one for each rank, if the ranks sample those; else None."""
    rows = part.rows if isinstance(part, Sampling) else None
    ends: list[Any] = ranks.allgather_objects(None if rows is None else (int(rows.min()), int(rows.max())))
    last = [-1]  # row of each rank
    for pair in ends:
        if pair is not None and pair[0] <= last[-1]:
            return None
        last.append(last[-1] if pair is None else pair[1])
    if last[-1] < 0:
        return None
    last[-1] = domain[0] - 1
    return np.diff(last)


class DistributedPauliMap(Distributed, PauliMap):
    """A Pauli map whose strings are divided by x masks: a rank makes the tables of its own strings only.

    A product adds the ranks' vectors (p numbers are exchanged), an image concatenates their values (n numbers).

    Parameters
    ----------
    map
        The whole map; its strings are not sorted for the kernels.
    ranks
        The ranks.
    """

    def __init__(self, map: PauliMap, ranks: Ranks) -> None:
        method = "dense" if map.dense else "matrix-free"
        super().__init__(map.qubits, map.x, map.z, map.precision, map.threads, method=method)
        require_same(ranks, "the Pauli map", {"qubits": map.qubits, "x": map.x, "z": map.z, "precision": map.precision})
        self.whole, self.ranks = map, ranks
        parts = partition_strings(self.qubits, self.x, self.z, ranks.size, single=self.precision == "single")
        self.work = np.array([part.size for part in parts], np.int64)
        self._order: IntArray = np.concatenate(parts).astype(np.int32)
        self._mine: IntArray = parts[ranks.rank]
        self.part: PauliMap | None = None
        if self._mine.size:
            x, z = self.x[self._mine], self.z[self._mine]
            self.part = PauliMap(self.qubits, x, z, self.precision, self.threads, method=method)

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        return self.x.nbytes + self.z.nbytes + self._order.nbytes + (0 if self.part is None else self.part.nbytes)

    def adjoint(self, dual: Array) -> HermitianOperator:
        """Return sum_k lam_k P_k; its products are exchanged."""
        vector = validate.real_array("dual", dual, shape=self.codomain)
        self.require_same_dual(vector)
        own = None if self.part is None else self.part.adjoint(vector[self._mine])
        if self.dense:
            matrix = np.zeros(self.domain, self.operator_dtype) if own is None else own.toarray()
            return DenseOperator(self.ranks.allreduce(matrix))
        return _DistributedOperator(self, own, vector)

    def image(self, atom: Any) -> FloatArray:
        """Return Re tr(P_k X)."""
        own = np.empty(0) if self.part is None else self.part.image(atom)
        result = np.empty(self.codomain)
        result[self._order] = self.ranks.allgather(own, self.work)
        return result


class _DistributedOperator(HermitianOperator):
    """The sum of the ranks' operators."""

    def __init__(self, map: DistributedPauliMap, own: HermitianOperator | None, dual: Array) -> None:
        super().__init__(map.domain[0], map.operator_dtype)
        self._ranks, self._own = map.ranks, own
        self._bound = pauli_norm_bound(dual, self.shape[0], map.repeats, self.dtype)

    def norm_bound(self) -> float:
        """Return the bound of :class:`~unipd.maps.pauli.PauliOperator` for all strings."""
        return self._bound

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        vector = self._check_vector(x)
        own = np.zeros(self.shape[0], self.dtype) if self._own is None else self._own.matvec(vector)
        return self._ranks.allreduce(own)

    def matmat(self, x: Array) -> Array:
        """Return M X, in one exchange."""
        block = np.asarray(x)
        own = np.zeros(block.shape, self.dtype) if self._own is None else self._own.matmat(block)
        return np.asfortranarray(self._ranks.allreduce(own.T).T)


def partition_strings(qubits: int, x: IntArray, z: IntArray, parts: int, *, single: bool = True) -> list[IntArray]:
    """Return the strings of each rank: whole groups of x masks in the kernels' order, about equal work each.

    The kernels sweep the vector once for a pair of masks x and x ^ 32 (more than once for many strings), whatever
    the strings: sweeps are the work that is balanced.

    Parameters
    ----------
    qubits
        The number of qubits.
    x
        x masks of the strings.
    z
        z masks of the strings.
    parts
        Number of ranks.
    single
        Whether kernels work in single precision.

    See Also
    --------
    contiguous_bounds, unipd.maps.PauliMap

    Examples
    --------
    >>> [part.tolist() for part in partition_strings(6, np.array([0, 1, 2, 1]), np.zeros(4, np.int64), 2)]
    [[0, 1, 3], [2]]
    """
    key = list_keys(qubits, x, z, bit_count(x & z), lanes=8 if single else 4)
    order = np.argsort(key >> 3, kind="stable")
    key = key[order]
    is_first = np.diff(key >> 3, prepend=-1) != 0
    first = np.flatnonzero(is_first)
    slot = 8 * (np.cumsum(is_first) - 1) + (key & 7)
    longest = np.bincount(slot, minlength=8 * first.size).reshape(-1, 8).max(axis=1)
    work = np.where(longest > longest_light(max(qubits, BLOCK_BITS)), 1 + qubits, -(-longest // LONGEST))
    cuts = np.append(first, x.size)[contiguous_bounds(work, parts)]
    return [order[cuts[rank] : cuts[rank + 1]] for rank in range(parts)]


@dataclass(frozen=True, eq=False)
class RowsOperator(SymmetricOperator):
    """A symmetric matrix with a block of rows on each rank: ``starts``, ``indices`` and ``data`` are local."""

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
    def checkpoint_identity(self) -> SymmetricOperator:
        """The whole matrix, which checkpoints compare; a collective operation."""
        heights, indices, data = (
            self.ranks.allgather(part) for part in (np.diff(self.starts), self.indices, self.data)
        )
        starts = np.concatenate([[0], np.cumsum(heights)]).astype(self.starts.dtype)
        return SymmetricOperator(starts, indices, data, self.vectors, self.coefficients)

    @cached_property
    def sparse_part(self) -> Any:
        """The rows of M on this rank."""
        return sp.csr_array((self.data, self.indices, self.starts), shape=(self.starts.size - 1, self.order))

    def diagonal(self) -> Array:
        """Return the diagonal entries: the ranks' own, concatenated."""
        first = int(self.bounds[self.ranks.rank])
        own = self.sparse_part.diagonal(k=first)[: self.starts.size - 1]
        entries = self.ranks.allgather(own, np.diff(self.bounds))
        return entries + self.vectors**2 @ self.coefficients

    def tocsr(self) -> Any:
        """Return S as a SciPy CSR array."""
        return self.checkpoint_identity.tocsr()

    def toarray(self) -> Array:
        """Return S as an array."""
        return self.checkpoint_identity.toarray()

    def _sparse_product(self, other: Array) -> Array:
        return self.ranks.allgather(super()._sparse_product(other), np.diff(self.bounds))


class DistributedSdpMap(Distributed, Map):
    """A(X)_i = <A_i, X>, with the constraints divided for images and the rows of the matrix for the adjoint.

    Each number is computed on one rank, as a single process does: results are the same to the last bit.

    Parameters
    ----------
    map
        The whole map; each rank keeps the data of its parts.
    ranks
        The ranks.
    """

    def __init__(self, map: SdpMap, ranks: Ranks) -> None:
        super().__init__(map.domain, map.codomain, map.dtype)
        matrix, pattern = map.matrix, map.pattern
        arrays = {"order": map.domain, "places": pattern.indices, "values": matrix.data, "vectors": pattern.vectors}
        require_same(ranks, "the semidefinite map", arrays)
        self.whole, self.ranks = map, ranks
        rows = contiguous_bounds(np.diff(matrix.indptr) + 1, ranks.size)
        self._counts = np.diff(rows)
        first, last = int(rows[ranks.rank]), int(rows[ranks.rank + 1])
        own: Any = matrix[first:last]
        pairs = np.unique(own.indices)
        self._matrix: Any = own[:, pairs]
        terms = (pattern.owners >= first) & (pattern.owners < last)
        self._image_pattern = replace(
            pattern,
            rows=pattern.rows[pairs],
            cols=pattern.cols[pairs],
            owners=pattern.owners[terms] - first,
            coefficients=pattern.coefficients[terms],
            vectors=np.ascontiguousarray(pattern.vectors[:, terms]),
        )
        self._lines = contiguous_bounds(np.diff(pattern.starts) + 1, ranks.size)
        self.work = self._counts + np.diff(self._lines)
        low, high = int(self._lines[ranks.rank]), int(self._lines[ranks.rank + 1])
        places = slice(int(pattern.starts[low]), int(pattern.starts[high]))
        needed, source = np.unique(pattern.source[places], return_inverse=True)
        self._transposed: Any = sp.csr_array(matrix[:, needed].T)
        self._weights = map.weights[needed]
        self._adjoint_pattern = replace(
            pattern,
            starts=pattern.starts[low : high + 1] - pattern.starts[low],
            indices=pattern.indices[places].copy(),
            source=source.reshape(-1),
            rows=np.zeros(0, np.int32),
            cols=np.zeros(0, np.int32),
        )

    @property
    def nbytes(self) -> int:
        """Bytes on this rank."""
        held = sum(part.data.nbytes + part.indices.nbytes for part in (self._matrix, self._transposed))
        return held + self._image_pattern.nbytes + self._adjoint_pattern.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(X); for an X that is not symmetric, the image of its symmetric part."""
        self._check_atom(atom)
        entries, quadratic = self._image_pattern.products(atom)
        out = self._matrix @ entries
        if quadratic.size:
            out[self._image_pattern.owners] += self._image_pattern.coefficients * quadratic
        return self.ranks.allgather(out, self._counts)

    def adjoint(self, dual: Array) -> RowsOperator:
        """Return A^*(lam) = sum_i lam_i A_i as an operator."""
        lam = self._check_dual(dual)
        self.require_same_dual(lam)
        values = (self._transposed @ lam) * self._weights
        own = self._adjoint_pattern.adjoint(values, lam)
        parts = (own.starts, own.indices, own.data, own.vectors, own.coefficients)
        return RowsOperator(*parts, order=self.domain[0], bounds=self._lines, ranks=self.ranks)


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
    if isinstance(map, np.ndarray) or sp.issparse(map):
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
    ((DenseMatrix, SparseMatrix, RankOneMeasurements), _distribute_rows),
    (TwoSidedMap, _distribute_two_sided),
    (Stacked, lambda map, ranks: Stacked([distribute(part, ranks) for part in map.maps])),
    (BlockMap, _distribute_blocks),
    (Product, DistributedProduct),
)
