"""Away-step and pairwise Frank-Wolfe: baselines that converge linearly over polytopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.dual import DualPoint, blame, evaluate, evaluate_along, oracle_errors
from unipd.methods.base import Counts, State, empty_certificate, primal_certificate, zero_image
from unipd.methods.frank_wolfe import ORACLE_TOLERANCE, loss_gradient, require_smooth_loss
from unipd.methods.warm import WarmPoint
from unipd.methods.weights import best_step
from unipd.primal.active_set import ActiveSet, Vertex, vertex_key
from unipd.problem import Problem
from unipd.protocols import Tracker, inner, norm
from unipd.records import changed

REFRESH = 100
"""Recompute A xbar from the active vertices after so many iterations, so that rounding does not pile up."""


@dataclass(frozen=True)
class ActiveSetState(State):
    """State of a Frank-Wolfe method with an active set."""

    active: ActiveSet
    """The vertices that make up xbar; it is also the primal tracker."""
    oracle_tolerance: float
    """Absolute error allowed to an inexact oracle."""


@dataclass(frozen=True)
class PairwiseFrankWolfe:
    """Pairwise Frank-Wolfe: moves weight from the worst active vertex straight to the new one, exact line search.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.PairwiseFrankWolfe(), accuracy=1e-8).status.value
    'solved'
    """

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "pairwise"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ActiveSetState:
        """Start from x^*(lam_0), for lam_0 = 0 from the vertex that the gradient at x = 0 points to.

        The tracker is always the active set.
        """
        require_smooth_loss(problem, self.name)
        lam = dual if dual.any() else loss_gradient(problem, zero_image(problem))
        point = evaluate(problem, lam, tolerance=ORACLE_TOLERANCE * accuracy * problem.scale(0.0))
        state = _first_state(problem, ActiveSet((_vertex(point),), np.ones(1)), lam, accuracy)
        certificate = state.certificate.improved(problem, point)
        return changed(state, certificate=certificate, counts=Counts().plus(oracle_calls=1, matvecs=point.matvecs))

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> ActiveSetState | None:
        """Start from the atoms of an earlier point, each a vertex; None where they are not known."""
        require_smooth_loss(problem, self.name)
        if not warm.atoms:
            return None
        vertices: dict[bytes, Vertex] = {}
        weights: dict[bytes, float] = {}
        for weight, atom in zip(warm.weights, warm.atoms, strict=True):
            key = vertex_key(atom)
            if key not in vertices:
                with oracle_errors:
                    image = np.asarray(problem.map.image(atom)).astype(problem.dtype, copy=False)
                vertices[key] = Vertex(atom, image, problem.sharp.objective(atom), key)
            weights[key] = weights.get(key, 0.0) + weight
        active = ActiveSet(tuple(vertices.values()), np.array(list(weights.values())))
        active = active.reweighted(active.weights)
        state = _first_state(problem, active, loss_gradient(problem, active.image()), accuracy)
        return changed(state, counts=Counts().plus(matvecs=len(vertices)))

    def step(self, problem: Problem, state: ActiveSetState) -> ActiveSetState:
        """Call the oracle at the gradient and shift weight."""
        lam = loss_gradient(problem, state.image)
        start = state.active.vertices[-1].atom
        try:
            direction = problem.map.adjoint(-lam)
        except Exception as error:
            blame(error)
        point = evaluate_along(problem, lam, direction, tolerance=state.oracle_tolerance, start=start)
        certificate = state.certificate.improved(problem, point)
        away = int(state.active.scores(lam, direction).argmax())
        active, image = self._move(problem, state, point, away)
        if (state.iteration + 1) % REFRESH == 0:
            image = active.image()
        cost = active.objective()
        return changed(
            state,
            iteration=state.iteration + 1,
            dual=lam,
            primal=active,
            active=active,
            image=image,
            mean_objective=cost,
            certificate=primal_certificate(problem, active, image, cost, certificate),
            counts=state.counts.plus(oracle_calls=1, matvecs=point.matvecs),
            dual_step=norm(lam - state.dual),
        )

    def _move(self, problem: Problem, state: ActiveSetState, point: DualPoint, away: int) -> tuple[ActiveSet, Array]:
        """Shift weight to the oracle's vertex; ``away`` is the place of the worst active one."""
        active, toward = state.active, _vertex(point)
        leaving = active.vertices[away]
        direction, rise = toward.image - leaving.image, toward.objective - leaving.objective
        gamma = best_step(problem, state.image - problem.b, direction, rise, float(active.weights[away]))
        return active.moved(gamma, toward, away), state.image + gamma * direction


@dataclass(frozen=True)
class AwayStepFrankWolfe(PairwiseFrankWolfe):
    """Away-step Frank-Wolfe: moves towards the new vertex or away from the worst active one, whichever is steeper.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.AwayStepFrankWolfe(), accuracy=1e-8).status.value
    'solved'
    """

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "away-step"

    def _move(self, problem: Problem, state: ActiveSetState, point: DualPoint, away: int) -> tuple[ActiveSet, Array]:
        """Move towards the oracle's vertex or away from the worst active one."""
        active, lam = state.active, point.dual
        leaving, weight = active.vertices[away], float(active.weights[away])
        current = inner(lam, state.image) + state.mean_objective
        forward = current - inner(lam, point.image) - point.objective
        backward = inner(lam, leaving.image) + leaving.objective - current
        residual = state.image - problem.b
        if forward >= backward or weight >= 1.0:
            direction = point.image - state.image
            gamma = best_step(problem, residual, direction, point.objective - state.mean_objective)
            return active.moved(gamma, _vertex(point), None), state.image + gamma * direction
        direction, rise = state.image - leaving.image, state.mean_objective - leaving.objective
        gamma = best_step(problem, residual, direction, rise, weight / (1.0 - weight))
        return active.stepped_away(gamma, away), state.image + gamma * direction


def _first_state(problem: Problem, active: ActiveSet, lam: Array, accuracy: float) -> ActiveSetState:
    return ActiveSetState(
        iteration=0,
        dual=lam,
        primal=active,
        image=active.image(),
        mean_objective=active.objective(),
        certificate=empty_certificate(lam),
        counts=Counts(),
        smoothness=math.nan,
        dual_step=math.nan,
        gradient_change=math.nan,
        failure=None,
        active=active,
        oracle_tolerance=ORACLE_TOLERANCE * accuracy * problem.scale(0.0),
    )


def _vertex(point: DualPoint) -> Vertex:
    atom: Any = point.atom
    return Vertex(atom, point.image, point.objective, vertex_key(atom))
