"""Away-step Frank-Wolfe: towards the oracle's vertex, or away from the worst active one."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.methods.frank_wolfe.active_set import ActiveSetFrankWolfe, Iterate, Move


@dataclass(frozen=True)
class AwayStepFrankWolfe(ActiveSetFrankWolfe):
    """Away-step Frank-Wolfe: moves towards the oracle's vertex or away from the worst active one, whichever is steeper.

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

    def choose_move(self, here: Iterate) -> Move:
        """Compare the Frank-Wolfe gap with the gap to the away vertex; an away step may go until that is dropped."""
        away, weight = here.away, float(here.active.weights[here.away])
        forward_gap = here.score + here.answer.value
        away_gap = here.away_score - here.score
        if forward_gap >= away_gap or weight >= 1.0:
            return Move(True, None, forward_gap, here.answer.objective - here.cost, 1.0)
        return Move(False, away, away_gap, here.cost - here.active.vertices[away].objective, weight / (1.0 - weight))
