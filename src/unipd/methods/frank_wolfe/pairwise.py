"""Pairwise Frank-Wolfe: weight moves from the worst active vertex to the oracle's."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.methods.frank_wolfe.active_set import ActiveSetFrankWolfe, Iterate, Move


@dataclass(frozen=True)
class PairwiseFrankWolfe(ActiveSetFrankWolfe):
    """Pairwise Frank-Wolfe: moves weight from the worst active vertex straight to the oracle's, exact line search.

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

    def choose_move(self, here: Iterate) -> Move:
        """Move up to all the weight of the away vertex."""
        cost_change = here.answer.objective - here.active.vertices[here.away].objective
        weight = float(here.active.weights[here.away])
        return Move(True, here.away, here.away_score + here.answer.value, cost_change, weight)
