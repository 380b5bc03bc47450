"""Away-step Frank-Wolfe: a baseline that converges linearly over polytopes."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.dual import DualValue
from unipd.methods.active_set import ActiveSetFrankWolfe, ActiveSetState, Best, Shift, Worst
from unipd.problem import Problem
from unipd.protocols import inner


@dataclass(frozen=True)
class AwayStepFrankWolfe(ActiveSetFrankWolfe):
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

    def shift(self, problem: Problem, state: ActiveSetState, proven: DualValue, best: Best, worst: Worst) -> Shift:
        """Return the way to the oracle's vertex, or away from the worst active one, whichever is steeper."""
        (vertex, value), (place, scores), cost = best, worst, state.mean_objective
        current, weight = _pairing(problem, state, proven) + cost, float(state.active.weights[place])
        if current + value >= float(scores[place]) - current or weight >= 1.0:
            return vertex, None, state.image, vertex.image, vertex.objective - cost, 1.0
        leaving = state.active.index.vertices[place]
        return None, place, leaving.image, state.image, cost - leaving.objective, weight / (1.0 - weight)


def _pairing(problem: Problem, state: ActiveSetState, proven: DualValue) -> float:
    """Return <lam, A xbar> at lam = grad phi(A xbar - b): for least squares <lam, b> and ||lam||^2 tell it."""
    if problem.inverse is None or proven.energy is None:
        return inner(proven.dual, state.image)
    return proven.linear + problem.inverse * proven.energy
