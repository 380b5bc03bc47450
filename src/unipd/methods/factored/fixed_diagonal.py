"""Factors with rows of fixed length: diagonal constraints that hold by construction, and Newton steps over them.

Constraints sum_{i in g} X_ii = t_g over disjoint groups g (MaxCut's diagonal, a trace) fix the length of the rows of
R in each group. Normalising the rows enforces them exactly, and their multipliers have a closed form, lam_g = -<S R,
R>_g / t_g for the slack matrix S = C + A^*(lam) of the other constraints.

When all constraints hold by construction, <C, X(R)> is a quadratic function on a product of spheres; its Hessian along
a tangent D is 2 P (C D - radial D), one product with C for each column. Truncated conjugate gradients inside a trust
region (Steihaug, 1983) solve for the step: a product costs a fraction of a quasi-Newton direction with its many inner
products. A step with too little decrease is shortened along its line.

The compiled kernels at the end do in one pass over the arrays what would take several: at a million entries the passes
are all that counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import inner, norm
from unipd._util.context import notify
from unipd._util.lazy import compile_lazily
from unipd._util.threads import sum_over_rows
from unipd.atoms import LowRank, apply
from unipd.errors import InvalidInput
from unipd.methods.descent import interpolate
from unipd.methods.factored.augmented_lagrangian import FactoredState, objective_scale, stationarity
from unipd.problem import Problem
from unipd.sharp.spectral.factors import Factors, random_block
from unipd.spectral.operators import as_operator, is_explicit

PRODUCTS = 200
"""Products with C per step, and per iteration."""
FORCING = 0.1
"""A step lowers the residual to this share, or to the relative stationarity where that is smaller."""
LEAST_RATIO = 0.1
"""A step is accepted when actual / predicted decrease is at least this."""
LEAST_CURVATURE = 1e-2
"""Floor of the preconditioner's diagonal, relative to its mean."""


@dataclass(frozen=True)
class RowFactors(Factors):
    """Positive semidefinite X = R R^T with the squared lengths of groups of rows given.

    >>> factors = RowFactors(np.array([0, 1]), np.array([1.0, 4.0]), np.array([0, 1]), np.ones(2))
    >>> np.diag(factors.point(np.array([[3.0], [3.0]])).dense())
    array([1., 4.])
    """

    groups: IntArray
    """The group of each row of R."""
    targets: FloatArray
    """The squared length t_g of each group; they add up to the trace."""
    constraints: IntArray
    """For each group, the constraint that it enforces."""
    coefficients: FloatArray
    """For each group, the coefficient c of that constraint, c sum_{i in g} X_ii = b."""

    @property
    def rows(self) -> int:
        """Rows of R."""
        return self.groups.size

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return random columns: rows of an atom may be zero, and cannot be normalised."""
        if atom.left.dtype.kind == "c":
            raise InvalidInput("factors", "real data for factors with rows of fixed length", "complex data")
        shape = np.zeros((self.rows, 1), atom.left.dtype)
        shape[0, 0] = 1.0
        return self._normalize(random_block(shape, max(2, min(columns, self.rows)), seed))

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor whose rows have any length."""
        left = self._normalize(factor)
        return LowRank(left, left, np.ones(factor.shape[1], left.dtype))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)>: in each group orthogonal to R."""
        scale = self._row_scales(factor)[self.groups][:, None]
        unit = scale * factor
        slope = 2.0 * apply(operator, unit)
        return scale * (slope - self.radial(slope, unit)[self.groups][:, None] * unit)

    def mix_atom(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Append the atom's columns with weight gamma, and normalise the rows."""
        unit = self._normalize(factor)
        extra = atom.left * np.sqrt(gamma * np.asarray(atom.weights, np.float64)).astype(unit.dtype)
        return self._normalize(np.concatenate([math.sqrt(1.0 - gamma) * unit, extra], axis=1))

    def complete_dual(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector with the closed-form multipliers of the fixed constraints.

        ``descent`` is -S with these entries of the dual vector at zero.
        """
        unit = self._normalize(factor)
        return self.with_multipliers(dual, self.radial(apply(descent, unit), unit))

    def with_multipliers(self, dual: Array, radial: Array) -> Array:
        """Return the dual vector with the multipliers of the fixed constraints, given the radial part of -S R."""
        out = dual.copy()
        out[self.constraints] = radial / self.coefficients
        return out

    def zero_fixed_multipliers(self, dual: Array) -> Array:
        """Return the dual vector with zeros for the fixed constraints."""
        out = dual.copy()
        out[self.constraints] = 0.0
        return out

    def fixes_all(self, constraints: int) -> bool:
        """Whether each of the constraints belongs to a group."""
        return self.constraints.size == constraints

    def _row_scales(self, factor: Array) -> FloatArray:
        squares = np.bincount(self.groups, np.einsum("ij,ij->i", factor, factor), minlength=self.targets.size)
        return np.sqrt(self.targets / np.maximum(squares, np.finfo(np.float64).tiny))

    def _normalize(self, factor: Array) -> Array:
        return self._row_scales(factor)[self.groups].astype(factor.dtype, copy=False)[:, None] * factor

    def radial(self, slope: Array, unit: Array) -> FloatArray:
        """Return <V, R>_g / t_g for each group g: the component of V along R, in double precision."""
        return np.bincount(self.groups, np.einsum("ij,ij->i", slope, unit), minlength=self.targets.size) / self.targets


@dataclass(frozen=True, eq=False)
class Groups:
    """Disjoint groups of rows whose squared lengths constraints fix."""

    member: IntArray
    """The group of each row, -1 for none."""
    targets: Array
    """Sum of each group's diagonal entries."""
    constraints: IntArray
    """The constraint of each group."""
    coefficients: Array
    """c of each group's constraint."""

    @property
    def covers_all(self) -> bool:
        """Whether every row is in a group, so that the trace is fixed."""
        return bool((self.member >= 0).all())

    @property
    def trace(self) -> float:
        """Sum of the targets."""
        return float(self.targets.sum())

    def factors(self, scales: Array | None = None) -> RowFactors:
        """Return factors with these rows fixed, for constraints divided by ``scales``."""
        divisors = 1.0 if scales is None else scales[self.constraints]
        return RowFactors(self.member, self.targets, self.constraints, self.coefficients / divisors)


def find_groups(diagonals: Any, b: Array, equal: Array) -> Groups:
    """Return disjoint groups of rows, from constraints with few rows first.

    Parameters
    ----------
    diagonals
        CSR matrix with the diagonal of each A_i that is diagonal (:meth:`unipd.maps.sdp.SdpMap.diagonals`).
    b
        Right-hand sides.
    equal
        Which constraints are equations.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> groups = find_groups(sp.csr_array(np.diag([1.0, 2.0])), np.ones(2), np.ones(2, bool))
    >>> groups.covers_all, groups.trace
    (True, 1.5)
    """
    member, constraints, coefficients = _single_entries(diagonals, b, equal)
    found: list[tuple[int, float]] = []
    for row, places, coefficient in _sums_of_entries(diagonals, b, equal):
        if np.all(member[places] < 0):
            member[places] = constraints.size + len(found)
            found.append((row, coefficient))
    constraints = np.concatenate([constraints, np.array([row for row, _ in found], np.int64)])
    coefficients = np.concatenate([coefficients, np.array([coefficient for _, coefficient in found])])
    return Groups(member, b[constraints] / coefficients, constraints, coefficients)


def _single_entries(diagonals: Any, b: Array, equal: Array) -> tuple[IntArray, IntArray, Array]:
    """Return the groups of one row: each row's group (or -1), the groups' constraints c X_ii = b, and their c."""
    starts = diagonals.indptr
    rows = np.flatnonzero(equal & (np.diff(starts) == 1)).astype(np.int64)
    rows = rows[b[rows] / diagonals.data[starts[rows]] > 0.0]
    places, first = np.unique(diagonals.indices[starts[rows]], return_index=True)
    first = np.sort(first)
    rows = rows[first]
    member = np.full(diagonals.shape[1], -1, np.int64)
    member[diagonals.indices[starts[rows]]] = np.arange(places.size)
    return member, rows, diagonals.data[starts[rows]]


def _sums_of_entries(diagonals: Any, b: Array, equal: Array) -> list[tuple[int, IntArray, float]]:
    """Return (constraint, rows, c) of the equations c sum X_ii = b of several rows with b / c > 0, shortest first."""
    starts, out = diagonals.indptr, list[tuple[int, IntArray, float]]()
    for row in np.flatnonzero(equal & (np.diff(starts) > 1)):
        part = slice(starts[row], starts[row + 1])
        values = diagonals.data[part]
        if values.min() == values.max() and b[row] / values[0] > 0.0:
            out.append((int(row), diagonals.indices[part], float(values[0])))
    return sorted(out, key=lambda candidate: candidate[1].size)


def fixed_diagonal_factors(problem: Problem) -> RowFactors | None:
    """Return factors that fix the diagonal constraints of min <C, X> over a spectrahedron, if they cover the diagonal.

    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> from unipd.sharp import Linear, Spectrahedron
    >>> diagonal = SdpMap((2, 2), Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0]), 2)
    >>> cost = Linear(np.array([[0.0, 1.0], [1.0, 0.0]]), Spectrahedron(2, 2.0))
    >>> fixed_diagonal_factors(Problem(cost, diagonal, np.ones(2), "=")).targets
    array([1., 1.])
    """
    cost, spectral = problem.sharp.linear_cost, problem.sharp.factors()
    trace = None if spectral is None else spectral.fixed_trace
    if cost is None or trace is None or not problem.coupling.is_equality:
        return None
    is_plain = is_explicit(cost) and cost.dtype == problem.dtype == np.float64  # operators: not symmetric?
    diagonals = problem.map.diagonals() if is_plain else None
    if diagonals is None:
        return None
    groups = find_groups(diagonals, problem.b, np.ones(problem.b.size, bool))
    whole = groups.covers_all and groups.targets.size > 1
    return groups.factors() if whole and math.isclose(groups.trace, trace, rel_tol=1e-12) else None


def newton_steps(state: FactoredState, goal: float) -> FactoredState:
    """Take trust-region steps until the stationarity is at most ``goal`` or the products are used up."""
    state = replace(state, factor=state.here.point.left, memory=replace(state.memory, pairs=()))
    spent = 0
    while spent < PRODUCTS and stationarity(state) > goal:
        moved, products = _take_newton_step(state, goal)
        spent += products
        if moved.factor is state.factor:
            return moved
        state = moved
    return state


def _take_newton_step(state: FactoredState, goal: float) -> tuple[FactoredState, int]:
    """Return the state after one step, the same factor where none decreases the objective, and the products spent."""
    quadratic = _Quadratic.at(state)
    radius = state.radius if state.radius > 0.0 else 0.25 * norm(state.factor)
    relative = stationarity(state) / objective_scale(state.model.problem, state.here.cost)
    tolerance = max(min(FORCING, relative) * 0.5 * norm(quadratic.gradient), 0.25 * goal / norm(state.factor))
    step = quadratic.minimize(radius, tolerance)
    moved = _line_search(state, quadratic, step)
    counts = moved.counts.plus(0, 0, step.products * state.factor.shape[1])
    return replace(moved, counts=counts), step.products


@dataclass(frozen=True)
class _Step:
    """A solution of the trust-region subproblem."""

    step: Array
    length: float
    """Its length in the norm of the preconditioner."""
    interior: bool
    """Whether it lies inside the region."""
    change: float
    """Half the predicted change of the objective."""
    products: int


@dataclass(frozen=True)
class _Quadratic:
    """Half the quadratic model of the objective at R: <G, E> / 2 + <E, H E> / 2 for tangent E."""

    operator: Any
    factors: RowFactors
    unit: Array
    gradient: Array
    """G = 2 (C R - radial R)."""
    radial: Array
    """<C R, R>_g / t_g for each group, in double precision."""
    targets_by_row: Array
    radial_by_row: Array
    inverse: Array
    """M: the inverse of the diagonal of C - radial by rows, scaled to mean one."""

    @classmethod
    def at(cls, state: FactoredState) -> _Quadratic:
        factors: Any = state.model.factors
        operator = state.model.problem.sharp.linear_cost
        unit = np.ascontiguousarray(state.factor)
        radial = -state.here.dual[factors.constraints] * factors.coefficients
        by_row = (factors.targets[factors.groups], radial[factors.groups], _preconditioner(operator, factors, radial))
        arrays = (part.astype(unit.dtype, copy=False) for part in by_row)
        return cls(operator, factors, unit, state.here.gradient, radial, *arrays)

    def product(self, direction: Array) -> tuple[Array, float]:
        """Return H D and <D, H D>."""
        image = apply(self.operator, direction).astype(direction.dtype, copy=False)
        targets, groups = self.factors.targets, self.factors.groups
        if targets.size < groups.size:
            return image, project_groups(groups, targets, self.radial, self.unit, direction, image)
        by_row = (self.targets_by_row, self.radial_by_row, self.unit, direction, image)
        return image, float(sum_over_rows(lambda *rows: project_rows(*by_row, *rows), *image.shape))

    def minimize(self, radius: float, tolerance: float) -> _Step:
        """Minimise the model in the trust region by conjugate gradients, to a residual norm of ``tolerance``."""
        residual, step = self.gradient.dtype.type(0.5) * self.gradient, np.zeros_like(self.gradient)
        direction, in_dtype = np.zeros_like(self.gradient), self.gradient.dtype.type

        def turn(share: float) -> None:
            arrays = (in_dtype(share), self.inverse, residual, direction)
            sum_over_rows(lambda *rows: update_direction(*arrays, *rows), *direction.shape)

        def advance(length: float, image: Array) -> FloatArray:
            arrays = (in_dtype(length), direction, image, self.inverse, step, residual)
            return sum_over_rows(lambda *rows: take_step(*arrays, *rows), *step.shape)

        turn(0.0)
        weighted = -inner(residual, direction)
        square, mixed, along = 0.0, 0.0, weighted  # <E, E>, <E, D>, <D, D> in the norm of the preconditioner
        interior, products = True, 0
        while products < PRODUCTS:
            image, curvature = self.product(direction)
            products += 1
            notify("Newton steps", direction.shape[1])
            length = weighted / curvature if curvature > 0.0 else math.inf
            interior = curvature > 0.0 and square + length * (2.0 * mixed + length * along) < radius**2
            if not interior:
                length = (math.sqrt(mixed**2 + along * (radius**2 - square)) - mixed) / along
            plain, after = map(float, advance(length, image))
            del image  # before the next one is made
            square += length * (2.0 * mixed + length * along)
            if not interior or math.sqrt(plain) <= tolerance or after <= 0.0:
                break
            share, weighted = after / weighted, after
            mixed, along = share * (mixed + length * along), weighted + share**2 * along
            turn(share)
        change = 0.5 * (0.5 * inner(self.gradient, step) + inner(residual, step))
        return _Step(step, math.sqrt(max(square, 0.0)), interior, change, products)


def _preconditioner(operator: Any, factors: RowFactors, radial: Array) -> Array:
    """Return the preconditioner by rows; ones for an operator without ``diagonal``.

    The rows of a group share the inverse of their mean curvature, so that it maps tangents to tangents.
    """
    diagonal = as_operator(operator).diagonal()
    if diagonal is None:
        return np.ones(factors.groups.size)
    curvature = diagonal - radial[factors.groups]
    mean = float(np.abs(curvature).mean())
    if mean == 0.0:
        return np.ones(factors.groups.size)
    by_group = np.bincount(factors.groups, curvature) / np.bincount(factors.groups)
    return (mean / np.maximum(by_group, LEAST_CURVATURE * mean))[factors.groups]


def _line_search(state: FactoredState, quadratic: _Quadratic, step: _Step) -> FactoredState:
    """Return the state after the step, shortened until the decrease suffices, with the radius of the next one."""
    start, slope = state.here.value, inner(quadratic.gradient, step.step)
    curvature = 2.0 * step.change - slope
    rounding = state.model.rounding(start, state.factor)
    share, matvecs = 1.0, 0
    for _ in range(10):
        trial = quadratic.unit.dtype.type(share) * step.step
        trial += quadratic.unit
        here = state.model.evaluate(trial)
        matvecs += here.matvecs
        actual, predicted = here.value - start, share * (slope + share * curvature)
        lost = abs(actual) <= rounding and norm(here.gradient) < norm(state.here.gradient)
        ratio = 1.0 if lost else actual / predicted if predicted < 0.0 else 0.0
        if ratio >= LEAST_RATIO:
            radius = _next_radius(ratio, share, step, state)
            return replace(
                state, factor=here.point.left, here=here, radius=radius, counts=state.counts.plus(0, 0, matvecs)
            )
        share *= interpolate(share * slope, actual)
        del trial, here  # before the next ones are made
    return replace(state, counts=state.counts.plus(0, 0, matvecs))


def _next_radius(ratio: float, share: float, step: _Step, state: FactoredState) -> float:
    if share < 1.0:
        return share * step.length
    if ratio < 0.25:
        return 0.5 * step.length
    if ratio > 0.75 and not step.interior:
        return min(2.0 * step.length, 5.0 * norm(state.factor))
    return max(state.radius, step.length)


def project_groups(
    groups: IntArray, targets: Array, radial: Array, unit: Array, direction: Array, image: Array
) -> float:
    """Turn image = S D into H = P (S D - radial D) in place and return <D, H>; P projects along the rows of R.

    In each group g of rows, P V = V - (<V, R>_g / t_g) R.
    """
    image -= radial[groups][:, None] * direction
    image -= (np.bincount(groups, inner_by_row(image, unit)) / targets)[groups][:, None] * unit
    return float(inner_by_row(image, direction).sum(dtype=np.float64))


def inner_by_row(first: Array, second: Array) -> Array:
    """Return the inner products of the rows of two arrays."""
    return np.einsum("ic,ic->i", first, second)


def _project_rows_plain(
    targets: Array, radial: Array, unit: Array, direction: Array, image: Array, first: int, last: int
) -> float:
    rows = slice(first, last)
    unit, direction, image = unit[rows], direction[rows], image[rows]
    image -= radial[rows, None] * direction
    image -= (inner_by_row(image, unit) / targets[rows])[:, None] * unit
    return float(inner_by_row(image, direction).sum(dtype=np.float64))


@compile_lazily(reorder=True, plain=_project_rows_plain)
def project_rows(
    targets: Array, radial: Array, unit: Array, direction: Array, image: Array, first: int, last: int
) -> float:
    """Do what ``project_groups`` does for groups of one row each, in rows first, ..., last - 1.

    Targets and radial are given by row. Sums along a row have the precision of the factor, those of rows are double.
    """
    columns = unit.shape[1]
    total = 0.0
    for i in range(first, last):
        inside = image.dtype.type(0)
        for c in range(columns):
            image[i, c] -= radial[i] * direction[i, c]
            inside += image[i, c] * unit[i, c]
        share, along = inside / targets[i], image.dtype.type(0)
        for c in range(columns):
            image[i, c] -= share * unit[i, c]
            along += image[i, c] * direction[i, c]
        total += along
    return total


def _take_step_plain(
    length: float, direction: Array, image: Array, inverse: Array, step: Array, residual: Array, first: int, last: int
) -> tuple[float, float]:
    rows = slice(first, last)
    step[rows] += length * direction[rows]
    residual[rows] += length * image[rows]
    squares = inner_by_row(residual[rows], residual[rows])
    return float(squares.sum(dtype=np.float64)), float(inverse[rows] @ squares)


@compile_lazily(reorder=True, plain=_take_step_plain)
def take_step(
    length: float, direction: Array, image: Array, inverse: Array, step: Array, residual: Array, first: int, last: int
) -> tuple[float, float]:
    """Add length D to the step and length H D to the residual r; return <r, r> and <r, M r> for M by rows.

    In rows first, ..., last - 1.
    """
    plain, weighted = 0.0, 0.0
    for i in range(first, last):
        squares = residual.dtype.type(0)
        for c in range(direction.shape[1]):
            step[i, c] += length * direction[i, c]
            residual[i, c] += length * image[i, c]
            squares += residual[i, c] * residual[i, c]
        plain += squares
        weighted += inverse[i] * squares
    return plain, weighted


def _update_direction_plain(
    share: float, inverse: Array, residual: Array, direction: Array, first: int, last: int
) -> float:
    rows = slice(first, last)
    direction[rows] = share * direction[rows] - inverse[rows, None] * residual[rows]
    return 0.0


@compile_lazily(reorder=True, plain=_update_direction_plain)
def update_direction(share: float, inverse: Array, residual: Array, direction: Array, first: int, last: int) -> float:
    """Set D = share D - M r in rows first, ..., last - 1; return 0."""
    for i in range(first, last):
        for c in range(direction.shape[1]):
            direction[i, c] = share * direction[i, c] - inverse[i] * residual[i, c]
    return 0.0
