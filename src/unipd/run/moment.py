"""What a run shows after an iteration."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.methods import State
from unipd.problem import Problem
from unipd.run.history import History, relative_gap


@dataclass(frozen=True)
class Moment:
    """What a rule, a callback or a progress display sees after an iteration."""

    problem: Problem
    state: State
    seconds: float
    history: History

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self.state.iteration

    @property
    def objective(self) -> float:
        """Objective at the current point."""
        return self.state.certificate.objective

    @property
    def dual_bound(self) -> float:
        """Best lower bound so far."""
        return self.state.certificate.dual_bound

    @property
    def gap(self) -> float:
        """(objective - dual_bound) / scale."""
        return relative_gap(self.problem, self.objective, self.dual_bound)

    @property
    def infeasibility(self) -> float:
        """dist(A x - b, K) / max(1, ||b||)."""
        return self.state.certificate.infeasibility / max(1.0, self.problem.norm_b)
