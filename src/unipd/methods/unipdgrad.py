"""UniPDGrad, the universal primal-dual gradient method (paper, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from unipd._typing import Array
from unipd.dual import DualPoint, between, distance, folded_in
from unipd.methods.universal import UniversalState, averaged, first_state, search
from unipd.methods.universal_settings import UniversalSettings
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class UniPDGradState(UniversalState):
    """State of UniPDGrad, with the averaged dual sequence of the supplement.

    Dual vectors enter the average two at a time: the method itself never looks at it, and long vectors cost by how
    often they are read.
    """

    folded_dual: Array
    """lambda-bar_k, or what it was before the last dual vector."""
    last_weight: float
    """Weight of the last dual vector beside it; 0 where that is in it."""
    average_dual_value: float
    """G-bar_k = (1/S_k) sum_i G(lam_{i+1}) / M_i, an upper bound of G(lambda-bar_k)."""

    @property
    def average_dual(self) -> Array:
        """lambda-bar_k = (1/S_k) sum_i lam_{i+1} / M_i."""
        return between(self.folded_dual, self.last_weight, self.dual) if self.last_weight else self.folded_dual


@dataclass(frozen=True)
class UniPDGrad(UniversalSettings):
    """Universal primal-dual gradient method; O(1/eps^2) oracle calls at nu = 0, O(1/eps) at nu = 1 (Theorem 4.1).

    The line search starts at M_{k-1}/2 with slack eps/2, the weights are 1/M_k, and the accepted trial is
    the next iteration's oracle answer, so that an iteration costs two oracle calls on average.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> result = unipd.solve(problem, unipd.UniPDGrad(), accuracy=1e-2)
    >>> result.status.value
    'solved'
    """

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "unipdgrad"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> UniPDGradState:
        """Return the state at lam_0."""
        state = first_state(self, problem, tracker, dual, accuracy)
        return UniPDGradState(**vars(state), folded_dual=0 * dual, last_weight=0.0, average_dual_value=0.0)

    def step(self, problem: Problem, state: UniPDGradState) -> UniPDGradState:
        """Do one iteration of Algorithm 1."""
        assert state.point is not None
        found = search(self, problem, state.point, 0.5 * state.smoothness, state.eps, full_trials=True)
        trial, weight = found.trial, 1.0 / found.smoothness
        assert isinstance(trial, DualPoint)
        coupled = 0.0 if problem.split else problem.coupling.conjugate(trial.dual)
        total = state.weight_sum + weight
        gamma = weight / total if total > 0.0 else 1.0
        change = trial.change
        if change is None:
            change = distance(trial.gradient, found.base.gradient, trial.steepness, found.base.steepness)
        folded, last = state.folded_dual, gamma
        if state.last_weight:
            folded, last = folded_in(folded, state.last_weight, state.dual, gamma, trial.dual), 0.0
        return averaged(
            self,
            problem,
            state,
            found,
            weight,
            dual_step=found.dual_step,
            gradient_change=change,
            point=trial,
            folded_dual=folded,
            last_weight=last,
            average_dual_value=(1.0 - gamma) * state.average_dual_value + gamma * (trial.value + trial.error + coupled),
        )
