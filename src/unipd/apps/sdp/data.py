"""The data of a semidefinite program: blocks of variables, linear constraints with lower and upper bounds.

With the way to and from SDPA's pair of problems and SeDuMi's cones, and to equations over one vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unipd import couplings
from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.io import CbfProblem, SdpaProblem
from unipd.maps.sdp import Entries, SdpMap
from unipd.protocols import Coupling
from unipd.scales import ZERO_OBJECTIVE, nearest_end
from unipd.spectral import CONDITIONAL, PROBABILISTIC, SymmetricOperator

if TYPE_CHECKING:
    from unipd.io import SedumiProblem

PSD, NONNEGATIVE, SECOND_ORDER, FREE = "psd", "nonnegative", "second_order", "free"
KINDS = (PSD, NONNEGATIVE, SECOND_ORDER, FREE)
"""Kinds of blocks: a psd matrix, a vector x >= 0, a vector with x_1 >= ||(x_2, ..., x_k)||, a vector without bounds."""
DENSE_ORDER = 3000
"""Largest order at which blocks are cut out of one dense matrix."""


@dataclass(frozen=True)
class Block:
    """Position and kind of a block in a block diagonal matrix; vectors are the diagonals of their blocks.

    Parameters
    ----------
    start
        First row of the block.
    size
        Number of its rows.
    kind
        "psd", "nonnegative", "second_order" or "free".

    See Also
    --------
    SdpData

    Examples
    --------
    >>> Block(3, 2).rows, Block(5, 4, "free").is_vector
    (slice(3, 5, None), True)
    """

    start: int
    size: int
    kind: str = PSD

    @property
    def is_vector(self) -> bool:
        """Whether only the diagonal counts."""
        return self.kind != PSD

    @property
    def rows(self) -> slice:
        """Rows of the whole matrix that belong to the block."""
        return slice(self.start, self.start + self.size)


def list_blocks(sizes: Sequence[int]) -> tuple[Block, ...]:
    """Return blocks of these sizes, one after another, in SDPA's way: negative for vectors of nonnegative entries."""
    starts = np.cumsum([0, *(abs(size) for size in sizes)]).tolist()
    return tuple(Block(start, abs(k), PSD if k > 1 else NONNEGATIVE) for start, k in zip(starts, sizes, strict=False))


@dataclass(frozen=True, eq=False)
class SdpData:
    """min <C, X> subject to lower_i <= <A_i, X> <= upper_i for i = 1, ..., m, X of order n in a product of cones.

    Several blocks form one matrix, of which the data involves the diagonal blocks only. Each block is a psd matrix or
    a vector on the diagonal: nonnegative, in a second-order cone, or free. Where all blocks are psd or nonnegative, X
    may be any psd matrix, since diagonal blocks of a psd matrix are psd.

    Parameters
    ----------
    order
        n, the order of X.
    cost
        The nonzeros of C, as constraint 0.
    constraints
        The nonzeros of A_1, ..., A_m, counting from zero.
    lower, upper
        Bounds of <A_i, X>, infinite where there is none.
    blocks
        The blocks of X, one after another; by default a single one.

    Raises
    ------
    InvalidInput
        If blocks do not cover the order, entries lie outside them, or numbers are too large to be squared.

    See Also
    --------
    Block, unipd.SDP, unipd.maps.sdp.Entries

    Examples
    --------
    >>> data = SdpData(2, Entries.from_matrices([np.diag([1.0, 2.0])]), Entries.from_matrices([np.eye(2)]),
    ...                np.ones(1), np.ones(1))
    >>> data.cost_and_constraints.image(np.eye(2))
    array([3., 2.])
    """

    order: int
    cost: Entries
    constraints: Entries
    lower: Array
    upper: Array
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        if not self.blocks:
            object.__setattr__(self, "blocks", (Block(0, self.order),))
        self._check_blocks()
        for name, values in (("C", self.cost.value), ("A", self.constraints.value), ("b", self.b)):
            largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
            if largest > validate.LARGEST_ENTRY:
                expected = f"numbers up to {validate.LARGEST_ENTRY:.0e}, whose squares can be added up"
                raise InvalidInput(name, expected, f"{largest:g}")

    def _check_blocks(self) -> None:
        """Raise unless the blocks cover the order, one after another, and the entries lie inside them."""
        starts = np.cumsum([0, *(block.size for block in self.blocks)])
        if [block.start for block in self.blocks] != starts[:-1].tolist() or starts[-1] != self.order:
            raise InvalidInput("blocks", f"blocks one after another of order {self.order} in all", repr(self.blocks))
        for block in self.blocks:
            validate.choice("kind", block.kind, KINDS)
        owners = self.owners
        is_vector = np.array([block.is_vector for block in self.blocks])
        for name, entries in (("C", self.cost), ("A", self.constraints)):
            if entries.value.size and max(entries.row.max(), entries.col.max()) >= self.order:
                raise InvalidInput(name, f"matrices of order {self.order}", "an entry outside")
            outside = owners[entries.row] != owners[entries.col]
            outside |= is_vector[owners[entries.row]] & (entries.row != entries.col)
            if outside.any():
                place = int(np.flatnonzero(outside)[0])
                got = f"the entry ({entries.row[place]}, {entries.col[place]})"
                raise InvalidInput(name, "entries inside blocks, and on the diagonal in those of vectors", got)

    @property
    def size(self) -> int:
        """Number of constraints."""
        return int(self.lower.size)

    @cached_property
    def is_psd(self) -> bool:
        """Whether X is psd as a whole: no block is free or in a second-order cone."""
        return all(block.kind in (PSD, NONNEGATIVE) for block in self.blocks)

    @cached_property
    def owners(self) -> IntArray:
        """The block of every row of X."""
        return np.repeat(np.arange(len(self.blocks)), [block.size for block in self.blocks])

    @cached_property
    def is_used(self) -> Array:
        """Which blocks have entries in some constraint; X is 0 in the others, or unbounded."""
        return np.bincount(self.owners[self.constraints.row], minlength=len(self.blocks)) > 0

    @cached_property
    def is_bounding(self) -> Array:
        """Which blocks limit the multipliers: those of cones that constraints have entries in."""
        return np.array([block.kind != FREE for block in self.blocks]) & self.is_used

    @cached_property
    def penalises_trace(self) -> bool:
        """Whether C is diagonal and positive, as for a nuclear norm: the cost of X bounds its trace."""
        is_diagonal = self.cost.row == self.cost.col
        entries = np.bincount(self.cost.row, self.cost.value, minlength=self.order)
        return self.is_psd and bool(is_diagonal.all()) and bool((entries > 0.0).all())

    @cached_property
    def equal(self) -> Array:
        """Which constraints are equations."""
        return self.lower == self.upper

    @cached_property
    def b(self) -> Array:
        """The right-hand sides: the upper bound where it is finite, else the lower."""
        return np.where(np.isfinite(self.upper), self.upper, self.lower)

    @cached_property
    def cost_and_constraints(self) -> SdpMap:
        """X -> (<C, X>, A(X)) on one sparsity pattern; C + A^*(lam) is its adjoint at (1, lam)."""
        return SdpMap((self.order, self.order), self.all_entries, self.size + 1)

    @property
    def all_entries(self) -> Entries:
        """Those of C, as constraint 0, and of A_1, ..., A_m."""
        return Entries.concatenate([self.cost, replace(self.constraints, constraint=self.constraints.constraint + 1)])

    @cached_property
    def diagonals(self) -> Any:
        """CSR matrix with the diagonal of each A_i that is diagonal; rows of the others are empty."""
        return self.cost_and_constraints.diagonals()[1:]

    @cached_property
    def norms(self) -> Array:
        """Frobenius norms of A_1, ..., A_m, 1 for a zero matrix."""
        norms = self.cost_and_constraints.frobenius_norms()[1:]
        return np.where(norms > 0.0, norms, 1.0)

    @property
    def unit_constraints(self) -> Entries:
        """The constraints divided by their norms."""
        return replace(self.constraints, value=self.constraints.value / self.norms[self.constraints.constraint])

    @cached_property
    def natural_trace(self) -> float:
        """The least trace that some right-hand side requires, max_i |b_i| / ||A_i||; 1 where all are zero."""
        return float(np.max(np.abs(self.b) / self.norms)) or 1.0

    def coupling(self, scales: Array) -> Coupling:
        """Return the set of feasible residuals A(X) - b, with rows divided by the scales."""
        if self.equal.all():
            return couplings.Equality()
        below = self.lower - self.b
        above = np.where(np.isfinite(self.upper), 0.0, np.inf)
        return couplings.Box(below / scales, above / scales)

    def violation(self, image: Array) -> Array:
        """Return the distance of each <A_i, X> from its bounds."""
        return np.maximum(np.maximum(self.lower - image, image - self.upper), 0.0)

    def relative_norm(self, residual: Array) -> float:
        """Return the norm of a residual in units in which every A_i has norm 1."""
        return float(np.linalg.norm(residual / self.norms))

    def feasibility_scale(self, image: Array) -> float:
        """Return what infeasibility is relative to, as :meth:`unipd.Problem.equilibrated_scale` does."""
        target = np.clip(image, self.lower, self.upper)
        held = np.minimum(np.abs(target), nearest_end([self.lower, self.upper]))
        return max(self.least_scale, self.relative_norm(np.where(target == image, held, np.abs(target))))

    @cached_property
    def least_scale(self) -> float:
        """The least scale of infeasibility: the violation of X = 0, else the bound nearest to 0 that is not 0.

        It is 1 where all are zero: X may then have any size.
        """
        nearest = float(nearest_end(np.append(self.lower / self.norms, self.upper / self.norms)))
        return self.relative_norm(self.violation(np.zeros(self.size))) or nearest or 1.0

    def gap_scale(self, objective: float) -> float:
        """Return what the gap is relative to: no bound on X matters."""
        natural = self.least_scale * float(np.linalg.norm(self.cost.value)) or 1.0
        return max(abs(objective), ZERO_OBJECTIVE * natural)

    def support_of_bounds(self, y: Array) -> float:
        """Return the largest value of sum_i y_i <A_i, X> that the bounds allow.

        >>> one = Entries.from_matrices([np.eye(1)])
        >>> SdpData(1, one, one, np.array([-1.0]), np.array([2.0])).support_of_bounds(np.array([-3.0]))
        3.0
        """
        above, below = y > 0.0, y < 0.0
        return float(y[above] @ self.upper[above] + y[below] @ self.lower[below])

    def clip_signs(self, dual: Array) -> Array:
        """Return multipliers with the signs that the bounds require: y_i >= 0 without a lower bound, for instance."""
        least = np.where(np.isfinite(self.lower), -np.inf, 0.0)
        return np.clip(dual, least, np.where(np.isfinite(self.upper), np.inf, 0.0))

    def slack(self, dual: Array) -> SymmetricOperator:
        """Return S = C + sum y_i A_i as an operator."""
        return self.cost_and_constraints.adjoint(np.concatenate([np.ones(1), dual]))

    def point(self, parts: Sequence[Array]) -> LowRank:
        """Return X as factors, from its blocks: psd matrices as arrays, vectors as vectors.

        All blocks share their columns, since products between different blocks do not count. Negative entries of
        vectors have a column of weight -1.

        >>> entries = Entries([0, 0, 0], [0, 1, 2], [0, 1, 2], [1.0, 1.0, 1.0])
        >>> data = SdpData(3, entries, entries, np.ones(1), np.ones(1), (Block(0, 2), Block(2, 1, FREE)))
        >>> point = data.point([np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-3.0])])
        >>> data.block(point, 0).round(9), data.block(point, 1).round(9)
        (array([[2., 1.],
               [1., 2.]]), array([-3.]))
        """
        width = max([1, *(block.size for block in self.blocks if not block.is_vector)])
        left, weights = np.zeros((self.order, width + 1)), np.ones(width + 1)
        weights[-1] = -1.0
        for block, part in zip(self.blocks, parts, strict=True):
            if block.is_vector:
                left[block.rows, 0] = np.sqrt(np.maximum(part, 0.0))
                left[block.rows, -1] = np.sqrt(np.maximum(-part, 0.0))
            else:
                left[block.rows, : block.size] = _factorise(part)
        used = slice(None) if left[:, -1].any() else slice(0, width)
        factor = left[:, used]
        return LowRank(factor, factor, weights[used])

    def block(self, x: LowRank, index: int) -> Array:
        """Return one block of X: a matrix, or a vector."""
        block = self.blocks[index]
        rows = x.left[block.rows]
        return (rows**2) @ x.weights if block.is_vector else (rows * x.weights) @ rows.T

    def without_cost(self) -> SdpData:
        """Return the program with C = 0."""
        return replace(self, cost=self.cost.select(slice(0, 0)))

    def without(self, row: int) -> SdpData:
        """Return the program without one constraint."""
        rest = self.constraints.select(self.constraints.constraint != row)
        entries = replace(rest, constraint=rest.constraint - (rest.constraint > row))
        return replace(self, constraints=entries, lower=np.delete(self.lower, row), upper=np.delete(self.upper, row))


@dataclass(frozen=True)
class TraceBound:
    """tr X = value, or tr X <= value, for every feasible X; with other cones the size, as ``cones`` defines it."""

    value: float
    """inf where the dual bound of a result holds for X of any trace."""
    fixed: bool
    """Whether the trace is exactly this."""
    reason: str
    """Where the bound comes from, for messages."""
    multipliers: Array | None = field(default=None, repr=False)
    """y with sum_i y_i A_i >= I (= I for a fixed trace), which proves the bound; None: not proved."""

    @property
    def statement(self) -> str:
        """What a result must state about a bound that the constraints alone do not imply; else empty."""
        if self.multipliers is not None or not math.isfinite(self.value):
            return ""
        return f" The dual bound holds for X of trace at most {self.value:.6g}, {self.reason}."

    def condition(self, kind: str) -> tuple[str, str]:
        """Return the kind of a dual bound that rests on this, and what a result must state about it.

        >>> TraceBound(2.0, False, "a guess").condition("rigorous")
        ('conditional', ' The dual bound holds for X of trace at most 2, a guess.')
        """
        if not self.statement:
            return kind, ""
        return CONDITIONAL, self.statement + (" It is wrong with probability 1e-9." if kind == PROBABILISTIC else "")


def _factorise(matrix: Array) -> Array:
    """Return R with R R^T = M for a psd matrix, up to rounding."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]


def split_blocks(blocks: Sequence[Block], operator: Any) -> list[Array]:
    """Return the diagonal blocks of a symmetric operator or array: matrices, and diagonals of vectors."""
    if isinstance(operator, np.ndarray):
        whole: Any = operator
    else:
        whole = operator.tocsr() if operator.shape[0] > DENSE_ORDER else operator.toarray()
    diagonal = np.asarray(whole.diagonal())
    parts: list[Array] = []
    for block in blocks:
        part: Any = diagonal[block.rows] if block.is_vector else whole[block.rows, block.rows]
        parts.append(part.toarray() if sp.issparse(part) else part)
    return parts


def measure_size(data: SdpData, x: LowRank) -> float:
    """Return the size of X: traces, sums of nonnegative and first entries of second-order vectors, moduli of free ones.

    For a psd matrix that is the trace.
    """
    diagonal = (x.left**2) @ x.weights
    total = 0.0
    for block in data.blocks:
        part = diagonal[block.rows]
        total += float(part[0] if block.kind == SECOND_ORDER else np.abs(part).sum())
    return total


def data_from_sdpa(problem: SdpaProblem) -> SdpData:
    """Return max <F_0, Y>, <F_i, Y> = b_i as min <-F_0, X>, with all blocks in one matrix.

    >>> problem = SdpaProblem([1.0], (1, -2), [0, 1], [1, 0], [1, 0], [1, 0], [2.0, 1.0])
    >>> data = data_from_sdpa(problem)
    >>> data.order, data.cost.row, data.cost.value
    (3, array([2], dtype=int32), array([-2.]))
    """
    blocks = list_blocks(problem.block_sizes)
    starts = np.array([block.start for block in blocks])
    row, col = problem.row + starts[problem.block], problem.col + starts[problem.block]
    merged, is_cost = Entries(problem.constraint, row, col, problem.value), problem.constraint == 0
    cost, rest = merged.select(is_cost), merged.select(~is_cost)
    constraints = replace(rest, constraint=rest.constraint - 1)
    order = blocks[-1].rows.stop
    return SdpData(order, replace(cost, value=-cost.value), constraints, problem.b, problem.b, blocks)


def data_from_sedumi(problem: SedumiProblem) -> SdpData:
    """Return min c^T x, A x = b, x in K with all cones as blocks of one matrix.

    >>> from unipd.io import SedumiProblem
    >>> problem = SedumiProblem([[1.0, 0.0, 2.0, 2.0, 0.0]], [1.0], [0.0, 1.0, 0.0, 0.0, 1.0], free=1, psd=(2,))
    >>> data = data_from_sedumi(problem)
    >>> [block.kind for block in data.blocks], data.constraints.row, data.constraints.col, data.constraints.value
    (['free', 'psd'], array([0, 1], dtype=int32), array([0, 2], dtype=int32), array([1., 2.]))
    """
    cones = [(problem.free, FREE), (problem.nonnegative, NONNEGATIVE)]
    cones += [(size, SECOND_ORDER) for size in problem.second_order]
    cones += [(size, PSD if size > 1 else NONNEGATIVE) for size in problem.psd]
    blocks: list[Block] = []
    for size, kind in cones:
        if size:
            blocks.append(Block(blocks[-1].rows.stop if blocks else 0, size, kind))
    if not blocks:
        raise InvalidInput("K", "at least one variable", "none")

    def convert(matrix: Any) -> Entries:
        row, col = problem.places(matrix.col)
        return Entries(matrix.row, row, col, matrix.data).select(row <= col)

    cost, constraints = convert(sp.coo_array(problem.c[None])), convert(problem.A.tocoo())
    return SdpData(blocks[-1].rows.stop, cost, constraints, problem.b, problem.b, tuple(blocks))


def data_from_cbf(problem: CbfProblem) -> SdpData:
    """Return a program of the Conic Benchmark Format as a minimisation.

    >>> one = Entries([0], [0], [0], [2.0])
    >>> data_from_cbf(CbfProblem((("free", 1),), one, one, np.ones(1), np.ones(1), maximise=True)).cost.value
    array([-2.])
    """
    starts = np.cumsum([0, *(size for _, size in problem.blocks)]).tolist()
    blocks = tuple(Block(start, size, kind) for start, (kind, size) in zip(starts, problem.blocks, strict=False))
    cost = replace(problem.cost, value=-problem.cost.value) if problem.maximise else problem.cost
    return SdpData(starts[-1], cost, problem.constraints, problem.lower, problem.upper, blocks)


def to_equations(data: SdpData) -> SdpData:
    """Return the program with equations only: a slack variable per inequality, and an equation more per range.

    The slacks are one nonnegative block at the end. A range becomes <A, X> + s = u, and s + t = u - l after all others.
    """
    if data.equal.all():
        return data
    has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
    rows = np.flatnonzero(~data.equal & (has_lower | has_upper))
    ranges = np.flatnonzero(~data.equal & has_lower & has_upper)
    slacks, extra = data.order + np.arange(rows.size), data.order + rows.size + np.arange(ranges.size)
    second = data.size + np.arange(ranges.size)
    constraint = np.concatenate([rows, second, second])
    place = np.concatenate([slacks, slacks[np.searchsorted(rows, ranges)], extra])
    value = np.concatenate([np.where(has_upper[rows], 1.0, -1.0), np.ones(2 * ranges.size)])
    entries = Entries.concatenate([data.constraints, Entries(constraint, place, place, value)])
    b = np.concatenate([data.b, data.upper[ranges] - data.lower[ranges]])
    blocks = (*data.blocks, Block(data.order, rows.size + ranges.size, NONNEGATIVE))
    whole = SdpData(data.order + rows.size + ranges.size, data.cost, entries, b, b, blocks)
    kept = np.concatenate([data.equal | has_lower | has_upper, np.ones(ranges.size, bool)])
    for row in np.flatnonzero(~kept)[::-1]:  # constraints without bounds
        whole = whole.without(int(row))
    return whole


def sdpa_from_data(data: SdpData) -> SdpaProblem:
    """Return max <-C, Y>, <A_i, Y> = b_i in SDPA's convention; free variables are differences of nonnegative ones.

    The format has no second-order cones: a program with some is refused.

    >>> one = Entries.from_matrices([np.eye(2)])
    >>> sdpa_from_data(SdpData(2, one, one, np.array([-np.inf]), np.array([1.0])))
    SdpaProblem(m=1, block_sizes=(2, -1), entries=5)
    """
    program = to_equations(data)
    if any(block.kind == SECOND_ORDER for block in program.blocks):
        expected = "a program without second-order cones, which the SDPA format does not have (SeDuMi's has)"
        raise InvalidInput("problem", expected, "a second-order cone")
    merged = Entries.concatenate(
        [
            replace(program.cost, value=-program.cost.value),
            replace(program.constraints, constraint=program.constraints.constraint + 1),
        ]
    )
    owner, sizes = program.owners, np.array([block.size for block in program.blocks])
    start, is_free = np.cumsum([0, *sizes])[:-1], np.array([block.kind == FREE for block in program.blocks])
    block = owner[merged.row]
    places = [merged.constraint, block, merged.row - start[block], merged.col - start[block], merged.value]
    negative = is_free[block]
    mirrored = [part[negative] for part in places]
    mirrored[2], mirrored[3] = (part + sizes[mirrored[1]] for part in mirrored[2:4])
    mirrored[4] = -mirrored[4]
    signed = [
        block.size if block.kind == PSD else -(2 * block.size if block.kind == FREE else block.size)
        for block in program.blocks
    ]
    return SdpaProblem(program.b, signed, *(np.concatenate(pair) for pair in zip(places, mirrored, strict=True)))


class Columns:
    """The variables of a program as one vector, in SeDuMi's order: free, nonnegative, second-order, psd in full.

    Blocks that are not ``present`` have none: X is 0 there.
    """

    def __init__(self, data: SdpData, present: Array | None = None) -> None:
        self.data, self.size = data, 0
        self.is_present = np.ones(len(data.blocks), bool) if present is None else present
        self.start = np.zeros(len(data.blocks), np.int64)
        self.sizes: dict[str, list[int]] = {kind: [] for kind in (FREE, NONNEGATIVE, SECOND_ORDER, PSD)}
        for kind, sizes in self.sizes.items():
            for index, block in enumerate(data.blocks):
                if block.kind == kind and self.is_present[index]:
                    sizes.append(block.size)
                    self.start[index] = self.size
                    self.size += block.size if block.is_vector else block.size**2

    def matrix(self, entries: Entries, rows: int) -> Any:
        """Return matrices of the program as rows over the vector."""
        blocks = self.data.blocks
        entries = entries.select(self.is_present[self.data.owners[entries.row]])
        block = self.data.owners[entries.row]
        first = np.array([block.start for block in blocks])[block]
        width = np.array([0 if block.is_vector else block.size for block in blocks])[block]
        row, col, start = entries.row - first, entries.col - first, self.start[block]
        is_twice = row != col
        index = (
            np.concatenate([entries.constraint, entries.constraint[is_twice]]),
            np.concatenate([start + row + width * col, (start + col + width * row)[is_twice]]),
        )
        return sp.csr_array((np.concatenate([entries.value, entries.value[is_twice]]), index), shape=(rows, self.size))

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the vector of the blocks of X that are present."""
        order = np.argsort(self.start, kind="stable")
        return np.concatenate([parts[index].ravel() for index in order[self.is_present[order]]])

    def parts(self, x: Array) -> list[Array]:
        """Return the blocks of X."""
        parts: list[Array] = []
        for block, start, is_present in zip(self.data.blocks, self.start, self.is_present, strict=True):
            if block.is_vector:
                parts.append(x[start : start + block.size])
            elif not is_present:
                parts.append(np.zeros((block.size, block.size)))
            else:
                matrix = x[start : start + block.size**2].reshape(block.size, block.size)
                parts.append(0.5 * (matrix + matrix.T))
        return parts


def sedumi_from_data(data: SdpData) -> SedumiProblem:
    """Return min c^T x, A x = b, x in K in SeDuMi's convention, with blocks in its order.

    >>> one = Entries.from_matrices([np.eye(2)])
    >>> sedumi_from_data(SdpData(2, one, one, np.array([-np.inf]), np.array([1.0])))
    SedumiProblem(m=1, free=0, nonnegative=1, second_order=(), psd=(2,))
    """
    from unipd.io import SedumiProblem

    program = to_equations(data)
    columns = Columns(program)
    free, nonnegative, second_order, psd = columns.sizes.values()
    cost = columns.matrix(program.cost, 1).toarray()[0]
    matrix = columns.matrix(program.constraints, program.size)
    return SedumiProblem(matrix, program.b, cost, sum(free), sum(nonnegative), second_order, psd)
