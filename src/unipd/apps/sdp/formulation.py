"""From the data of a program to the template: presolve, trace bound, scaled problem, and the method that suits it.

Presolve finds constraints that contradict each other, and two kinds of structure. A relaxation with a border (X_00 = t,
and X_ii = k_i X_0i for every other row) is, in the variables Y with X = T Y T^T, a program whose diagonal is fixed: the
factored method holds all these constraints by construction. A constraint <v v^T, X> = 0 on a psd X means X v = 0, so
X = Q Z Q^T with Q a basis of the complement of v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.arrays import distinct
from unipd._util.context import current_communicator
from unipd.apps.sdp.data import SdpData, TraceBound
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps.compose import TwoSidedMap
from unipd.maps.sdp import CostAndConstraintsMap, Entries, Reflection
from unipd.methods import Factored
from unipd.methods.factored.fixed_diagonal import Groups, find_groups
from unipd.problem import Problem
from unipd.run import Result
from unipd.sharp.spectral.factors import SpectralFactors, drop_weak_columns, random_block
from unipd.sharp.spectral.sdp import BoundedTrace, FixedTrace, SdpCost
from unipd.spectral import SymmetricOperator
from unipd.status import Status

LSQR_STEPS = 100
"""Most steps of the least-squares problem whose residual exposes inconsistent equations."""
LARGEST_CHECKED_DATA = 2_000_000
"""Most entries of the constraints for that check, which takes about a second here."""
ZERO_COMBINATION = 1e-11
"""Frobenius norm of a unit combination of matrices of unit norm that counts as zero."""
TRACE_ROUNDING = 1e-9
"""A user's trace bound may fall below a trace that the constraints fix by this share of it (printed digits)."""
LEAST_COVER = 0.5
"""A linear program for a cover of at least 1 that returns less than this has failed."""
REGULARISATION = 5.0
"""Of the preconditioner: multipliers hide the scales of the columns, so they are hardly evened out."""
LEAST_FIXED_COLUMNS = 12
"""Fewest initial columns of R with rows of fixed length, enough for graphs of a few hundred nodes."""
TRACE_COLUMNS = 20
"""Initial columns of R where the cost bounds the trace: programs such as least nuclear norms are to have low rank."""
COLUMNS_PER_ROOT = 0.44
"""Columns of R with rows of fixed length suffice when they are this, times n^0.14, over the root of the accuracy."""
MEMORY = 15
"""Pairs of the quasi-Newton directions of an augmented Lagrangian."""
WARM_SHARE = 1e-4
"""Share of ||R||^2 given to random columns next to those of an earlier solution: they must be able to grow."""


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A proof that no X is feasible."""

    message: str
    dual: Array
    """y with sum_i y_i A_i = 0 and, for every feasible X, sum_i y_i <A_i, X> < 0."""


def find_contradiction(data: SdpData, accuracy: float) -> Contradiction | None:
    """Return a proof that the constraints contradict each other, whether X is psd or not; else None.

    >>> from unipd.apps.sdp import SDP
    >>> zero_row = SDP.from_matrices(np.eye(2), [np.eye(2), np.zeros((2, 2))], [1.0, 3.0])
    >>> find_contradiction(zero_row.data, 1e-6).message
    'No X is feasible: A_2 is zero, but constraint 2 requires <A_2, X> = 3.'
    >>> inconsistent = SDP.from_matrices(np.eye(2), [np.eye(2), 2.0 * np.eye(2)], [1.0, 3.0])
    >>> find_contradiction(inconsistent.data, 1e-6).message[:55]
    'No X is feasible: the equations contradict each other, '
    """
    return _find_zero_row(data) or _find_inconsistent_equations(data, accuracy)


def _find_zero_row(data: SdpData) -> Contradiction | None:
    """Return the proof of a constraint with A_i = 0 whose bounds exclude zero."""
    wrong = (data.cost_and_constraints.frobenius_norms()[1:] == 0.0) & ((data.lower > 0.0) | (data.upper < 0.0))
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    above, name = bool(data.lower[row] > 0.0), row + 1
    sense = "=" if data.equal[row] else ">=" if above else "<="
    value = data.lower[row] if above else data.upper[row]
    message = f"No X is feasible: A_{name} is zero, but constraint {name} requires <A_{name}, X> {sense} {value:.6g}."
    return Contradiction(message, (-1.0 if above else 1.0) * np.eye(1, data.size, row)[0])


def _find_inconsistent_equations(data: SdpData, accuracy: float) -> Contradiction | None:
    """Return the proof of equations that no symmetric X meets to the accuracy.

    The residual of min ||A(X) - b|| over symmetric X gives y with A^*(y) = 0 and b^T y < 0. Every X then has
    ||A(X) - b|| >= |b^T y| / ||y||, in units in which every A_i has norm 1.
    """
    if data.constraints.value.size > LARGEST_CHECKED_DATA:
        return None
    rows, b = list_equations(data), np.where(data.equal, data.b / data.norms, 0.0)
    if rows.nnz == rows.shape[1]:  # an entry of X is in one equation at most, so each can be met by itself
        return None
    from scipy.sparse.linalg import lsqr

    rest = b - rows @ lsqr(rows, b, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=LSQR_STEPS)[0]
    size = float(np.linalg.norm(rest))
    if size == 0.0 or float(np.linalg.norm(rows.T @ rest)) > ZERO_COMBINATION * size:
        return None
    y = -rest / data.norms
    if float(rest @ b) <= accuracy * float(np.linalg.norm(b)) * size:
        return None
    message = (
        "No X is feasible: the equations contradict each other, since the dual vector returned makes sum y_i A_i zero "
        "(up to rounding) and b^T y negative."
    )
    return Contradiction(message, y)


def list_equations(data: SdpData) -> Any:
    """Return the sparse matrix with the upper triangles of the A_i, of unit norm, as rows; none for inequalities."""
    entries = data.unit_constraints
    row, col = (side(entries.row, entries.col).astype(np.int64) for side in (np.minimum, np.maximum))
    values = np.where(row == col, 1.0, np.sqrt(2.0)) * entries.value
    places, place = np.unique(row * data.order + col, return_inverse=True)
    used = np.where(data.equal[entries.constraint], values, 0.0)
    return sp.csr_array((used, (entries.constraint, place)), shape=(data.size, places.size))


@dataclass(frozen=True, eq=False)
class BinaryLifting:
    """A border, and for every other row the constraint that ties its diagonal entry to its border entry."""

    border: int
    value: float
    """t = X_00."""
    relations: IntArray
    """For each row the constraint a_i (X_ii - k_i X_0i) = 0, for the border that of its corner, a_0 X_00 = a_0 t."""
    weights: Array
    """a_i of each row."""
    halves: Array
    """k_i / 2 of each row, 1 for the border."""

    @property
    def corner(self) -> int:
        """The constraint of X_00."""
        return int(self.relations[self.border])

    def transform(self, entries: Entries) -> Entries:
        """Return the entries of T^T A T."""
        row, col = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
        border, twice = np.full(row.size, self.border), row != col
        value = entries.value * self.halves[row] * self.halves[col]
        left, right = row != self.border, col != self.border
        parts = [
            Entries(entries.constraint, row, col, value).select(left | right),
            Entries(entries.constraint, border, col, value).select(left & right & twice),
            Entries(entries.constraint, row, border, value).select(left & right),
            Entries(entries.constraint, border, border, value * (1.0 + twice)).select(left | right | ~twice),
        ]
        return Entries.concatenate(parts).sum_duplicates(self.halves.size)

    def corners(self, entries: Entries, count: int) -> Array:
        """Return the entry at the corner of each matrix."""
        here = (entries.row == self.border) & (entries.col == self.border)
        return np.bincount(entries.constraint[here], entries.value[here], minlength=count)

    def data(self, data: SdpData) -> SdpData:
        """Return the program for Y."""
        is_relation = np.isin(data.constraints.constraint, self.relations)
        rest = self.transform(data.constraints.select(~is_relation))
        removed = self.corners(rest, data.size)
        rows = np.arange(data.order)
        diagonal = self.weights * self.halves**2
        inner = rest.select((rest.row != self.border) | (rest.col != self.border))
        entries = Entries.concatenate([inner, Entries(self.relations, rows, rows, diagonal)])
        shift = -self.value * removed
        shift[self.relations] = self.value * diagonal
        shift[self.corner] = 0.0
        lower, upper = data.lower + shift, data.upper + shift
        return replace(data, cost=self.transform(data.cost), constraints=entries, lower=lower, upper=upper)

    def point(self, y: LowRank) -> LowRank:
        """Return X = T Y T^T."""
        left = self.halves[:, None] * (y.left + y.left[self.border])
        left[self.border] = y.left[self.border]
        return LowRank(left, left, y.weights)

    def factor_of(self, left: Array) -> Array:
        """Return the factor of Y, given that of X."""
        out = left / self.halves[:, None] - left[self.border]
        out[self.border] = left[self.border]
        return out

    def dual(self, data: SdpData, dual: Array) -> Array:
        """Return the multipliers for X: that of the corner takes up what the constraints for Y leave out."""
        removed = self.corners(self.transform(data.constraints), data.size)
        removed[self.relations] = -self.weights * self.halves**2
        removed[self.corner] = 0.0
        out = dual.copy()
        out[self.corner] -= float(removed @ dual) / self.weights[self.border]
        return out

    def trace(self, size: int) -> TraceBound:
        """Return the bound on the trace of X: k_i^2 t + X_ii - 2 k_i X_0i >= 0 for every row."""
        y = np.zeros(size)
        y[self.relations] = 2.0 / self.weights
        squares = 1.0 + 4.0 * float((self.halves**2).sum() - 1.0)
        y[self.corner] = squares / self.weights[self.border]
        return TraceBound(squares * self.value, False, "diagonal entries are tied to those of a border", y)


def find_binary_lifting(data: SdpData) -> BinaryLifting | None:
    """Return the lifting of a program in which constraints tie every row to one border, or None.

    >>> entries = Entries([0, 1, 1], [0, 1, 0], [0, 1, 1], [1.0, 1.0, -0.5])
    >>> b = np.array([1.0, 0.0])
    >>> find_binary_lifting(SdpData(2, entries, entries, b, b)).halves
    array([1. , 0.5])
    """
    entries = data.constraints.select(data.constraints.value != 0.0)
    counts, equal = np.bincount(entries.constraint, minlength=data.size), data.equal
    pairs = entries.select(counts[entries.constraint] == 2)
    pairs = pairs.select(np.lexsort((pairs.row != pairs.col, pairs.constraint)))  # diagonal entries first
    diagonal, tie = pairs.select(slice(0, None, 2)), pairs.select(slice(1, None, 2))
    rows, own, other = diagonal.constraint, diagonal.row, tie.row + tie.col - diagonal.row
    fits = (own == diagonal.col) & (tie.row != tie.col) & ((tie.row == own) | (tie.col == own))
    fits &= equal[rows] & (data.b[rows] == 0.0)
    if data.order < 2 or np.count_nonzero(fits) < data.order - 1:
        return None
    border = int(np.bincount(other[fits], minlength=data.order).argmax())
    fits &= other == border
    is_corner = (entries.row == border) & (entries.col == border) & ((counts == 1) & equal)[entries.constraint]
    if not is_corner.any():
        return None
    corner = entries.select(np.flatnonzero(is_corner)[:1])
    value = float(data.b[corner.constraint[0]] / corner.value[0])
    relations, weights, halves = np.full(data.order, -1, np.int64), np.ones(data.order), np.ones(data.order)
    relations[own[fits]], weights[own[fits]] = rows[fits], diagonal.value[fits]
    halves[own[fits]] = -tie.value[fits] / diagonal.value[fits]
    relations[border], weights[border], halves[border] = corner.constraint[0], corner.value[0], 1.0
    is_whole = bool((relations >= 0).all()) and value > 0.0
    return BinaryLifting(border, value, relations, weights, halves) if is_whole else None


@dataclass(frozen=True, eq=False)
class Face:
    """The face of the psd cone that a constraint c <v v^T, X> = 0 defines: X v = 0."""

    constraint: int
    """Its number."""
    coefficient: float
    vector: Array

    @cached_property
    def reflection(self) -> Reflection:
        """Q, a basis of the complement of v."""
        return Reflection(self.vector)

    def multiplier(self, slack: SymmetricOperator, smallest: float, loss: float) -> float:
        """Return a multiplier of the constraint that lowers the smallest eigenvalue of Q^T S Q by ``loss`` at most.

        S + t v v^T / |v|^2 then has no eigenvalue below ``smallest - loss``.
        """
        unit = self.reflection.unit
        image = slack.matvec(unit)
        diagonal = float(unit @ image)
        side = image - diagonal * unit
        strength = float(side @ side) / loss - diagonal + smallest
        return max(strength, 0.0) / (self.coefficient * float(self.vector @ self.vector))


def find_face(data: SdpData) -> Face | None:
    """Return the face of a rank-one constraint with right-hand side zero, or None.

    >>> ones = Entries.from_matrices([np.ones((3, 3))])
    >>> data = SdpData(3, ones, ones, np.zeros(1), np.zeros(1))
    >>> find_face(data).vector
    array([1., 1., 1.])
    """
    pattern = data.cost_and_constraints.pattern
    entries = np.diff(data.cost_and_constraints.matrix.indptr)
    for column, owner in enumerate(pattern.owners):
        row = int(owner) - 1
        is_alone = row >= 0 and entries[owner] == 0
        if is_alone and data.equal[row] and data.b[row] == 0.0:
            return Face(row, float(pattern.coefficients[column]), pattern.vectors[:, column])
    return None


def bound_from_diagonals(data: SdpData, groups: Groups) -> TraceBound | None:
    """Return the trace bound that constraints on the diagonal imply, or None.

    Either disjoint groups of diagonal entries with given sums cover the diagonal, or multipliers y with
    sum_i y_i diag(A_i) >= 1 exist among the diagonal A_i: then tr X <= sum_i y_i b_i. The best are computed by linear
    programming and verified afterwards.

    >>> weights = Entries.from_matrices([np.diag([1.0, 2.0])])
    >>> data = SdpData(2, weights, weights, np.full(1, -np.inf), np.full(1, 3.0))
    >>> round(bound_from_diagonals(data, find_groups(data.diagonals, data.b, data.equal)).value, 6)
    3.0
    """
    if groups.covers_all:
        y = np.zeros(data.size)
        y[groups.constraints] = 1.0 / groups.coefficients
        return TraceBound(groups.trace, True, "constraints on the diagonal add up to the trace", y)
    if distinct(data.diagonals.indices).size < data.order:
        return None
    y = _cheapest_cover(data)
    if y is None:
        return None
    cover, price = float((data.diagonals.T @ y).min()), data.support_of_bounds(y)
    if not (cover > LEAST_COVER and math.isfinite(price) and price > 0.0):
        return None
    grow = (1.0 + 1e-12 * data.order) / cover
    return TraceBound(price * grow, False, "a combination of the constraints on the diagonal", y * grow)


def _cheapest_cover(data: SdpData) -> Array | None:
    """Return y = p - q, p and q >= 0, that minimises p^T upper - q^T lower subject to A^T y >= 1."""
    from scipy.optimize import linprog

    matrix = data.diagonals
    used = np.diff(matrix.indptr) > 0
    above, below = np.isfinite(data.upper) & used, np.isfinite(data.lower) & used
    cost = np.concatenate([data.upper[above], -data.lower[below]])
    columns = sp.hstack([-matrix[above].T, matrix[below].T], format="csc")
    solution: Any = linprog(cost, A_ub=columns, b_ub=-np.ones(data.order), bounds=(0.0, None), method="highs")
    if solution.status != 0:
        return None
    y = np.zeros(data.size)
    y[above] += solution.x[: int(above.sum())]
    y[below] -= solution.x[int(above.sum()) :]
    return y


@dataclass(frozen=True, eq=False)
class Analysis:
    """The structure of a program, known before its trace."""

    data: SdpData
    """The program, after a change of variables if there is a lifting."""
    reduced: SdpData
    """The same without the constraint that defines a face."""
    face: Face | None
    groups: Groups
    lifting: BinaryLifting | None = None

    @classmethod
    def of_whole(cls, data: SdpData) -> Analysis:
        """Return the analysis that uses no structure."""
        return cls(data, data, None, find_groups(sp.csr_array((0, data.order)), np.zeros(0), np.zeros(0, bool)))

    @property
    def has_fixed_diagonal(self) -> bool:
        """Whether the factors hold all diagonal groups by construction."""
        return self.face is None and self.groups.covers_all and self.groups.targets.size > 1

    def trace_bound(self, given: float | None = None) -> TraceBound | None:
        """Return the smaller of the trace bound that the diagonal implies and the one given; None without either."""
        implied = bound_from_diagonals(self.data, self.groups)
        if given is None:
            return implied
        value = validate.positive("trace_bound", given)
        if implied is None:
            return TraceBound(value, False, "given by the user")
        if implied.fixed and value < (1.0 - TRACE_ROUNDING) * implied.value:
            expected = f"at least {implied.value:.6g}, the trace of every feasible X ({implied.reason})"
            raise InvalidInput("trace_bound", expected, f"{value:.6g}")
        return implied if implied.fixed or implied.value <= value else TraceBound(value, False, "given by the user")

    def problem(self, trace: TraceBound, maximise: bool = False, constant: float = 0.0) -> Problem:
        """Return min <C, X> over psd X of the given trace, with constraints scaled to unit Frobenius norm.

        ``maximise`` and ``constant`` change how progress is displayed, nothing else.
        """
        reduced = self.reduced
        scales = np.concatenate([np.ones(1), 1.0 / reduced.norms])
        whole = current_communicator().distribute(reduced.cost_and_constraints.scale_rows(scales))
        if self.face is not None:
            whole = TwoSidedMap(whole, self.face.reflection, self.face.reflection)
        cost_map = CostAndConstraintsMap(whole)
        oracle = (FixedTrace if trace.fixed else BoundedTrace)(cost_map.domain[0], trace.value)
        cost = SdpCost(cost_map, oracle, maximise, constant)
        return Problem(cost, cost_map, reduced.b / reduced.norms, reduced.coupling(reduced.norms))

    def method(
        self,
        rank: int | None,
        seed: int,
        trace: TraceBound,
        accuracy: float = 1e-6,
        start: WarmStart | None = None,
    ) -> Factored:
        """Return the factored method in the form that suits the constraints and the accuracy."""
        order = self.data.order - (self.face is not None)
        if self.has_fixed_diagonal:
            columns = rank or fixed_diagonal_columns(order, accuracy)
            method = Factored(rank=columns, seed=seed, factors=self.groups.factors(self.data.norms))
        else:
            factors = SpectralFactors(order, 0, trace.value, not trace.fixed, REGULARISATION)
            enough = math.ceil(math.sqrt(2 * self.reduced.size)) + 1  # some optimal X has at most this rank (Pataki)
            enough = min(enough, TRACE_COLUMNS) if self.data.penalises_trace else enough
            columns = min(rank or enough, order)
            method = Factored(rank=columns, seed=seed, memory=MEMORY, factors=factors)
        if start is None or start.x is None:
            return method
        return replace(method, initial=self._initial_factor(start.x, trace, columns, seed))

    def _initial_factor(self, x: LowRank, trace: TraceBound, columns: int, seed: int) -> Array:
        """Return the factor of an earlier X: without weak columns, and with small random ones up to ``columns``."""
        factor = x.left * np.sqrt(np.maximum(x.weights, 0.0))
        if self.lifting is not None:
            factor = self.lifting.factor_of(factor)
        if self.face is not None:
            factor = self.face.reflection.rmatmat(factor)
        factor = drop_weak_columns(factor)
        extra = math.sqrt(WARM_SHARE) * random_block(factor, max(columns - factor.shape[1], 1), seed)
        factor = np.concatenate([factor, extra], axis=1)
        if self.has_fixed_diagonal or trace.fixed:
            return factor
        slack = np.zeros((1, factor.shape[1]))
        slack[0, 0] = math.sqrt(max(trace.value - float((factor**2).sum()), 0.0))
        return np.concatenate([factor, slack])

    def initial_dual(self, start: WarmStart) -> Array:
        """Return the multipliers of an earlier solution in the units of the template."""
        dual = start.dual if self.face is None else np.delete(start.dual, self.face.constraint)
        return dual * self.reduced.norms


@dataclass(frozen=True, eq=False)
class WarmStart:
    """What a program is solved from: multipliers, and X."""

    dual: Array
    x: LowRank | None = None

    @classmethod
    def read(cls, data: SdpData, given: Any) -> WarmStart:
        """Return the warm start of a result, which may have fewer constraints (the first ones), or of multipliers.

            >>> data = SdpData(1, *[Entries([0, 1], [0, 0], [0, 0], [1.0, 1.0])] * 2, np.ones(2), np.ones(2))
        >>> WarmStart.read(data, [3.0]).dual
        array([3., 0.])
        """
        x, dual = None, given
        if isinstance(given, Result):
            if given.status in (Status.INFEASIBLE, Status.UNBOUNDED):
                raise InvalidInput("start", "a solution", f"the result of an {given.status.value} program")
            x, dual = given.x, given.dual
        dual = validate.real_array("start", dual).astype(np.float64)
        if dual.ndim != 1 or dual.size > data.size:
            raise InvalidInput("start", f"at most {data.size} multipliers, one per constraint", f"shape {dual.shape}")
        if x is not None and x.shape != (data.order, data.order):
            raise InvalidInput("start", f"a solution with X of order {data.order}", f"order {x.shape[0]}")
        return cls(np.append(dual, np.zeros(data.size - dual.size)), x)


def fixed_diagonal_columns(order: int, accuracy: float) -> int:
    """Return the initial columns of R with rows of fixed length.

    Optimal ranks grow about as n^0.4. At a lower rank r the relative gap is about 0.12 n^0.28 / r^2 (measured on random
    graphs of average degree 6, n from 2 * 10^4 to 10^6), so that a low accuracy needs fewer columns on large graphs: so
    many that this leaves a third of the accuracy for the descent and for the error of the certificate.

    >>> fixed_diagonal_columns(1000, 1e-6), fixed_diagonal_columns(2**20, 1e-6), fixed_diagonal_columns(2**20, 1e-3)
    (20, 257, 97)
    """
    optimal = max(math.ceil(2.0 * math.log2(order)), math.ceil(order**0.4))
    enough = math.ceil(COLUMNS_PER_ROOT * order**0.14 / math.sqrt(accuracy))
    return max(LEAST_FIXED_COLUMNS, min(optimal, enough))


def analyse(data: SdpData, lifting: BinaryLifting | None = None) -> Analysis:
    """Look for a face and for groups of diagonal constraints, after the change of variables of a lifting.

    >>> diagonal = Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0])
    >>> cost, ones = Entries.from_matrices([np.eye(2)]), np.ones(2)
    >>> analyse(SdpData(2, cost, diagonal, ones, ones)).has_fixed_diagonal
    True
    """
    data = data if lifting is None else lifting.data(data)
    face, groups = find_face(data), find_groups(data.diagonals, data.b, data.equal)
    reduced = data if face is None else data.without(face.constraint)
    return Analysis(data, reduced, face, groups, lifting)
