"""From the data of a program to the template: trace bound, scaled problem, and the method that suits it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd._util import validate
from unipd._util.context import current_communicator
from unipd.apps.sdp.data import SdpData, TraceBound
from unipd.apps.sdp.presolve import BinaryLifting, Face, find_face
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps.sdp import CostAndConstraintsMap, ReducedMap
from unipd.methods import Factored
from unipd.methods.factored.fixed_diagonal import Groups, find_groups
from unipd.problem import Problem
from unipd.run import Result
from unipd.sharp.spectral.factors import SpectralFactors, drop_weak_columns, random_block
from unipd.sharp.spectral.sdp import BoundedTrace, FixedTrace, SdpCost
from unipd.status import Status

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
"""Share of ||R||^2 of the random columns beside those of an earlier solution: they must be able to grow."""


def bound_from_diagonals(data: SdpData, groups: Groups) -> TraceBound | None:
    """Return the trace bound that constraints on the diagonal imply, or None.

    Either disjoint groups of diagonal entries with given sums cover the diagonal, or multipliers y with
    sum_i y_i diag(A_i) >= 1 exist among the diagonal A_i: then tr X <= sum_i y_i b_i. The best are computed by linear
    programming and verified afterwards.

    >>> from unipd.maps.sdp import Entries
    >>> weights = Entries.from_matrices([np.diag([1.0, 2.0])])
    >>> data = SdpData(2, weights, weights, np.full(1, -np.inf), np.full(1, 3.0))
    >>> round(bound_from_diagonals(data, find_groups(data.diagonals, data.b, data.equal)).value, 6)
    3.0
    """
    if groups.covers_all:
        y = np.zeros(data.size)
        y[groups.constraints] = 1.0 / groups.coefficients
        return TraceBound(groups.trace, True, "constraints on the diagonal add up to the trace", y)
    if np.unique(data.diagonals.indices).size < data.order:
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
        cost_map = CostAndConstraintsMap(whole if self.face is None else ReducedMap(whole, self.face.reflection))
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
            factor = self.face.reflection.adjoint_times(factor)
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

        >>> from unipd.maps.sdp import Entries
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

    >>> from unipd.maps.sdp import Entries
    >>> diagonal = Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0])
    >>> cost, ones = Entries.from_matrices([np.eye(2)]), np.ones(2)
    >>> analyse(SdpData(2, cost, diagonal, ones, ones)).has_fixed_diagonal
    True
    """
    data = data if lifting is None else lifting.data(data)
    face, groups = find_face(data), find_groups(data.diagonals, data.b, data.equal)
    reduced = data if face is None else data.without(face.constraint)
    return Analysis(data, reduced, face, groups, lifting)
