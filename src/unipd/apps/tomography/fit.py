"""From measurements to a state: which problems are solved, one after the other."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from unipd.apps.tomography.counts import BasisCounts, estimates
from unipd.apps.tomography.fit_problem import Fit, fit_problem
from unipd.apps.tomography.mapping import pauli_map
from unipd.apps.tomography.measurements import require_room
from unipd.apps.tomography.outcomes import (
    BY_OUTCOME,
    MOST_OUTCOMES,
    ROUGH,
    ROUNDS,
    OutcomeMap,
    few_outcomes,
    gaussian_problem,
    hedged_chances,
    histogram_of,
    outcome_problem,
    suit_outcomes,
    weighs_well,
)
from unipd.apps.tomography.overfit import starting_rank
from unipd.apps.tomography.paulis import Paulis
from unipd.apps.tomography.problem import tomography_problem
from unipd.apps.tomography.settings import choose_precision, oracle_options
from unipd.apps.tomography.state import QuantumState
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData
from unipd.methods import Counts
from unipd.run import Result, StoppingRule
from unipd.run.later import Later, sum_of
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.tomography.estimator import PauliTomography

_WHOLE = (Status.SOLVED, Status.STALLED, Status.LINE_SEARCH_FAILED)
"""Ends of a fit that no limit and nobody asked for."""


def fit_data(estimator: PauliTomography, data: PauliData) -> Fit:
    """Solve the estimator's problem for expectation values."""
    precision = choose_precision(estimator.precision, data)
    require_room(data.qubits, data.size, double=precision == "double")
    measured = pauli_map(Paulis(data.qubits, data.x, data.z), precision=precision, threads=estimator.threads)
    options = oracle_options(estimator.method)
    problem = tomography_problem(measured, data, estimator.objective, estimator.noise_level, **options)
    return fit_problem(estimator, problem, measured, data, noisy_rank=starting_rank(data, estimator.accuracy))


def fit_basis_counts(
    estimator: PauliTomography,
    counts: list[BasisCounts],
    prior: QuantumState | None = None,
    *,
    max_weight: int | None = None,
    max_paulis: int | None = None,
) -> Fit:
    """Solve the estimator's problem for counts: outcome by outcome, or through Pauli estimates.

    With ``prior`` the weights of "outcomes" are taken from this state at once.
    """
    limited = max_weight is not None or max_paulis is not None
    by_outcome = estimator.objective in BY_OUTCOME or (
        estimator.objective == "auto" and not limited and suit_outcomes(counts)
    )
    if not by_outcome:
        return fit_data(estimator, estimates(counts, max_weight=max_weight, max_paulis=max_paulis))
    if limited or not few_outcomes(counts):
        expected = f"no limits and at most {MOST_OUTCOMES} outcomes for {' and '.join(BY_OUTCOME)}"
        raise InvalidInput("objective", expected, f"{len(counts)} bases of {len(counts[0].basis)} qubits")
    require_room(len(counts[0].basis), len(counts) << len(counts[0].basis), double=True)
    return _fit_outcomes(estimator, counts, prior)


def _fit_outcomes(estimator: PauliTomography, counts: list[BasisCounts], prior: QuantumState | None) -> Fit:
    """Fit the outcomes, by the counts' weights or those of the state fitted before; a round cut short is the last."""
    precision = "single" if estimator.precision == "single" else "double"
    measured = OutcomeMap([part.basis for part in counts], precision, estimator.threads)
    histogram, options = histogram_of(counts), oracle_options(estimator.method)
    data = measured.pooled(histogram)
    rough, scout = copy.copy(estimator), copy.copy(estimator)
    rough.accuracy, rough.solver_options = max(ROUGH, estimator.accuracy), {}
    done: list[Result] = []
    if estimator.objective != "outcomes":
        problem = gaussian_problem(measured, histogram, **options)
        sure = estimator.objective == "gaussian"
        scout.solver_options = estimator.solver_options if sure else {}  # a checkpoint is for the last fit
        fit = fit_problem(scout, problem, measured.pauli_map, data)
        if sure or not _whole(fit):
            return fit
        if weighs_well(measured, histogram, fit.state):
            return fit_problem(estimator, problem, measured.pauli_map, data) if estimator.solver_options else fit
        done, prior = [fit.result], fit.state if prior is None else prior
    chances = hedged_chances(histogram) if prior is None else measured.image(prior.low_rank)
    for worker in [estimator] if prior is not None else [rough] * (ROUNDS - 1) + [estimator]:
        turn = copy.copy(worker)
        turn.stop = _what_is_left(estimator.stop, done)
        fit = fit_problem(turn, outcome_problem(measured, histogram, chances, **options), measured.pauli_map, data)
        done.append(fit.result)
        if worker is estimator or not _whole(fit):
            return replace(fit, result=_with_all_work(done))
        chances = measured.image(fit.state.low_rank)
    raise AssertionError("the last round is the estimator's own")


def _whole(fit: Fit) -> bool:
    """Whether a fit ended by itself."""
    return fit.status in _WHOLE or fit.cut_short


def _what_is_left(stop: StoppingRule | None, done: list[Result]) -> StoppingRule | None:
    """Return the rule for the next of several fits, which have the limits together."""
    if stop is None or not done:
        return stop
    work = _with_all_work(done)
    return Later(stop, work.seconds, work.iterations, work.counts)


def _with_all_work(results: list[Result]) -> Result:
    """Return the last result with the iterations, counts and seconds of all."""
    counts = Counts()
    for result in results:
        counts = sum_of(counts, result.counts)
    iterations = sum(result.iterations for result in results)
    return replace(results[-1], iterations=iterations, counts=counts, seconds=sum(r.seconds for r in results))
