"""QuasiNewton: limited-memory quasi-Newton steps on a smooth dual, safeguarded by Algorithm 2 (Theorem 4.2).

G = g + h is smooth where f is strictly convex and h is 0 on a cone of signs: K = {0}, orthants, products of these, and
losses in the slack split. Then x^*(lam) is unique and its residual is the gradient, so quasi-Newton steps on G alone
solve the primal problem as well. An iteration is one of two:

- a *quasi-Newton step*: d = -H (gradient on the free entries), H from the last ``memory`` pairs (s, y) = (change of
  lam, change of gradient) by the two-loop recursion; lam+ = P(lam + tau d), tau halved or interpolated until
  G(lam+) <= G(lam) + c <grad g(lam), lam+ - lam>;
- a *universal step*, at every ``period``-th iteration and where the former fails: iteration k of Algorithm 2, which
  gives z. The better of z and lam becomes lam_{k+1}, and with v_{k+1} = lam_k + t_k (z - lam_k)

      lambda-hat_{k+1} = (1 - 1/t_{k+1}) lam_{k+1} + (1/t_{k+1}) v_{k+1},

  which is Algorithm 2 itself where lam_{k+1} = z.

The proof of Theorem 4.2 uses of lam_{k+1} only that G(lam_{k+1}) <= G(z): its estimates hold for the averages xbar_k
of the universal steps, whatever the quasi-Newton steps do. The point reported is the better of xbar_k and x^*(lam).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import inner
from unipd._util.context import out_of_time
from unipd.dual import DualPoint, call_oracle, dual_point, dual_value, evaluate, image_of
from unipd.methods.base import (
    Counts,
    Measures,
    State,
    WarmPoint,
    empty_certificate,
    fast_replace,
    keep_incumbent,
    measure_point,
    require_applicable,
    require_domain,
    target_eps,
)
from unipd.methods.descent import ARMIJO, TRIALS, LBFGSMemory, interpolate
from unipd.methods.universal.accunipdgrad import AccUniPDGrad, AccUniPDGradState
from unipd.methods.universal.common import SLACK_SHARE, VALUE_ROUNDING, smoothness_of_step
from unipd.problem import Problem
from unipd.protocols import Tracker

_LONGEST_WAIT = 10
"""After a failed quasi-Newton step at most 2 to this power of universal steps are taken."""


def has_sign_cone(problem: Problem) -> bool:
    """Whether h is 0 on a cone of signs and infinite elsewhere, so that G is as smooth as g on its domain.

    Parameters
    ----------
    problem
        The problem.

    See Also
    --------
    QuasiNewton

    Examples
    --------
    >>> import unipd
    >>> has_sign_cone(unipd.Problem(unipd.sharp.Entropy(2), np.eye(2), [0.5, 0.6], "<="))
    True
    """
    return problem.free_dual or problem.coupling.dual_signs is not None


@dataclass(frozen=True)
class QuasiNewtonState(State):
    """State of QuasiNewton; point and certificate are the better of x^*(lam) and the universal average."""

    point: DualPoint
    """The oracle's answer at lam, with the gradient of g."""
    memory: LBFGSMemory
    """The pairs (s, y) of the last quasi-Newton steps."""
    universal: AccUniPDGradState | None
    """The state of Algorithm 2; None before the first universal step."""
    tracker: Tracker
    """The empty tracker, which keeps x^*(lam)."""
    eps: float
    """Absolute accuracy of Algorithm 2, and of an inexact oracle."""
    accuracy: float
    """Relative accuracy requested."""
    least_smoothness: float
    """Lower bound on M_bar that the steps so far prove: Algorithm 2 may start there. 0 if none does."""
    streak: int
    """Quasi-Newton steps since the last universal one."""
    waiting: int
    """Universal steps to take before the next quasi-Newton step."""
    setbacks: int
    """Quasi-Newton steps that have failed: after each, twice as many universal steps are taken."""

    @property
    def absolute_accuracy(self) -> float:
        """The absolute accuracy eps."""
        return self.eps

    def cap_bound(self, bound: float, bound_kind: str) -> QuasiNewtonState:
        """Return the state with no dual bound above ``bound``, here and in the state of Algorithm 2."""
        own = super().cap_bound(bound, bound_kind)
        if self.universal is None:
            return own
        return fast_replace(own, universal=self.universal.cap_bound(bound, bound_kind))


@dataclass(frozen=True)
class QuasiNewton:
    """Limited-memory quasi-Newton method on a smooth dual, with the guarantee of AccUniPDGrad.

    For strictly convex f: K = {0}, "<=", ">=", products of these, or a loss in the slack split. With N iterations,
    Theorem 4.2 holds with k = N / ``period`` or more; where g is smooth, far fewer are needed.

    Parameters
    ----------
    memory
        Pairs of changes of lam and of the gradient that are kept.
    period
        Every so many iterations one is a universal step.
    eps
        The accuracy eps of the paper, absolute. Default: the relative accuracy times the size of the objective.

    Raises
    ------
    InvalidInput
        ``memory``, ``period``: expected an integer of at least 1; ``eps``: expected a number above zero.

    See Also
    --------
    AccUniPDGrad, Restarts

    Examples
    --------
    The distribution of largest entropy with a given mean:

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Entropy(6), [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], [4.5], "=")
    >>> unipd.solve(problem, unipd.QuasiNewton(), accuracy=1e-8).x.round(3)
    array([0.054, 0.079, 0.114, 0.165, 0.24 , 0.347])
    """

    name = "quasi-newton"

    memory: int = 20
    period: int = 10
    eps: float | None = None

    def __post_init__(self) -> None:
        validate.integer("memory", self.memory, minimum=1)
        validate.integer("period", self.period, minimum=1)
        if self.eps is not None:
            validate.positive("eps", self.eps)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> QuasiNewtonState:
        """Call the oracle at lam_0."""
        needs = 'multipliers that are free or signed: "=", "<=", ">=", their products, or a loss in the slack split'
        require_applicable(problem, self.name, needs, is_met=has_sign_cone(problem))
        require_domain(problem, dual)
        goal = accuracy * problem.typical_objective if self.eps is None else self.eps
        point = evaluate(problem, dual, tolerance=SLACK_SHARE * goal)
        return QuasiNewtonState(
            dual=dual,
            primal=tracker.mix(1.0, point.atom),
            image=point.image,
            mean_objective=point.objective,
            certificate=empty_certificate(dual).update_point_and_bound(problem, _measure(problem, point), point),
            counts=Counts(1, 0, point.matvecs),
            smoothness=smoothness_of_step(problem, point, 0.0),
            point=point,
            memory=LBFGSMemory(limit=self.memory),
            universal=None,
            tracker=tracker,
            eps=target_eps(problem, self.eps, accuracy, point.objective),
            accuracy=accuracy,
            least_smoothness=0.0,
            streak=0,
            waiting=0,
            setbacks=0,
        )

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> QuasiNewtonState:
        """Start from a dual vector, with the pairs of an earlier run of this method: the Hessian changes slowly."""
        first, earlier = self.start(problem, tracker, warm.dual, accuracy), warm.state
        if not isinstance(earlier, QuasiNewtonState) or earlier.dual.shape != problem.dual_shape:
            return first
        memory = LBFGSMemory(earlier.memory.pairs[-self.memory :], self.memory)
        return fast_replace(first, memory=memory, smoothness=earlier.smoothness)

    def step(self, problem: Problem, state: QuasiNewtonState) -> QuasiNewtonState:
        """Do a quasi-Newton step where it is due and succeeds, else a universal one."""
        if state.waiting == 0 and state.streak < self.period - 1:
            state, found = self._search(problem, state)
            if found is not None:
                return self._accept(problem, state, found)
        return self._universal_step(problem, state)

    def _search(self, problem: Problem, state: QuasiNewtonState) -> tuple[QuasiNewtonState, DualPoint | None]:
        """Return the state with the work counted and the accepted trial point, None if the step fails."""
        base, signs, counts = state.point, _signs(problem), state.counts
        direction = _direction(state, signs)
        step, tolerance = 1.0, 0.5 * SLACK_SHARE * state.eps
        for _ in range(TRIALS):
            dual = _project(base.dual + step * direction, signs)
            slope = inner(base.gradient, dual - base.dual)
            if not slope < 0.0 or out_of_time():
                break
            answer = call_oracle(problem, dual, tolerance=tolerance, start=base.atom)
            trial = dual_value(problem, dual, answer)
            counts = counts.plus(1, 1, trial.matvecs)
            rounding = VALUE_ROUNDING * problem.epsilon * (abs(base.value) + abs(trial.value) + abs(trial.linear))
            if trial.value <= base.value + ARMIJO * slope + rounding:
                found = dual_point(problem, dual, answer, image_of(problem, answer.atom))
                return fast_replace(state, counts=counts.plus(matvecs=found.matvecs - trial.matvecs)), found
            step *= interpolate(slope, trial.value - base.value)
        setbacks = state.setbacks + 1
        waiting, memory = 2 ** min(setbacks, _LONGEST_WAIT), state.memory.empty()
        return fast_replace(state, counts=counts, memory=memory, setbacks=setbacks, waiting=waiting), None

    def _accept(self, problem: Problem, state: QuasiNewtonState, found: DualPoint) -> QuasiNewtonState:
        """Return the state at the accepted trial point, with its pair."""
        base = state.point
        change, turn = found.dual - base.dual, found.gradient - base.gradient
        length_sq, curvature = inner(change, change), inner(change, turn)
        excess = found.value - base.value - inner(base.gradient, change) - 0.5 * state.eps
        return _report(
            problem,
            fast_replace(state, memory=state.memory.add_pair(change, turn), streak=state.streak + 1),
            found,
            least_smoothness=max(state.least_smoothness, 2.0 * excess / length_sq),
            smoothness=curvature / length_sq if curvature > 0.0 else state.smoothness,
            dual_step=math.sqrt(length_sq),
            gradient_change=math.sqrt(inner(turn, turn)),
        )

    def _universal_step(self, problem: Problem, state: QuasiNewtonState) -> QuasiNewtonState:
        """Do an iteration of Algorithm 2 and continue from the better of its z and lam."""
        method = AccUniPDGrad(eps=state.eps, smoothness=state.least_smoothness or None)
        before, counts = state.universal, state.counts
        if before is None:
            before = method.start(problem, state.tracker, state.dual, state.accuracy, state.point)
            counts += before.counts
        after = method.step(problem, fast_replace(before, counts=counts))
        point = evaluate(problem, after.dual, tolerance=SLACK_SHARE * state.eps, start=state.point.atom)
        counts = after.counts.plus(1, 0, point.matvecs)
        if point.value >= state.point.value:
            point, after = state.point, _move_to(after, before, state.dual)
        return _report(
            problem,
            fast_replace(state, universal=after, counts=counts, streak=0, waiting=max(state.waiting - 1, 0)),
            point,
            smoothness=after.smoothness,
            dual_step=after.dual_step,
            gradient_change=after.gradient_change,
            failure=after.failure if state.waiting else None,
        )


def _report(problem: Problem, state: QuasiNewtonState, point: DualPoint, **changes: Any) -> QuasiNewtonState:
    """Return the state after an iteration: at a dual point, with the better one of x^*(lam) and the average."""
    measures = _measure(problem, point)
    new = fast_replace(
        state,
        iteration=state.iteration + 1,
        dual=point.dual,
        point=point,
        primal=state.tracker.mix(1.0, point.atom),
        image=point.image,
        mean_objective=point.objective,
        certificate=state.certificate.update_point_and_bound(problem, measures, point),
        **changes,
    )
    return new if new.universal is None else keep_incumbent(problem, new, new.universal)


def _measure(problem: Problem, point: DualPoint) -> Measures:
    """Return objective and feasibility of x^*(lam), with f as the oracle returned it."""
    return measure_point(problem, None, point.image, point.objective)


def _signs(problem: Problem) -> Any:
    """Return 1 or -1 for entries of lam that are nonnegative or nonpositive, 0 for free ones."""
    return 0.0 if problem.free_dual else problem.coupling.dual_signs


def _project(dual: Array, signs: Any) -> Array:
    """Return the nearest vector with these signs.

    >>> _project(np.array([-1.0, -2.0, 3.0]), np.array([0.0, 1.0, 1.0]))
    array([-1.,  0.,  3.])
    """
    return np.where(signs * dual < 0.0, 0.0, dual).astype(dual.dtype, copy=False) if np.any(signs) else dual


def _direction(state: QuasiNewtonState, signs: Any) -> Array:
    """Return -H grad in the subspace of the free entries: those not at 0 with a gradient that keeps them there."""
    dual, gradient, memory = state.dual, state.point.gradient, state.memory
    if np.any(signs):
        free = ~((signs * dual <= 0.0) & (signs * gradient >= 0.0) & (signs != 0.0))
        gradient = free * gradient
        for_free = memory.empty()
        for change, turn in memory.pairs:
            for_free = for_free.add_pair(free * change, free * turn)
        memory = for_free
    return memory.direction(gradient) if memory.pairs else -gradient / state.smoothness


def _move_to(after: AccUniPDGradState, before: AccUniPDGradState, dual: Array) -> AccUniPDGradState:
    """Return the state of Algorithm 2 with lam_{k+1} replaced by a vector at which G is no higher.

    lambda-hat_{k+1} = (1 - 1/t_{k+1}) lam_{k+1} + (1/t_{k+1}) (lam_k + t_k (z - lam_k)) is stored as the vector
    towards which the next iteration extrapolates by -1, i.e. all the way.
    """
    momentum = before.dual + before.t * (after.dual - before.dual)
    extrapolated = dual + (momentum - dual) / after.t
    return fast_replace(after, dual=dual, dual_previous=extrapolated, extrapolation=-1.0)
