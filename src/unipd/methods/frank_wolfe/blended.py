"""Blended pairwise conditional gradients (Tsuji, Tanaka and Pokutta, 2022), plain and lazy (Braun, Pokutta and Zink).

Weight moves within the active set as long as that promises as much decrease as a new vertex does. A new vertex
therefore never takes the place of an old one in one step (a swap step), and the active set stays small.
"""

from __future__ import annotations

from dataclasses import dataclass

from unipd._typing import FloatArray
from unipd._util import validate
from unipd.methods.base import fast_replace
from unipd.methods.frank_wolfe.active_set import (
    ActiveSet,
    ActiveSetFrankWolfe,
    ActiveSetState,
    Iterate,
    Move,
    apply_move,
    call_oracle_at,
    gradient_at,
)
from unipd.problem import Problem

_LAZINESS = 2.0
"""K: a lazy step promises at least 1/K of the estimated gap. Larger ones save oracle calls and take shorter steps."""


@dataclass(frozen=True)
class BlendedPairwise(ActiveSetFrankWolfe):
    """Blended pairwise conditional gradients: pairwise steps within the active set, Frank-Wolfe steps to leave it.

    A pairwise step moves weight from the worst active vertex to the best active one. With ``lazy`` the oracle is called
    only when such a step promises less than half of an estimate of the Frank-Wolfe gap: for oracles that cost more than
    a scan of the active vertices. The bound comes from the oracle's answers alone, so that it is valid either way.

    Parameters
    ----------
    lazy
        Whether an active vertex that is good enough replaces a call of the oracle.

    Raises
    ------
    InvalidInput
        ``lazy``: expected True or False.

    See Also
    --------
    PairwiseFrankWolfe, FrankWolfe

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.BlendedPairwise(lazy=True), accuracy=1e-8).status.value
    'solved'
    """

    lazy: bool = False

    def __post_init__(self) -> None:
        validate.flag("lazy", self.lazy)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "blended-pairwise"

    def choose_move(self, here: Iterate) -> Move:
        """Compare the gap within the active set with the Frank-Wolfe gap."""
        local = _local_move(here.active, here.scores)
        return local if local.decrease >= here.gap else here.forward_move()

    def step(self, problem: Problem, state: ActiveSetState) -> ActiveSetState:
        """Move weight; a lazy method calls the oracle only where the active set promises too little."""
        if not self.lazy:
            return super().step(problem, state)

        # 1: a step within the active set, without the oracle; scores by images need no product either
        lam, estimate = gradient_at(problem, state)[0], state.gap_estimate
        scores = state.active.scores(lam, None)
        local = _local_move(state.active, scores)
        if local.decrease > 0.0 and _LAZINESS * local.decrease >= estimate:
            return apply_move(problem, state, lam, local, None)

        # 2: the oracle's gap; an estimate that it refutes is lowered to it, at least halved
        here = call_oracle_at(problem, state, scores)
        if _LAZINESS * here.gap < estimate:
            estimate = min(here.gap, 0.5 * estimate) if here.gap > 0.0 else 0.5 * estimate

        # 3: the same rule with the new estimate
        move = local if _LAZINESS * local.decrease >= estimate else here.forward_move()
        return fast_replace(apply_move(problem, state, lam, move, here), gap_estimate=estimate)


def _local_move(active: ActiveSet, scores: FloatArray) -> Move:
    """Return the pairwise step from the worst active vertex to the best, up to all the weight of the worst."""
    worst, best = int(scores.argmax()), int(scores.argmin())
    cost_change = active.vertices[best].objective - active.vertices[worst].objective
    weight = float(active.weights[worst])
    return Move(False, worst, float(scores[worst] - scores[best]), cost_change, weight, gaining=best)
