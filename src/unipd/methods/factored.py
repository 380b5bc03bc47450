"""The factored corrective method for spectral sets: re-optimise over the factors, certify by one eigenvector."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.dual import DualPoint, evaluate
from unipd.methods.augmented import Augmented, Evaluation
from unipd.methods.base import Counts, State, empty_certificate, primal_certificate
from unipd.methods.corrective import has_smooth_loss
from unipd.methods.factors import Factors
from unipd.methods.lbfgs import Memory
from unipd.methods.product_factors import factors_of
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import Tracker, inner, norm
from unipd.status import Status

START_TOLERANCE = 1e-2
"""Share of the problem's scale that the oracle's first answer may err by."""
ORACLE_SHARE = 0.1
"""An inexact oracle may err by this share of the accuracy asked for."""
PAYS = 0.3
"""Steps go on without the oracle while they gain this share of the gap."""
GROWTH = 3.0
"""Factor by which the penalty grows when feasibility lags."""
EXACT = 1e-11
"""Relative infeasibility at which the constraints hold by construction: then only stationarity is left to gain."""
LARGEST_MIX = 0.5
"""Largest share of an atom that is mixed in."""
FIRST_MIX = 1e-2
"""Share of an atom tried first when the segment towards it tells nothing."""
LEAST_MIX = 1e-8
"""Share below which an atom is given up."""
LEAST_AIM = 1e-2
"""Factor by which the stationarity asked for falls at most between two calls of the oracle."""
ROUNDING = 1e-14
"""Relative decrease below which steps are lost in rounding."""
JUDGED_INFEASIBILITY = 1e-2
"""The oracle is not asked while the relative infeasibility is larger."""


@dataclass(frozen=True)
class FactoredState(State):
    """State of the factored method."""

    model: Augmented
    """The objective over the factor: loss, or augmented Lagrangian with multipliers and penalty."""
    factor: Array
    """R."""
    here: Evaluation
    """The model at R."""
    memory: Memory
    """Pairs of the quasi-Newton directions."""
    accuracy: float
    """Relative accuracy asked for."""
    inner_tolerance: float
    """Relative stationarity at which the multipliers move (constrained problems)."""
    least_infeasibility: float
    """Smallest infeasibility at a move of the multipliers so far."""
    recent_atom: Any
    """The last atom of the oracle."""


@dataclass(frozen=True)
class Factored:
    """Factored corrective method: X = R R^* (or U V^*) by quasi-Newton steps, then one oracle call that judges.

    A smooth loss is minimised over the factor directly; a constraint enters through its augmented Lagrangian, whose
    multipliers are the dual vector. When the steps no longer pay, the oracle is called at that dual vector: its
    value gives the bound -G, and its atom, mixed in with the best gamma, is the way out of a point that is only a
    local optimum at the present rank. The factored problem is not convex, but the bound does not depend on it:
    nothing is claimed without the oracle's word.

    Parameters
    ----------
    rank
        Columns of R to begin with; default 1 for losses, about sqrt(2 n) (at most 40) for n constraints.
    inner_steps
        Quasi-Newton steps an iteration.
    memory
        Pairs kept for the quasi-Newton directions.
    seed
        Seed of the random columns beyond the first.
    factors
        The factored form of the set; default: found from the oracle.

    Examples
    --------
    >>> import unipd
    >>> target = np.diag([0.75, 0.25])
    >>> pauli = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(2), pauli, target.ravel(), loss)
    >>> unipd.solve(problem, unipd.Factored(), accuracy=1e-8).status.value
    'solved'
    """

    rank: int | None = None
    inner_steps: int = 10
    memory: int = 8
    seed: int = 0
    factors: Factors | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            validate.integer("rank", self.rank, minimum=1)
        validate.integer("inner_steps", self.inner_steps, minimum=1)
        validate.integer("memory", self.memory, minimum=1)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "factored"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the atom at the dual vector given, for a loss by default its gradient at X = 0."""
        smooth = has_smooth_loss(problem)
        if smooth and problem.loss is not None and not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * problem.scale(0.0))
        certificate = empty_certificate(dual).improved(problem, point)
        factors = self.factors or factors_of(problem.sharp)
        columns = self.rank or (1 if smooth else min(math.ceil(math.sqrt(2 * problem.b.size)) + 1, 40))
        factor = factors.start(point.atom, columns, self.seed)
        penalty = 0.0 if smooth else _first_penalty(problem, point, factors.point(factor))
        model = Augmented(problem, factors, dual, penalty)
        here = model.evaluate(factor)
        return FactoredState(
            iteration=0,
            dual=here.dual,
            primal=Fixed(here.point),
            image=here.image,
            mean_objective=here.cost,
            certificate=primal_certificate(problem, Fixed(here.point), here.image, here.cost, certificate),
            counts=Counts().plus(1, 0, point.matvecs + here.matvecs),
            smoothness=math.nan,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            model=model,
            factor=factor,
            here=here,
            memory=Memory(limit=self.memory),
            accuracy=accuracy,
            inner_tolerance=0.1,
            least_infeasibility=math.inf,
            recent_atom=point.atom,
        )

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do some quasi-Newton steps; when they no longer pay, move the multipliers and ask the oracle."""
        moved = _descended(state, self.inner_steps)
        moved = _reported(problem, replace(moved, iteration=state.iteration + 1))
        if state.model.penalty == 0.0:
            gap = moved.certificate.gap
            pays = state.here.value - moved.here.value >= PAYS * gap
            return moved if pays or gap <= _eps(problem, moved) else _judged(problem, moved)
        stuck = state.here.value - moved.here.value <= ROUNDING * abs(moved.here.value)
        if stationarity(moved) > moved.inner_tolerance * problem.scale(moved.here.cost) and not stuck:
            return moved
        moved = _with_new_multipliers(problem, moved)
        relative = moved.certificate.infeasibility / max(1.0, problem.norm_b)
        if relative > JUDGED_INFEASIBILITY:
            return moved
        judged = _judged(problem, moved)
        if relative > EXACT:
            return judged
        idle = judged.factor is state.factor and judged.certificate.dual_bound <= state.certificate.dual_bound
        failure = Status.STALLED if idle and judged.counts.oracle_calls > 2 else None
        return replace(_with_aim(problem, judged, state.inner_tolerance), failure=failure)


def stationarity(state: FactoredState) -> float:
    """Return ||grad|| ||R||: to first order, what a step of the length of R itself could gain."""
    return norm(state.here.gradient) * norm(state.factor)


def _eps(problem: Problem, state: FactoredState) -> float:
    """Return the absolute accuracy asked for, at the present objective."""
    objective = state.certificate.objective
    return state.accuracy * problem.scale(objective if math.isfinite(objective) else 0.0)


def _descended(state: FactoredState, steps: int) -> FactoredState:
    """Take quasi-Newton steps with a backtracking line search."""
    factors = state.model.factors
    enough = 0.5 * _eps(state.model.problem, state)
    for _ in range(steps):
        direction = state.memory.direction(state.here.gradient, factors.preconditioner(state.factor))
        slope = inner(direction, state.here.gradient)
        memory = state.memory
        if slope >= 0.0:
            memory = Memory(limit=memory.limit)
            direction = -state.here.gradient
            slope = inner(direction, state.here.gradient)
        if slope == 0.0:
            break
        first = 1.0 if memory.pairs else 0.25 * norm(state.factor) / norm(direction)
        found = _line_search(state, direction, slope, first)
        if found is None:
            if not memory.pairs:
                break
            state = replace(state, memory=Memory(limit=memory.limit))
            continue
        length, here, matvecs = found
        step = length * direction
        memory = memory.extended(step, here.gradient - state.here.gradient)
        counts = state.counts.plus(0, 0, matvecs)
        state = replace(state, factor=state.factor + step, here=here, memory=memory, counts=counts)
        if state.model.penalty == 0.0 and here.value - state.certificate.dual_bound <= enough:
            break
    return state


def _line_search(
    state: FactoredState, direction: Array, slope: float, length: float
) -> tuple[float, Evaluation, int] | None:
    """Return a step length with sufficient decrease, or None.

    Where decreases are lost in rounding, a smaller slope counts in their place (Hager and Zhang, 2005).
    """
    matvecs, start = 0, state.here.value
    for _ in range(12):
        here = state.model.evaluate(state.factor + length * direction)
        matvecs += here.matvecs
        if here.value <= start + 1e-4 * length * slope:
            return length, here, matvecs
        if here.value <= start + ROUNDING * abs(start) and abs(inner(here.gradient, direction)) <= -0.9 * slope:
            return length, here, matvecs
        excess = here.value - start - length * slope
        length *= min(0.5, max(0.1, -0.5 * length * slope / excess)) if excess > 0 else 0.5
    return None


def _reported(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state with what the loop reads: point, image, certificate."""
    here, tracker = state.here, Fixed(state.here.point)
    certificate = primal_certificate(problem, tracker, here.image, here.cost, state.certificate)
    return replace(
        state,
        dual=here.dual,
        primal=tracker,
        image=here.image,
        mean_objective=here.cost,
        certificate=certificate,
        dual_step=norm(here.dual - state.dual),
    )


def _with_new_multipliers(problem: Problem, state: FactoredState) -> FactoredState:
    """Move the multipliers to the dual vector at hand; raise the penalty only when feasibility lags."""
    infeasibility = state.certificate.infeasibility
    lags = infeasibility > 0.25 * state.least_infeasibility and infeasibility > 0.3 * state.accuracy * max(
        1.0, problem.norm_b
    )
    penalty = state.model.penalty * (GROWTH if lags else 1.0)
    model = state.model.at(state.here.dual, penalty)
    here = model.evaluate(state.factor)
    floor = 0.1 * state.accuracy
    return replace(
        state,
        model=model,
        here=here,
        memory=Memory(limit=state.memory.limit),
        counts=state.counts.plus(0, 0, here.matvecs),
        inner_tolerance=max(0.3 * state.inner_tolerance, floor),
        least_infeasibility=min(infeasibility, state.least_infeasibility),
    )


def _with_aim(problem: Problem, state: FactoredState, reached: float) -> FactoredState:
    """Return the state with the stationarity at which to ask the oracle next, constraints holding by construction.

    The gap falls about as fast as the stationarity does; the aim is a gap of a third of the accuracy.
    """
    share = _eps(problem, state) / max(3.0 * abs(state.certificate.gap), 1e-300)
    aim = reached * min(max(share, LEAST_AIM), 0.3)
    return replace(state, inner_tolerance=max(aim, LEAST_AIM * state.accuracy))


def _judged(problem: Problem, state: FactoredState) -> FactoredState:
    """Ask the oracle at the present dual vector: for the bound, and for a direction that the factor lacks."""
    dual = state.model.completed(state.here, state.factor)
    eps = _eps(problem, state)
    tolerance = max(ORACLE_SHARE * eps, 0.03 * abs(state.certificate.gap))
    if not math.isfinite(tolerance):
        tolerance = START_TOLERANCE * problem.scale(0.0)
    point = evaluate(problem, dual, tolerance=tolerance, start=state.recent_atom)
    state = _with_bound(problem, state, dual, point)
    within_reach = state.certificate.gap - point.error <= eps
    if state.certificate.gap > eps and within_reach:
        sure = evaluate(problem, dual, tolerance=ORACLE_SHARE * eps, start=point.atom, certified=True)
        state = _with_bound(problem, state, dual, sure)
    here = state.here
    promise = inner(dual, here.image - point.image) + here.cost - point.objective
    if promise <= max(0.25 * eps, 2.0 * stationarity(state)):
        return state
    return _escaped(problem, state, point)


def _with_bound(problem: Problem, state: FactoredState, dual: Array, point: DualPoint) -> FactoredState:
    """Return the state with the bound that an oracle's answer gives."""
    certificate = state.certificate.improved(problem, point)
    counts = state.counts.plus(1, 0, point.matvecs)
    return replace(state, certificate=certificate, counts=counts, recent_atom=point.atom)


def _escaped(problem: Problem, state: FactoredState, point: DualPoint) -> FactoredState:
    """Mix the oracle's atom into the factor with the best gamma.

    Where the factors keep rows by construction the mixture is no segment: then gamma shrinks until the objective
    falls, and grows while that pays.
    """
    model, start = state.model, state.here.value
    gamma = model.best_gamma(state.here, point.image, point.objective)
    gamma = min(gamma, LARGEST_MIX) if gamma > 0.0 else FIRST_MIX

    def mixed(share: float) -> tuple[Array, Evaluation]:
        factor = model.factors.joined(state.factor, point.atom, share)
        return factor, model.evaluate(factor)

    best = mixed(gamma)
    matvecs = best[1].matvecs
    while best[1].value >= start and gamma > LEAST_MIX:
        gamma *= 0.1
        best = mixed(gamma)
        matvecs += best[1].matvecs
    while 4.0 * gamma <= LARGEST_MIX:
        gamma *= 4.0
        further = mixed(gamma)
        matvecs += further[1].matvecs
        if further[1].value >= best[1].value:
            break
        best = further
    counts = state.counts.plus(0, 0, matvecs)
    if best[1].value >= start:
        return replace(state, counts=counts)
    memory = Memory(limit=state.memory.limit)
    return _reported(problem, replace(state, factor=best[0], here=best[1], memory=memory, counts=counts))


def _first_penalty(problem: Problem, point: DualPoint, first: Any) -> float:
    """Return sigma_0 = 2 |f| / ||b||^2: the penalty of X = 0 weighs as much as the objective of a typical point.

    Typical is the larger of the atom and the first point: an atom that minimises f may well have f = 0.
    """
    typical = max(abs(point.objective), abs(problem.sharp.objective(first)), 1e-3)
    return 2.0 * typical / max(problem.norm_b**2, 1e-9)
