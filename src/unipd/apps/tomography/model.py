"""The records of a fit: its settings, what is fitted, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import BasisCounts, Histogram
from unipd.apps.tomography.measurements import count_strings, parameter_count, standard_errors
from unipd.apps.tomography.objectives import LEAST_EXPECTED, pearson_chi_square
from unipd.apps.tomography.state import QuantumState
from unipd.io.pauli import PauliData
from unipd.maps.pauli import OutcomeMap, PauliMap, bit_count
from unipd.methods import Method
from unipd.problem import Problem
from unipd.run import IterationInfo, Result, StoppingRule
from unipd.status import Status

LEAST_FREEDOM = 0.5
"""Degrees of freedom, as a share of the parameters, from which on chi-square per degree of freedom is reported."""
SHOWN_BASES = 100
"""Bases whose residuals are shown, at most."""
_COMPLETE = (Status.LOCAL, Status.STALLED, Status.LINE_SEARCH_FAILED)
"""Ends of a fit short of its accuracy that neither a limit nor the user caused."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Settings of a fit; :class:`~unipd.apps.tomography.PauliTomography` documents and checks them."""

    objective: str = "auto"
    noise_level: float | None = None
    method: Method | str = "auto"
    accuracy: float | None = None
    rank: int | str | None = None
    depolarize: float = 0.0
    precision: str = "auto"
    threads: int | None = None
    stop: StoppingRule | None = None
    callback: Callable[[IterationInfo], bool | None] | None = None
    verbose: bool = False
    method_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    solver_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_weight: int | None = None
    max_paulis: int | None = None
    readout: Any = None

    @property
    def required_accuracy(self) -> float:
        """The accuracy, which a fit sets where it is not given."""
        assert self.accuracy is not None
        return self.accuracy


@dataclass(frozen=True, eq=False, repr=False)
class Model(ReprMixin):
    """What is fitted: a problem with the measurements behind it."""

    problem: Problem
    """The problem to solve."""
    objective: str
    """Name of its objective."""
    strings: PauliMap
    """The map X -> tr(P_k X) of the measurements."""
    data: PauliData
    """The measurements, for counts the Pauli estimates."""
    is_noisy: bool
    """Whether noise exceeds the accuracy."""
    histogram: Histogram | None = None
    """Counts of all outcomes, where these are fitted."""
    start: Array | None = None
    """A factor of the first point."""

    @property
    def observations(self) -> int:
        """Number of independent data: strings, or outcomes less one in each basis."""
        return self.data.size if self.histogram is None else self.histogram.size - self.histogram.sizes.size

    @property
    def is_undersampled(self) -> bool:
        """Whether fewer than half of all 4^q strings were measured, so that a state of high rank is not determined."""
        return 2 * self.independent < 4**self.data.qubits

    @property
    def measured_map(self) -> Any:
        """The map to the measured strings, or to the outcomes where these do not determine single strings."""
        outcomes = self.problem.map
        is_indirect = isinstance(outcomes, OutcomeMap) and self.data.size < outcomes.pauli_map.x.size
        return outcomes if is_indirect else self.strings

    @property
    def independent(self) -> int:
        """Number of independent figures that the data determine, at most: distinct strings, or outcomes."""
        is_direct = self.measured_map is self.strings
        return count_strings(self.data) if is_direct else min(self.observations, 4**self.data.qubits - 1)

    def chi_square(self, state: QuantumState, fitted: FloatArray) -> tuple[float, float] | None:
        """Return the chi-square of a state and its standard deviation for the true one; None if errors are unknown."""
        if self.histogram is not None and self.histogram.counts.min() >= 0.0:
            return pearson_chi_square(self.histogram, self.problem.map.image(state.low_rank))
        if self.histogram is not None:
            assert self.problem.loss is not None
            residual = self.problem.map.image(state.low_rank) - self.problem.b
            return 2.0 * self.problem.loss.value(residual), math.sqrt(2.0 * self.observations)
        errors = standard_errors(self.data)
        if errors is None:
            return None
        return float(np.sum(((fitted - self.data.expectations) / errors) ** 2)), math.sqrt(2.0 * self.observations)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ReprMixin):
    """A state fitted to measurements.

    Parameters
    ----------
    settings
        How it was fitted.
    model
        What was fitted, to which objective.
    state
        The estimate.
    result
        The solver's result; a truncated or depolarized estimate replaces its point, and is certified in its place.
    fitted
        The estimate's expectation values.
    lost_accuracy
        Whether truncation to the prescribed rank costs more than the accuracy, which is no success.
    counts
        The counts behind the measurements, if any.
    rank_limit
        Largest rank allowed, prescribed or chosen by the data; None for any rank.
    rank_choice
        The same in words.

    See Also
    --------
    unipd.PauliTomography, bootstrap

    Examples
    --------
    >>> import unipd
    >>> estimate = unipd.PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7], shots=1000)
    >>> estimate.fit_.rank_choice
    'any rank'
    """

    settings: FitSettings
    model: Model
    state: QuantumState
    result: Result
    fitted: FloatArray
    lost_accuracy: bool = False
    counts: list[BasisCounts] | None = None
    rank_limit: int | None = None
    rank_choice: str = "any rank"

    @property
    def data(self) -> PauliData:
        """The measurements."""
        return self.model.data

    @property
    def relative_residual(self) -> float:
        """||A(X) - b||^2 / ||b||^2."""
        values = self.data.expectations
        return float(np.sum((self.fitted - values) ** 2) / max(float(np.sum(values**2)), 1e-300))

    @property
    def is_complete(self) -> bool:
        """Whether the fit ended without a limit or an interruption."""
        status = self.result.status
        return status.success or status in _COMPLETE or self.lost_accuracy

    @property
    def guarantee(self) -> str:
        """What is proven about the estimate."""
        if self.result.status.success:
            return "optimal over all states"
        return "local: rank-constrained" if self.result.status is Status.LOCAL else "bound only"

    @property
    def parameters(self) -> int:
        """Number of real parameters of states of the estimate's rank."""
        return parameter_count(self.data.qubits, self.state.effective_rank())

    @property
    def refit_settings(self) -> FitSettings:
        """The settings of repeated experiments: the objective and the rank that were chosen, one thread, no output."""
        chosen = replace(self.settings, objective=self.model.objective, rank=self.rank_limit, threads=1)
        return replace(chosen, verbose=False, callback=None, solver_options={})

    def chi_square_figures(self) -> dict[str, float]:
        """Return chi-square, degrees of freedom and their ratio, where errors are known and data exceed parameters.

        With few degrees of freedom their number is unsure (an eigenvalue at zero is no full parameter), and the ratio
        says nothing.
        """
        chi_square, freedom = self.model.chi_square(self.state, self.fitted), self.model.observations - self.parameters
        if chi_square is None or freedom < LEAST_FREEDOM * self.parameters:
            return {}
        ratio = chi_square[0] / freedom
        return {"chi_square": chi_square[0], "degrees_of_freedom": freedom, "chi_square_per_dof": ratio}

    def residuals_by_basis(self) -> dict[str, Any] | None:
        """Return ``bases`` and, for each, ``residuals``: the root mean square difference of data and fit, in errors.

        About 1 where the model explains a basis. Expectation values are grouped by the weight of their strings, and of
        very many bases the worst are returned. None where errors are unknown.
        """
        if self.counts is None or self.model.histogram is None:
            errors = standard_errors(self.data)
            if errors is None:
                return None
            weights = bit_count(self.data.x | self.data.z)
            squares = ((self.fitted - self.data.expectations) / errors) ** 2
            levels = np.unique(weights[weights > 0])
            names = [f"weight {weight}" for weight in levels]
            values = np.array([math.sqrt(float(np.mean(squares[weights == weight]))) for weight in levels])
        else:
            histogram, names = self.model.histogram, [part.basis for part in self.counts]
            mean = np.maximum(histogram.shots * self.model.problem.map.image(self.state.low_rank), LEAST_EXPECTED)
            starts = np.cumsum(histogram.sizes) - histogram.sizes
            sums = np.add.reduceat((histogram.counts - mean) ** 2 / mean, starts)
            values = np.sqrt(sums / np.maximum(histogram.sizes - 1, 1))
        shown = np.sort(np.argsort(-values, kind="stable")[:SHOWN_BASES])
        return {"bases": tuple(names[place] for place in shown), "residuals": tuple(values[shown].tolist())}

    def add_figures(self) -> Fit:
        """Return the fit with its figures among the extras of the result."""
        outcomes = {} if self.model.histogram is None else {"outcomes": self.model.histogram.size}
        result = self.result.with_extras(
            qubits=self.data.qubits,
            measurements=self.data.size,
            **outcomes,
            objective_name=self.model.objective,
            guarantee=self.guarantee,
            rank_choice=self.rank_choice,
            relative_residual=self.relative_residual,
            **self.chi_square_figures(),
            rank=self.state.effective_rank(),
            purity=self.state.purity,
            entropy=self.state.entropy,
            line_search_trials_per_iteration=self.result.counts.trials / max(1, self.result.iterations),
        )
        return replace(self, result=result)

    def summary(self, target: Any = None) -> dict[str, Any]:
        """Return the summary of the result; with a target also the fidelity."""
        figures = self.result.summary()
        return figures if target is None else {**figures, "fidelity": self.state.fidelity(target)}
