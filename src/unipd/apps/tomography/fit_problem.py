"""One problem of tomography solved: the state and what is certified about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import FloatArray
from unipd.apps.tomography.hedge import hedged
from unipd.apps.tomography.settings import choose_method, state_tracker
from unipd.apps.tomography.state import QuantumState
from unipd.atoms import LowRank
from unipd.io.pauli_model import PauliData
from unipd.maps.pauli import PauliMap
from unipd.methods import Certificate
from unipd.methods.base import measured
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.run.verify import claims
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
    """The solver's result; an estimate that was cut to the rank asked for, or hedged, is its point, and certified."""
    fitted: FloatArray
    """The estimate's expectation values."""
    cut_short: bool = False
    """Whether the cut to the rank asked for costs more than the accuracy: that is not a success (a hedge is)."""

    @property
    def objective(self) -> float:
        """Objective at the estimate."""
        return self.result.objective

    @property
    def gap(self) -> float:
        """Certified relative gap of the estimate."""
        return self.result.gap

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.result.status

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        if not self.cut_short:
            return self.result.message
        return f"The asked accuracy was reached, and lost when the estimate was cut to the rank {self.state.rank}."

    @property
    def relative_residual(self) -> float:
        """||A(X) - b||^2 / ||b||^2."""
        values = self.data.expectations
        return float(np.sum((self.fitted - values) ** 2) / max(float(np.sum(values**2)), 1e-300))

    def summary(self, target: Any = None) -> dict[str, Any]:
        """Return the headline figures."""
        counts, steps = self.result.counts, max(1, self.result.iterations)
        own = {
            "message": self.message,
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
    estimator: PauliTomography, problem: Problem, strings: PauliMap, data: PauliData, *, noisy_rank: int = 1
) -> Fit:
    """Solve a problem and describe its solution, cut or hedged as asked for, by its values of ``strings``."""
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
    cut = state if estimator.rank is None else state.truncated(estimator.rank)
    final = hedged(problem, cut, estimator.hedge) if estimator.hedge else cut
    fitted = np.asarray(strings.image(final.low_rank), np.float64)
    if final.rank == state.rank and not estimator.hedge:
        return Fit(data, state, result, fitted)
    moved = _moved(result, final)
    missed = max(moved.gap, moved.relative_infeasibility) > estimator.accuracy
    cut_short = missed and result.status is Status.SOLVED and not estimator.hedge
    return Fit(data, final, replace(moved, status=Status.STOPPED) if cut_short else moved, fitted, cut_short)


def _moved(result: Result, state: QuantumState) -> Result:
    """Return the result with this state in the place of its point, of the same trace and so of the same f(X)."""
    problem = result.problem
    trace = float(np.sum(result.x.weights * np.linalg.norm(result.x.left, axis=0) ** 2))
    point = LowRank(state.eigenvectors, state.eigenvectors, trace * state.eigenvalues)
    image = np.asarray(problem.map.image(point)).astype(problem.dtype, copy=False)
    known = measured(problem, None, image, result.objective if problem.loss is None else 0.0)
    certificate = Certificate(*known, result.dual_bound, result.dual, result.bound_kind)
    return replace(result, x=point, image=image, **claims(problem, certificate))
