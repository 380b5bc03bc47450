"""One problem of tomography solved: the state and what is certified about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import FloatArray
from unipd.apps.tomography.hedge import hedged
from unipd.apps.tomography.settings import choose_method, state_tracker
from unipd.apps.tomography.state import QuantumState
from unipd.atoms import LowRank
from unipd.io.pauli_model import PauliData
from unipd.maps.pauli import PauliMap
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.run.history import relative_gap
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.tomography.estimator import PauliTomography


@dataclass(frozen=True, eq=False)
class Fit:
    """A state fitted to measurements."""

    data: PauliData
    """The measurements."""
    state: QuantumState
    """The estimate."""
    result: Result
    """The solver's result, whose point is the estimate before it is cut to the rank asked for, or hedged."""
    fitted: FloatArray
    """The estimate's expectation values."""
    objective: float
    """Objective at the estimate."""
    gap: float
    """Certified relative gap of the estimate."""
    status: Status
    """How the run ended; a cut that costs more than the accuracy is not a success (a hedge is asked for)."""

    @property
    def relative_residual(self) -> float:
        """||A(X) - b||^2 / ||b||^2."""
        values = self.data.expectations
        return float(np.sum((self.fitted - values) ** 2) / max(float(np.sum(values**2)), 1e-300))

    def summary(self, target: Any = None) -> dict[str, Any]:
        """Return the headline figures."""
        counts, steps = self.result.counts, max(1, self.result.iterations)
        own = {
            "status": self.status.value,
            "message": self.result.message if self.status is self.result.status else self.status.message,
            "objective": self.objective,
            "gap": self.gap,
            "qubits": self.data.qubits,
            "measurements": self.data.size,
            "relative_residual": self.relative_residual,
            "rank": self.state.effective_rank(),
            "purity": self.state.purity,
            "entropy": self.state.entropy,
            "line_search_trials_per_iteration": counts.trials / steps,
        }
        known = {} if target is None else {"fidelity": self.state.fidelity(target)}
        return {**self.result.summary(), **own, **known}


def fit_problem(
    estimator: PauliTomography, problem: Problem, measured: PauliMap, data: PauliData, *, noisy_rank: int = 1
) -> Fit:
    """Solve a problem and describe its solution, cut or hedged as asked for, by the Pauli values of ``measured``."""
    method = choose_method(
        estimator.method,
        problem,
        estimator.accuracy,
        estimator.method_options,
        rank=estimator.rank,
        noisy_rank=noisy_rank,
    )
    result = solve(
        problem,
        method,
        accuracy=estimator.accuracy,
        stop=estimator.stop,
        callback=estimator.callback,
        verbose=estimator.verbose,
        tracker=state_tracker(data.qubits),
        **estimator.solver_options,
    )
    point = result.x
    if not result.status.success and not np.any(point.weights):
        point = LowRank(point.left, point.right, np.ones_like(point.weights))  # no state fits: show some state
    state = QuantumState.from_low_rank(point)
    moved = estimator.rank is not None and state.rank > estimator.rank
    if moved:
        assert estimator.rank is not None
        state = state.truncated(estimator.rank)
    if estimator.hedge:
        state, moved = hedged(problem, state, estimator.hedge), True
    fitted = np.asarray(measured.image(state.low_rank), np.float64)
    if not moved or problem.loss is None:
        return Fit(data, state, result, fitted, result.objective, result.gap, result.status)
    objective = problem.loss.value(problem.map.image(state.low_rank) - problem.b)
    gap = relative_gap(problem, objective, result.dual_bound)
    reached = result.status is not Status.SOLVED or gap <= estimator.accuracy or estimator.hedge > 0.0
    return Fit(data, state, result, fitted, objective, gap, result.status if reached else Status.STOPPED)
