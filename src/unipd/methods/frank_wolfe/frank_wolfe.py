"""Frank-Wolfe (generalised conditional gradient) for smooth losses, the baseline of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import inner
from unipd.dual import DualValue, call_oracle, dual_value, image_of
from unipd.methods.base import (
    ORACLE_SHARE,
    Counts,
    Measures,
    State,
    WarmPoint,
    empty_certificate,
    fast_replace,
    known_objective,
    require_applicable,
    zero_image,
)
from unipd.methods.descent import (
    Direction,
    LossGradient,
    direction_between,
    exact_step,
    loss_gradient,
    parabola_step,
    step_along,
)
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker
from unipd.trackers.atoms import HasAtoms

STEP_SIZES = ("open-loop", "line-search", "short-step")


@dataclass(frozen=True, kw_only=True)
class GradientState(State):
    """State of a method that calls the oracle at the gradient of a smooth loss."""

    oracle_tolerance: float
    """Absolute error allowed to an inexact oracle."""
    cached_gradient: tuple[Array, LossGradient] | None = None
    """An image A x, and grad phi(A x - b) with its sums."""


def gradient_at(problem: Problem, state: GradientState) -> LossGradient:
    """Return grad phi(A x - b), known from the last step where that ended at this image."""
    known = state.cached_gradient
    return known[1] if known is not None and known[0] is state.image else loss_gradient(problem, state.image)


@dataclass(frozen=True, kw_only=True)
class FrankWolfeState(GradientState):
    """State of Frank-Wolfe."""

    warm_start: Any
    """The last atom, from which an iterative oracle starts."""
    starts_in_set: bool
    """Whether the first A x is that of a point of X, 0 or an earlier one, so that even the first step may be short."""
    answer: SharpAnswer | None
    """The oracle's answer at the gradient of the first x, which the first step uses."""


@dataclass(frozen=True)
class FrankWolfe:
    """Frank-Wolfe (generalised conditional gradient) for min f(x) + phi(A x - b) with a smooth loss phi.

    At x the dual vector is lam = grad phi(A x - b), and the atom is the sharp point at -A^* lam; the same oracle
    call gives the bound -G(lam). ``step_size`` chooses gamma: "open-loop" 2/(k + 2), "line-search" exact,
    "short-step" from the curvature of phi.

    Parameters
    ----------
    step_size
        "open-loop" (2 / (k + 2)), "short-step" (from the loss's curvature) or "line-search".

    Raises
    ------
    InvalidInput
        If ``step_size`` is none of these; at the start of a run, if the coupling is not a smooth loss.

    See Also
    --------
    AwayStepFrankWolfe, PairwiseFrankWolfe, BlendedPairwise

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.FrankWolfe("line-search"), accuracy=1e-3).status.value
    'solved'
    """

    name = "frank-wolfe"

    step_size: str = "line-search"

    def __post_init__(self) -> None:
        validate.choice("step_size", self.step_size, STEP_SIZES)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FrankWolfeState:
        """Start from x = 0 when X contains it, else from the first atom; a dual start is not used."""
        require_smooth_loss(problem, self.name)
        state = _first_state(problem, tracker, zero_image(problem), accuracy)
        zero = atoms.zero_like(state.warm_start)
        known = problem.sharp.has_membership_test
        inside = known and problem.sharp.contains(zero)
        return fast_replace(
            state, starts_in_set=inside, mean_objective=problem.sharp.objective(zero) if inside else 0.0
        )

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> FrankWolfeState | None:
        """Start from a point of X; None for the open loop, whose first step goes all the way to a vertex."""
        require_smooth_loss(problem, self.name)
        if self.step_size == "open-loop" or warm.point is None:
            return None
        cost = problem.sharp.objective(warm.point)
        state = _first_state(problem, _start_tracker(tracker, warm), image_of(problem, warm.point), accuracy)
        return fast_replace(state, starts_in_set=True, mean_objective=cost)

    def step(self, problem: Problem, state: FrankWolfeState) -> FrankWolfeState:
        """Call the oracle at the gradient and move towards its vertex."""
        # 1: the gradient, the oracle's vertex, and the bound that both give
        answer, counts, (lam, sums) = state.answer, state.counts, gradient_at(problem, state)
        if answer is None:
            answer = call_oracle(problem, lam, tolerance=state.oracle_tolerance, start=state.warm_start)
            counts = counts.plus(1, 0, 1 + (answer.matvecs or 1))
        bound = dual_value(problem, lam, answer, sums)

        # 2: the step towards the vertex, from the Frank-Wolfe gap
        gap, cost_change = linear_score(problem, state, bound) + answer.value, answer.objective - state.mean_objective
        direction = direction_between(state.image, image_of(problem, answer.atom))
        gamma = self._choose_step(problem, state, direction, gap, cost_change)

        # 3: the point there
        image, gradient, loss = step_along(problem, state.image, gamma, direction[0])
        cost, primal = state.mean_objective + gamma * cost_change, state.primal.mix(gamma, answer.atom)
        objective = loss + known_objective(problem, primal, cost)
        return fast_replace(
            state,
            iteration=state.iteration + 1,
            dual=lam,
            primal=primal,
            image=image,
            mean_objective=cost,
            certificate=state.certificate.update_point_and_bound(problem, Measures(objective, 0.0, 0.0), bound),
            counts=counts,
            warm_start=answer.atom,
            answer=None,
            cached_gradient=(image, gradient),
        )

    def _choose_step(
        self, problem: Problem, state: FrankWolfeState, direction: Direction, gap: float, cost_change: float
    ) -> float:
        if state.iteration == 0 and not state.starts_in_set:
            return 1.0
        if self.step_size == "open-loop":
            return 2.0 / (state.iteration + 2.0)
        if self.step_size == "line-search":
            return exact_step(problem, state.image, direction, gap, cost_change)
        assert problem.loss is not None
        return parabola_step(gap, problem.loss.curvature() * direction[1])


def linear_score(problem: Problem, state: State, value: DualValue) -> float:
    """Return <lam, A x> + f(x) at lam = grad phi(A x - b); for least squares it follows from <lam, b> and ||lam||^2.

    With the oracle's value added it is the Frank-Wolfe gap, the rate of decrease towards the oracle's vertex.
    """
    if problem.conjugate_curvature is None:
        return inner(value.dual, state.image) + state.mean_objective
    return value.linear + problem.conjugate_curvature * value.dual_norm_sq + state.mean_objective


def _first_state(problem: Problem, tracker: Tracker, image: Array, accuracy: float) -> FrankWolfeState:
    """Call the oracle at the gradient of the first point."""
    tolerance = ORACLE_SHARE * accuracy * problem.typical_objective
    lam = loss_gradient(problem, image)[0]
    answer = call_oracle(problem, lam, tolerance=tolerance)
    return FrankWolfeState(
        dual=lam,
        primal=tracker,
        image=image,
        mean_objective=0.0,
        certificate=empty_certificate(lam),
        counts=Counts(1, 0, 1 + (answer.matvecs or 1)),
        warm_start=answer.atom,
        oracle_tolerance=tolerance,
        starts_in_set=False,
        answer=answer,
    )


def _start_tracker(tracker: Tracker, warm: WarmPoint) -> Tracker:
    """Return the tracker of a point: by its atoms where they are known and kept, else as one atom."""
    if not (warm.weights and isinstance(tracker, HasAtoms)):
        return tracker.mix(1.0, warm.point)
    total = 0.0
    for weight, atom in zip(warm.weights, warm.atoms, strict=True):
        total += weight
        tracker = tracker.mix(weight / total if total > 0.0 else 1.0, atom)
    return tracker


def require_smooth_loss(problem: Problem, name: str) -> None:
    """Raise unless the problem has a smooth loss, which Frank-Wolfe methods need."""
    require_applicable(problem, name, "a smooth loss", is_met=problem.has_smooth_loss)
