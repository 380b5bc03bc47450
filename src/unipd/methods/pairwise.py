"""Pairwise Frank-Wolfe: a baseline that converges linearly over polytopes."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.dual import DualValue
from unipd.methods.active_set import ActiveSetFrankWolfe, ActiveSetState, Shift, Worst
from unipd.problem import Problem
from unipd.protocols import SharpAnswer


@dataclass(frozen=True)
class PairwiseFrankWolfe(ActiveSetFrankWolfe):
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

    def shift(
        self, problem: Problem, state: ActiveSetState, proven: DualValue, answer: SharpAnswer, worst: Worst
    ) -> Shift:
        """Return the way from the worst active vertex to the oracle's."""
        (place, scores), active = worst, state.active
        rise = answer.objective - active.index.vertices[place].objective
        return True, place, answer.value + float(scores[place]), rise, float(active.weights[place])
