"""The augmented Lagrangian over the factor: objective and gradient, state, quasi-Newton steps, multiplier updates.

For residual r = A X - b it is f(X) + max over lam of { <lam, r> - h(lam) - ||lam - lam_c||^2 / (2 sigma) }: the
augmented Lagrangian with multipliers lam_c and penalty sigma for every set and every loss, through the prox of h. A
smooth loss needs no multipliers; there lam is its gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import TINY, inner, norm, precision
from unipd._util.context import notify
from unipd._util.lazy import compile_lazily
from unipd.atoms import Blocks, LowRank, apply
from unipd.dual import DualPoint, oracle_errors
from unipd.methods.base import Certificate, Counts, State, empty_certificate, measure_point
from unipd.methods.descent import ARMIJO, TRIALS, LBFGSMemory, interpolate, minimize_convex
from unipd.problem import Problem
from unipd.sharp.spectral.factors import Factors
from unipd.spectral.operators import LazyDifference
from unipd.trackers import Fixed

TYPICAL_SHARE = 1e-3
"""Share of the typical objective below which a value of f says nothing about its scale."""
PENALTY_GROWTH = 3.0
"""Factor by which the penalty grows when feasibility lags."""
RESOLVED = 8.0
"""Infeasibility, in units of eps, below which a larger penalty would only amplify the rounding of A X - b."""
TOLERANCE_DECREASE = 0.3
"""Factor by which the inner tolerance falls with every update of the multipliers."""
SMALLEST_TOLERANCE = 1e-2
"""Inner tolerances fall to this share of the accuracy at most, and by this factor at most between oracle calls."""
ROUNDING = 45.0
"""Relative decrease below which the objective is rounding error, in units of eps: 1e-14 in double precision."""
LONGEST_DIRECTION = 1e6
"""A direction longer than this multiple of the factor comes from pairs that are rounding error."""


@dataclass(frozen=True)
class Evaluation:
    """The objective at a factor, with the by-products of its computation."""

    value: float
    gradient: Array
    """Gradient in R, orthogonal to R."""
    point: Any
    """X."""
    image: Array
    """A X."""
    cost: float
    """f(X)."""
    dual: Array
    """lam: the multipliers implied by X."""
    matvecs: int
    """Products with A and with A^* lam."""

    def tracker(self, problem: Problem) -> Fixed:
        """Return X in the precision of the problem."""
        return Fixed(_in_single(self.point) if problem.is_single else self.point)


def _in_single(point: Any) -> Any:
    """Return a point in single precision."""
    if isinstance(point, Blocks):
        return Blocks(tuple(map(_in_single, point.parts)))
    dtype = np.complex64 if point.dtype.kind == "c" else np.float32
    if isinstance(point, LowRank):
        left = point.left.astype(dtype, copy=False)
        return LowRank(left, left if point.hermitian else point.right.astype(dtype, copy=False), point.weights)
    return point.astype(dtype, copy=False)


@dataclass(frozen=True)
class AugmentedLagrangian:
    """Loss or augmented Lagrangian over the factors of a spectral set."""

    problem: Problem
    factors: Factors
    centre: Array
    """Multipliers lam_c (unused for a smooth loss)."""
    penalty: float
    """sigma > 0, or 0 for a smooth loss."""

    @property
    def is_loss(self) -> bool:
        """Whether the objective is that of a smooth loss, without multipliers and penalty."""
        return self.penalty == 0.0

    @cached_property
    def is_linear_on_spheres(self) -> bool:
        """Whether f is linear and all constraints hold by construction: then Newton steps apply."""
        return self.problem.sharp.linear_cost is not None and self.factors.fixes_all(self.problem.b.size)

    def rounding(self, value: float, factor: Array) -> float:
        """Return the size of a change of the objective that is rounding error, in the precision of the factor."""
        loss = self.problem.loss
        return ROUNDING * precision(factor) * max(abs(value), 0.0 if loss is None else loss.cancellation)

    def dual(self, residual: Array) -> Array:
        """Return lam for a residual r = A X - b."""
        if self.is_loss:
            assert self.problem.loss is not None
            return self.problem.loss.gradient(residual)
        return self.problem.coupling.prox_conjugate(self.centre + self.penalty * residual, self.penalty)

    def evaluate(self, factor: Array) -> Evaluation:
        """Return value and gradient at R: one image and one product with A^* lam for every column."""
        if self.is_linear_on_spheres:
            return self._evaluate_on_spheres(factor)
        point = self.factors.point(factor)
        with oracle_errors:
            cost, image = self._cost_and_image(point, self.factors.objective(factor))
        residual = image - self.problem.b
        dual = self.dual(residual)
        value = cost + self._coupling_value(residual, dual)
        del residual  # as long as the data
        with oracle_errors:
            gradient = self._gradient(dual, factor)
        matvecs = 2 * max(1, self.factors.rank(factor))
        notify("quasi-Newton steps", matvecs)
        return Evaluation(value, gradient, point, image, cost, dual, matvecs)

    def _evaluate_on_spheres(self, factor: Array) -> Evaluation:
        """Return the same where A X = b by construction: one product with C, and the closed-form multipliers."""
        factors: Any = self.factors
        point = factors.point(factor)
        with oracle_errors:
            slope = apply(self.problem.sharp.linear_cost, point.left).astype(factor.dtype, copy=False)
        radial = factors.radial(slope, point.left)
        remove_radial_part(radial[factors.groups].astype(factor.dtype, copy=False), point.left, slope)
        cost, columns = float(radial @ factors.targets), factors.rank(factor)
        dual = factors.with_multipliers(np.zeros_like(self.problem.b), -radial)
        notify("Newton steps", columns)
        return Evaluation(cost, slope, point, self.problem.b, cost, dual, columns)

    def _cost_and_image(self, point: Any, bound: float | None) -> tuple[float, Array]:
        """Return f(X), or the bound on it that the factors minimise, and A X."""
        problem, cost_map = self.problem, self.problem.sharp.cost_map
        if cost_map is None:
            cost = problem.sharp.objective(point) if bound is None else bound
            image = problem.map.image(point)
        else:
            cost, image = cost_map.cost_and_image(point)
        return cost, np.asarray(image).astype(np.result_type(problem.dtype, image), copy=False)

    def _gradient(self, dual: Array, factor: Array) -> Array:
        """Return the gradient in R of f(X) + <lam, A X>, from the one matrix C + A^* lam where a map forms it."""
        sharp = self.problem.sharp
        if sharp.cost_map is not None:
            return self.factors.gradient(sharp.cost_map.slack(dual), factor)
        gradient = self.factors.gradient(self.problem.map.adjoint(dual), factor)
        if sharp.linear_cost is not None:
            gradient = gradient + self.factors.gradient(sharp.linear_cost, factor)
        return gradient

    def _coupling_value(self, residual: Array, dual: Array) -> float:
        if self.is_loss:
            assert self.problem.loss is not None
            return self.problem.loss.value(residual)
        step = dual - self.centre
        return inner(dual, residual) - self.problem.coupling.conjugate(dual) - inner(step, step) / (2.0 * self.penalty)

    def complete_dual(self, here: Evaluation, factor: Array) -> Array:
        """Return lam with the multipliers of the constraints that hold by construction."""
        if self.is_linear_on_spheres:
            return here.dual
        dual = self.factors.zero_fixed_multipliers(here.dual)
        with oracle_errors:
            descent = self.problem.map.adjoint(-dual)
            if self.problem.sharp.linear_cost is not None:
                descent = LazyDifference(descent, self.problem.sharp.linear_cost)
            return self.factors.complete_dual(dual, descent, factor)

    def best_gamma(self, here: Evaluation, image: Array, cost: float) -> float:
        """Return the gamma in [0, 1] that minimises the objective from X towards an atom."""
        residual, direction = here.image - self.problem.b, image - here.image

        def slope(gamma: float) -> float:
            return inner(self.dual(residual + gamma * direction), direction) + cost - here.cost

        if self.is_loss and self.problem.conjugate_curvature is not None:  # a quadratic
            first, last = slope(0.0), slope(1.0)
            return min(max(first / (first - last), 0.0), 1.0) if last > first else float(last < 0.0)
        return minimize_convex(slope, 1.0)


def _remove_radial_part_plain(radial: Array, unit: Array, slope: Array) -> None:
    slope -= radial[:, None] * unit
    slope *= 2


@compile_lazily(plain=_remove_radial_part_plain)
def remove_radial_part(radial: Array, unit: Array, slope: Array) -> None:
    """Turn slope = C R into the gradient 2 (C R - radial R) in place, with ``radial`` given by row."""
    for row in range(unit.shape[0]):
        for column in range(unit.shape[1]):
            slope[row, column] = 2 * (slope[row, column] - radial[row] * unit[row, column])


@dataclass(frozen=True, kw_only=True)
class CertifyingState(State):
    """State of a method that descends without the oracle and calls it to certify."""

    accuracy: float
    """Requested relative accuracy."""
    warm_start: Any = None
    """The last atom of the oracle; None before the first."""


AnyCertifying = TypeVar("AnyCertifying", bound=CertifyingState)


@dataclass(frozen=True, kw_only=True)
class FactoredState(CertifyingState):
    """State of the factored method."""

    defers_oracle: ClassVar[bool] = True

    model: AugmentedLagrangian
    """The objective over the factor: loss, or augmented Lagrangian with multipliers and penalty."""
    factor: Array
    """R."""
    here: Evaluation
    """The model at R."""
    memory: LBFGSMemory
    """Pairs of the quasi-Newton directions."""
    inner_tolerance: float = 0.0
    """Relative stationarity at which the multipliers are updated (constrained problems)."""
    least_infeasibility: float = math.inf
    """Smallest infeasibility at a multiplier update so far."""
    radius: float = 0.0
    """Radius of the trust region of Newton steps; 0 before the first."""
    first_rank: int = 1
    """Columns of the first R, for the record."""

    @classmethod
    def at(
        cls,
        model: AugmentedLagrangian,
        factor: Array,
        here: Evaluation,
        counts: Counts,
        certificate: Certificate | None = None,
        **settings: Any,
    ) -> FactoredState:
        """Return the state before the first iteration, where the model is known; ``certificate`` gives the bound."""
        problem, primal = model.problem, here.tracker(model.problem)
        bound = certificate or empty_certificate(here.dual)
        return cls(
            dual=here.dual.astype(problem.dtype, copy=False),
            primal=primal,
            image=here.image.astype(problem.dtype, copy=False),
            mean_objective=here.cost,
            certificate=bound.update_point(measure_point(problem, primal, here.image, here.cost)),
            counts=counts,
            model=model,
            factor=factor,
            here=here,
            **settings,
        )

    @property
    def resolved_options(self) -> dict[str, Any]:
        """The initial rank."""
        return {"rank": self.first_rank}

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and the factored form of its set."""
        return {"problem": problem, "factors": self.model.factors}


def stationarity(state: FactoredState) -> float:
    """Return ||grad|| ||R||: to first order, the decrease over a step of the length of R."""
    return norm(state.here.gradient) * norm(state.factor)


def requested_gap(problem: Problem, state: CertifyingState) -> float:
    """Return the requested absolute accuracy at the current objective."""
    objective = state.certificate.objective
    return state.accuracy * (problem.scale(objective if math.isfinite(objective) else 0.0) or problem.typical_objective)


def objective_scale(problem: Problem, objective: float) -> float:
    """Return the scale of gaps, at least a share of the typical one: the first points may have f = 0."""
    return max(problem.scale(objective), TYPICAL_SHARE * problem.typical_objective)


def refresh_certificate(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state with point, image and certificate of the current factor."""
    here, tracker = state.here, state.here.tracker(problem)
    dual = here.dual.astype(problem.dtype, copy=False)
    return replace(
        state,
        dual=dual,
        primal=tracker,
        image=here.image.astype(problem.dtype, copy=False),
        mean_objective=here.cost,
        certificate=state.certificate.update_point(measure_point(problem, tracker, here.image, here.cost)),
        dual_step=norm(dual - state.dual),
    )


def first_penalty(problem: Problem, point: DualPoint, first: Any) -> float:
    """Return sigma_0 = 2 |f| / ||b||^2, which balances the penalty of X = 0 and the objective of a typical point.

    Typical is the larger of the atom and the first point: an atom that minimises f may have f = 0.
    """
    typical = max(abs(point.objective), objective_scale(problem, problem.sharp.objective(first)))
    return 2.0 * typical / (problem.norm_b or problem.least_scale or 1.0) ** 2


def lbfgs_steps(state: FactoredState, steps: int, enough: float) -> FactoredState:
    """Take quasi-Newton steps; a smooth loss stops when the gap is at most ``enough``, or the stationarity.

    The latter has to fall to a tenth as well: where a stationary point has a wider gap, it takes more than one step.
    """
    settled = min(enough, 0.1 * stationarity(state)) if state.model.is_loss else 0.0
    for _ in range(steps):
        memory, gradient = state.memory, state.here.gradient
        direction = memory.direction(gradient, state.model.factors.preconditioner(state.factor))
        slope = inner(direction, gradient)
        if slope >= 0.0 or not norm(direction) <= LONGEST_DIRECTION * norm(state.factor):
            memory, direction = memory.empty(), -gradient
            slope = inner(direction, gradient)
        if slope == 0.0:
            break
        first = 1.0 if memory.pairs else 0.25 * norm(state.factor) / norm(direction)
        accepted = _armijo_search(state, direction, slope, first)
        if accepted is None:
            if not memory.pairs:
                break
            state = replace(state, memory=memory.empty())
            continue
        length, here, matvecs = accepted
        step = length * direction
        state = replace(
            state,
            factor=state.factor + step,
            here=here,
            memory=memory.add_pair(step, here.gradient - gradient),
            counts=state.counts.plus(0, 0, matvecs),
        )
        if state.model.is_loss and (
            here.value - state.certificate.dual_bound <= enough or stationarity(state) <= settled
        ):
            break
    return state


def _armijo_search(
    state: FactoredState, direction: Array, slope: float, length: float
) -> tuple[float, Evaluation, int] | None:
    """Return a step length with sufficient decrease, or None.

    When decreases are rounding error, a smaller slope is accepted instead (Hager and Zhang, 2005).
    """
    matvecs, start = 0, state.here.value
    rounding = state.model.rounding(start, state.factor)
    for _ in range(TRIALS):
        here = state.model.evaluate(state.factor + length * direction)
        matvecs += here.matvecs
        if here.value <= start + ARMIJO * length * slope:
            return length, here, matvecs
        if here.value <= start + rounding and abs(inner(here.gradient, direction)) <= -0.9 * slope:
            return length, here, matvecs
        length *= interpolate(length * slope, here.value - start)
        del here  # vectors as long as the data
    return None


def update_multipliers(problem: Problem, state: FactoredState) -> FactoredState:
    """Move the multipliers to the current dual vector; raise the penalty only when feasibility lags."""
    infeasibility = state.certificate.infeasibility
    enough = max(0.3 * state.accuracy, RESOLVED * problem.epsilon)
    lags = infeasibility > 0.25 * state.least_infeasibility and infeasibility > enough
    penalty = state.model.penalty * (PENALTY_GROWTH if lags else 1.0)
    model = replace(state.model, centre=state.here.dual, penalty=penalty)
    here = model.evaluate(state.factor)
    feasible = infeasibility <= 0.1 * state.accuracy
    floor = (SMALLEST_TOLERANCE if feasible else 0.1) * state.accuracy
    return replace(
        state,
        model=model,
        here=here,
        memory=state.memory.empty(),
        counts=state.counts.plus(0, 0, here.matvecs),
        inner_tolerance=max(TOLERANCE_DECREASE * state.inner_tolerance, floor),
        least_infeasibility=min(infeasibility, state.least_infeasibility),
    )


def with_inner_tolerance(problem: Problem, state: FactoredState, reached: float) -> FactoredState:
    """Return the state with the stationarity for the next oracle call, when constraints hold by construction.

    The gap falls about as fast as the stationarity; the aim is a gap of a third of the accuracy.
    """
    share = requested_gap(problem, state) / max(3.0 * abs(state.certificate.absolute_gap), TINY)
    tolerance = reached * min(max(share, SMALLEST_TOLERANCE), TOLERANCE_DECREASE)
    return replace(state, inner_tolerance=max(tolerance, SMALLEST_TOLERANCE * state.accuracy))


def with_first_tolerance(problem: Problem, state: FactoredState) -> FactoredState | None:
    """Return the first state at a given factor: its first stationary point is more stationary than that factor.

    A looser one would repeat what the run that the factor comes from has settled, and raise the penalty on the way.
    Returns None where other constraints have moved the solution so far that the factor is of no use.
    """
    reached = stationarity(state) / objective_scale(problem, state.here.cost)
    if state.model.is_linear_on_spheres:
        return with_inner_tolerance(problem, state, min(reached, state.inner_tolerance))
    if reached > state.inner_tolerance:
        return None
    return replace(state, inner_tolerance=max(TOLERANCE_DECREASE * reached, SMALLEST_TOLERANCE * state.accuracy))
