"""Away-step Frank-Wolfe: a baseline that converges linearly over polytopes."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.dual import DualValue
from unipd.methods.active_set import ActiveSetFrankWolfe, ActiveSetState, Shift, Worst
from unipd.methods.frank_wolfe import score
from unipd.problem import Problem
from unipd.protocols import SharpAnswer


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

    def shift(
        self, problem: Problem, state: ActiveSetState, proven: DualValue, answer: SharpAnswer, worst: Worst
    ) -> Shift:
        """Return the way to the oracle's vertex, or away from the worst active one, whichever is steeper."""
        (place, scores), cost = worst, state.mean_objective
        current, weight = score(problem, state, proven), float(state.active.weights[place])
        ahead, back = current + answer.value, float(scores[place]) - current
        if ahead >= back or weight >= 1.0:
            return True, None, ahead, answer.objective - cost, 1.0
        leaving = state.active.index.vertices[place]
        return False, place, back, cost - leaving.objective, weight / (1.0 - weight)
