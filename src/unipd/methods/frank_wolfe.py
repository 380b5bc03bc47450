"""Frank-Wolfe, the baseline that the paper compares with: loss problems only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd import atoms, validate
from unipd._typing import Array
from unipd.dual import DualValue, Slope, Way, asked, loss_slope, moved_along, pictured, valued, way_between
from unipd.errors import InvalidInput
from unipd.methods.base import Counts, State, empty_certificate, known_objective, zero_image
from unipd.methods.warm import WarmPoint
from unipd.methods.weights import best_step
from unipd.primal import AtomList
from unipd.problem import Problem
from unipd.protocols import Loss, SharpAnswer, Tracker, inner
from unipd.records import changed

STEP_SIZES = ("open-loop", "line-search", "short-step")
ORACLE_TOLERANCE = 0.1
"""An inexact oracle may err by this share of the accuracy asked for."""


@dataclass(frozen=True)
class FrankWolfeState(State):
    """State of Frank-Wolfe."""

    recent_atom: Any
    """The last atom, from which an iterative oracle starts."""
    oracle_tolerance: float
    """Absolute error allowed to an inexact oracle."""
    at_zero: bool
    """Whether the method started from a point of X, 0 or an earlier one, so that even the first step may be short."""
    answer: SharpAnswer | None
    """The oracle's answer at the gradient of the first x, which the first step uses."""
    known: tuple[Array, Slope] | None = None
    """An image A x, and grad phi(A x - b) with its sums."""


@dataclass(frozen=True)
class FrankWolfe:
    """Frank-Wolfe (generalised conditional gradient) for min f(x) + phi(A x - b) with a smooth loss phi.

    At x the dual vector is lam = grad phi(A x - b), and the atom is the sharp point at -A^* lam; the same oracle
    call gives the bound -G(lam). ``step_size`` chooses gamma: "open-loop" 2/(k + 2), "line-search" exact,
    "short-step" from the curvature of phi.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.FrankWolfe("line-search"), accuracy=1e-3).status.value
    'solved'
    """

    step_size: str = "line-search"

    def __post_init__(self) -> None:
        validate.choice("step_size", self.step_size, STEP_SIZES)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "frank-wolfe"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FrankWolfeState:
        """Start from x = 0 when X contains it, else from the first atom; a dual start is not used."""
        require_smooth_loss(problem, self.name)
        state = _first_state(problem, tracker, zero_image(problem), accuracy)
        zero = atoms.zero_like(state.recent_atom)
        known = bool(getattr(problem.sharp, "membership_known", True))
        inside = known and problem.sharp.contains(zero)
        return changed(state, at_zero=inside, mean_objective=problem.sharp.objective(zero) if inside else 0.0)

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> FrankWolfeState | None:
        """Start from a point of X; None for the open loop, whose first step forgets where it started."""
        require_smooth_loss(problem, self.name)
        if self.step_size == "open-loop":
            return None
        cost = problem.sharp.objective(warm.point)
        state = _first_state(problem, _filled(tracker, warm), pictured(problem, warm.point), accuracy)
        return changed(state, at_zero=True, mean_objective=cost)

    def step(self, problem: Problem, state: FrankWolfeState) -> FrankWolfeState:
        """Call the oracle at the gradient and move towards the atom."""
        answer, counts, known = state.answer, state.counts, state.known
        lam, sums = known[1] if known is not None and known[0] is state.image else loss_slope(problem, state.image)
        if answer is None:
            answer = asked(problem, lam, tolerance=state.oracle_tolerance, start=state.recent_atom)
            counts = counts.plus(1, 0, 1 + (answer.matvecs or 1))
        proven = valued(problem, lam, answer, sums)
        way = way_between(state.image, pictured(problem, answer.atom))
        fall, rise = answer.value + score(problem, state, proven), answer.objective - state.mean_objective
        gamma = self._gamma(problem, state, way, fall, rise)
        image, slope, loss = moved_along(problem, state.image, gamma, way[0])
        cost = state.mean_objective + gamma * rise
        primal = state.primal.mixed(gamma, answer.atom)
        objective = loss + (cost if problem.linear else known_objective(problem, primal, cost))
        return changed(
            state,
            iteration=state.iteration + 1,
            dual=lam,
            primal=primal,
            image=image,
            mean_objective=cost,
            certificate=state.certificate.renewed(problem, (objective, 0.0), proven),
            counts=counts,
            recent_atom=answer.atom,
            answer=None,
            known=(image, slope),
        )

    def _gamma(self, problem: Problem, state: FrankWolfeState, way: Way, fall: float, rise: float) -> float:
        if state.iteration == 0 and not state.at_zero:
            return 1.0
        if self.step_size == "open-loop":
            return 2.0 / (state.iteration + 2.0)
        if self.step_size == "line-search":
            return best_step(problem, state.image, way, fall, rise)
        curve = _smooth_loss(problem).curvature() * way[1]
        return 1.0 if curve == 0.0 else min(1.0, max(0.0, fall / curve))


def score(problem: Problem, state: State, proven: DualValue) -> float:
    """Return <lam, A xbar> + f(xbar) at lam = grad phi(A xbar - b): for least squares <lam, b> and ||lam||^2 tell it.

    What it exceeds by that of the oracle's atom is the Frank-Wolfe gap, the slope along the way there.
    """
    if problem.inverse is None or proven.energy is None:
        return inner(proven.dual, state.image) + state.mean_objective
    return proven.linear + problem.inverse * proven.energy + state.mean_objective


def _first_state(problem: Problem, tracker: Tracker, image: Array, accuracy: float) -> FrankWolfeState:
    """Call the oracle at the gradient of the first point."""
    tolerance = ORACLE_TOLERANCE * accuracy * problem.scale(0.0)
    lam = loss_slope(problem, image)[0]
    answer = asked(problem, lam, tolerance=tolerance)
    return FrankWolfeState(
        iteration=0,
        dual=lam,
        primal=tracker,
        image=image,
        mean_objective=0.0,
        certificate=empty_certificate(lam),
        counts=Counts().plus(oracle_calls=1, matvecs=1 + (answer.matvecs or 1)),
        smoothness=math.nan,
        dual_step=math.nan,
        gradient_change=math.nan,
        failure=None,
        recent_atom=answer.atom,
        oracle_tolerance=tolerance,
        at_zero=False,
        answer=answer,
    )


def _filled(tracker: Tracker, warm: WarmPoint) -> Tracker:
    """Return the tracker of a point: by its atoms where they are known and kept, else as one atom."""
    if not (warm.atoms and isinstance(tracker, AtomList)):
        return tracker.mixed(1.0, warm.point)
    total = 0.0
    for weight, atom in zip(warm.weights, warm.atoms, strict=True):
        total += weight
        tracker = tracker.mixed(weight / total if total > 0.0 else 1.0, atom)
    return tracker


def require_smooth_loss(problem: Problem, name: str) -> None:
    """Raise unless the problem has a smooth loss, which Frank-Wolfe methods need."""
    if problem.loss is None or not math.isfinite(problem.loss.curvature()):
        got = type(problem.coupling).__name__
        raise InvalidInput("method", f"a problem with a smooth loss for {name}", got)


def _smooth_loss(problem: Problem) -> Loss:
    assert problem.loss is not None
    return problem.loss
