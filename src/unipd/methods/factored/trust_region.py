"""Truncated Newton steps in a trust region over factors with rows of fixed length (Steihaug, 1983).

When all constraints hold by construction, <C, X(R)> is a quadratic function on a product of spheres; its Hessian along
a tangent D is 2 P (C D - radial D), one product with C for each column. Conjugate gradients inside a trust region
solve for the step: a product costs a fraction of a quasi-Newton direction with its many inner products. A step with
too little decrease is shortened along its line.

The compiled kernels at the end do in one pass over the arrays what would take several: at a million entries the passes
are all that counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.arrays import inner, norm
from unipd._util.context import notify
from unipd._util.lazy import compile_lazily
from unipd._util.threads import sum_over_rows
from unipd.atoms import apply
from unipd.methods.factored.augmented_lagrangian import FactoredState, objective_scale, stationarity
from unipd.methods.factored.fixed_diagonal import RowFactors
from unipd.methods.factored.lbfgs import interpolate
from unipd.spectral.operators import as_operator

PRODUCTS = 200
"""Products with C per step, and per iteration."""
FORCING = 0.1
"""A step lowers the residual to this share, or to the relative stationarity where that is smaller."""
LEAST_RATIO = 0.1
"""A step is accepted when actual / predicted decrease is at least this."""
LEAST_CURVATURE = 1e-2
"""Floor of the preconditioner's diagonal, relative to its mean."""


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
        fixed = factors.constraints >= 0
        if fixed.all():
            radial = -state.here.dual[factors.constraints] * factors.coefficients
        else:
            radial = factors.radial(apply(operator, unit), unit)
        by_row = (factors.targets, radial, _preconditioner(operator, factors, radial))
        targets, along, inverse = (part.astype(unit.dtype, copy=False) for part in by_row)
        return cls(
            operator,
            factors,
            unit,
            state.here.gradient,
            radial,
            targets[factors.groups],
            along[factors.groups],
            inverse,
        )

    def product(self, direction: Array) -> tuple[Array, float]:
        """Return H D and <D, H D>."""
        image = apply(self.operator, direction).astype(direction.dtype, copy=False)
        targets, groups = self.factors.targets, self.factors.groups
        if targets.size == groups.size:
            by_row = (self.targets_by_row, self.radial_by_row, self.unit, direction, image)
            return image, float(sum_over_rows(lambda *rows: project_rows(*by_row, *rows), *image.shape))
        sums = np.zeros(targets.size)
        return image, project_groups(groups, targets, self.radial, self.unit, direction, image, sums)

    def _advance(
        self, length: float, direction: Array, image: Array, step: Array, residual: Array
    ) -> tuple[float, float]:
        """Take a step along D in place (``take_step``)."""
        arrays = (self.inverse.dtype.type(length), direction, image, self.inverse, step, residual)
        plain, weighted = sum_over_rows(lambda *rows: take_step(*arrays, *rows), *step.shape)
        return float(plain), float(weighted)

    def _turn(self, share: float, residual: Array, direction: Array) -> None:
        """Compute the next direction in place (``update_direction``)."""
        arrays = (self.inverse.dtype.type(share), self.inverse, residual, direction)
        sum_over_rows(lambda *rows: update_direction(*arrays, *rows), *direction.shape)

    def minimize(self, radius: float, tolerance: float) -> _Step:
        """Minimise the model in the trust region by conjugate gradients, to a residual norm of ``tolerance``."""
        residual, step = self.gradient.dtype.type(0.5) * self.gradient, np.zeros_like(self.gradient)
        direction = np.zeros_like(self.gradient)
        self._turn(0.0, residual, direction)
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
            plain, after = self._advance(length, direction, image, step, residual)
            del image  # before the next one is made
            square += length * (2.0 * mixed + length * along)
            if not interior or math.sqrt(plain) <= tolerance or after <= 0.0:
                break
            share, weighted = after / weighted, after
            mixed, along = share * (mixed + length * along), weighted + share**2 * along
            self._turn(share, residual, direction)
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


def _project_groups_plain(
    groups: IntArray, targets: Array, radial: Array, unit: Array, direction: Array, image: Array, sums: Array
) -> float:
    image -= radial[groups][:, None] * direction
    sums[:] = np.bincount(groups, inner_by_row(image, unit), sums.size)
    image -= (sums / targets)[groups][:, None] * unit
    return float(inner_by_row(image, direction).sum(dtype=np.float64))


@compile_lazily(reorder=True, plain=_project_groups_plain)
def project_groups(
    groups: IntArray, targets: Array, radial: Array, unit: Array, direction: Array, image: Array, sums: Array
) -> float:
    """Turn image = S D into H = P (S D - radial D) in place and return <D, H>; P projects along the rows of R.

    In each group g of rows, P V = V - (<V, R>_g / t_g) R.
    """
    columns = unit.shape[1]
    sums[:] = 0.0
    for i in range(groups.size):
        group = groups[i]
        for c in range(columns):
            image[i, c] -= radial[group] * direction[i, c]
            sums[group] += image[i, c] * unit[i, c]
    total = 0.0
    for i in range(groups.size):
        share = sums[groups[i]] / targets[groups[i]]
        for c in range(columns):
            image[i, c] -= share * unit[i, c]
            total += image[i, c] * direction[i, c]
    return total


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
