"""Truncated Newton steps over factors whose rows are kept at given lengths (MaxCut and its kin).

Where all constraints are kept by construction, <C, X(R)> is a quadratic function on a product of spheres: its Hessian
along a tangent D is 2 P (C D - radial D), one product with C for each column. Conjugate gradients inside a trust
region (Steihaug, 1983) solve for the step; a product costs a fraction of a quasi-Newton direction, whose many dots
and sums over a large memory are what takes the time. A step that fails is shortened along its line, not thrown away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import apply
from unipd.methods.augmented import Augmented
from unipd.methods.descent import ROUNDING
from unipd.methods.factored_state import FactoredState, stationarity
from unipd.methods.row_factors import RowFactors
from unipd.protocols import inner, norm
from unipd.pulse import beat
from unipd.sharp import Linear

PRODUCTS = 200
"""Products of one step at most, and of an iteration before it is reported."""
FORCING = 0.1
"""A step lowers the residual to this share, or to that of the stationarity where this is smaller."""
LEAST_RATIO = 0.1
"""A step is taken when it gains this share of what the quadratic model promises."""
LEAST_CURVATURE = 1e-2
"""Diagonal entries of the slack matrix count as at least this share of their mean in the preconditioner."""


def newton_applies(model: Augmented) -> bool:
    """Whether the factors keep all constraints by construction and the objective is linear."""
    factors, problem = model.factors, model.problem
    return isinstance(problem.sharp, Linear) and isinstance(factors, RowFactors) and factors.keeps_all(problem.b.size)


def newton_steps(state: FactoredState, goal: float) -> FactoredState:
    """Take trust-region steps until the stationarity is at most ``goal`` or the products are spent."""
    factors: Any = state.model.factors
    state = replace(state, factor=factors.point(state.factor).left, memory=replace(state.memory, pairs=()))
    spent = 0
    while spent < PRODUCTS and stationarity(state) > goal:
        quadratic = _Quadratic.at(state)
        radius = state.radius if state.radius > 0.0 else 0.25 * norm(state.factor)
        slack = goal / norm(state.factor) * 0.25
        relative = stationarity(state) / state.model.problem.scale(state.here.cost)
        solved = quadratic.solved(radius, max(min(FORCING, relative) * norm(quadratic.slope), slack))
        spent += solved.products
        moved = _searched(state, quadratic, solved)
        counts = moved.counts.plus(0, 0, solved.products * state.factor.shape[1])
        moved = replace(moved, counts=counts)
        if moved.factor is state.factor:
            return moved
        state = moved
    return state


@dataclass(frozen=True)
class _Step:
    """A step of the trust region's problem."""

    step: Array
    length: float
    """Its length in the norm of the preconditioner."""
    inside: bool
    """Whether it ends inside the region."""
    promise: float
    """Half the change that the quadratic model promises."""
    products: int


@dataclass(frozen=True)
class _Quadratic:
    """Half the quadratic model of the objective at R: <G, E> + <E, H E> / 2 for tangent E."""

    operator: Any
    factors: RowFactors
    unit: Array
    slope: Array
    """G = C R - radial R, half the gradient."""
    radial: Array
    inverse: Array
    """M: the inverse of the diagonal of C - radial by rows, scaled to mean one."""

    @classmethod
    def at(cls, state: FactoredState) -> _Quadratic:
        problem, factors = state.model.problem, state.model.factors
        assert isinstance(factors, RowFactors)
        assert isinstance(problem.sharp, Linear)
        operator = problem.sharp.cost
        unit = np.ascontiguousarray(state.factor)
        image = apply(operator, unit)
        radial = factors.radial(image, unit)
        return cls(operator, factors, unit, 0.5 * state.here.gradient, radial, _inverse(operator, factors, radial))

    def product(self, direction: Array) -> tuple[Array, float]:
        """Return H D and <D, H D>."""
        from unipd.methods import row_kernels as kernels

        image = apply(self.operator, direction)
        targets, groups = self.factors.targets, self.factors.groups
        if targets.size == groups.size:
            by_row = (targets[groups], self.radial[groups])
            return image, kernels.tangent_alone(*by_row, self.unit, direction, image)
        sums = np.zeros(targets.size)
        return image, kernels.tangent(groups, targets, self.radial, self.unit, direction, image, sums)

    def solved(self, radius: float, goal: float) -> _Step:
        """Minimise the model in the trust region by conjugate gradients, to a residual norm of ``goal``."""
        from unipd.methods import row_kernels as kernels

        residual, step = self.slope.copy(), np.zeros_like(self.slope)
        direction = np.zeros_like(self.slope)
        kernels.turn(0.0, self.inverse, residual, direction)
        weighted = -inner(residual, direction)
        square, mixed, along = 0.0, 0.0, weighted
        inside, products = True, 0
        while products < PRODUCTS:
            image, curvature = self.product(direction)
            products += 1
            beat("Newton steps", direction.shape[1])
            length = weighted / curvature if curvature > 0.0 else math.inf
            inside = curvature > 0.0 and square + length * (2.0 * mixed + length * along) < radius**2
            if not inside:
                length = (math.sqrt(mixed**2 + along * (radius**2 - square)) - mixed) / along
            plain, after = kernels.advance(length, direction, image, self.inverse, step, residual)
            square += length * (2.0 * mixed + length * along)
            if not inside or math.sqrt(plain) <= goal or after <= 0.0:
                break
            share, weighted = after / weighted, after
            mixed, along = share * (mixed + length * along), weighted + share**2 * along
            kernels.turn(share, self.inverse, residual, direction)
        promise = 0.5 * (inner(self.slope, step) + inner(residual, step))
        return _Step(step, math.sqrt(max(square, 0.0)), inside, promise, products)


def _inverse(operator: Any, factors: RowFactors, radial: Array) -> Array:
    """Return the preconditioner by rows; ones where the operator does not tell its diagonal.

    The rows of a group share theirs, the inverse of their mean curvature: so it keeps tangents tangent.
    """
    if not hasattr(operator, "diagonal"):
        return np.ones(factors.groups.size)
    curvature = operator.diagonal() - radial[factors.groups]
    mean = float(np.abs(curvature).mean())
    if mean == 0.0:
        return np.ones(factors.groups.size)
    shared = np.bincount(factors.groups, curvature) / np.bincount(factors.groups)
    return (mean / np.maximum(shared, LEAST_CURVATURE * mean))[factors.groups]


def _searched(state: FactoredState, quadratic: _Quadratic, solved: _Step) -> FactoredState:
    """Return the state after the step, shortened until it gains enough, with the radius of the next one."""
    start, slope = state.here.value, 2.0 * inner(quadratic.slope, solved.step)
    bend = 2.0 * solved.promise - slope
    share, columns, matvecs = 1.0, state.factor.shape[1], 0
    for _ in range(10):
        factor = state.model.factors.point(quadratic.unit + share * solved.step).left
        here = state.model.evaluate(factor)
        matvecs += here.matvecs
        change, promise = here.value - start, share * (slope + share * bend)
        lost = abs(change) <= ROUNDING * abs(start) and norm(here.gradient) < norm(state.here.gradient)
        ratio = 1.0 if lost else change / promise if promise < 0.0 else 0.0
        if ratio >= LEAST_RATIO:
            radius = _next_radius(ratio, share, solved, state)
            counts = state.counts.plus(0, 0, matvecs + columns)
            return replace(state, factor=factor, here=here, radius=radius, counts=counts)
        excess = change - share * slope
        share *= min(0.5, max(0.1, -0.5 * share * slope / excess)) if excess > 0.0 else 0.5
    return replace(state, counts=state.counts.plus(0, 0, matvecs + columns))


def _next_radius(ratio: float, share: float, solved: _Step, state: FactoredState) -> float:
    if share < 1.0:
        return share * solved.length
    if ratio < 0.25:
        return 0.5 * solved.length
    if ratio > 0.75 and not solved.inside:
        return min(2.0 * solved.length, 5.0 * norm(state.factor))
    return max(state.radius, solved.length)
