"""From measurements to a state: the problem, the choice of method, the solve, truncation and depolarization.

Counts may take two fits: the first gives the weights of the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import (
    BY_OUTCOME,
    MOST_OUTCOMES,
    BasisCounts,
    estimate_paulis,
    gaussian_variance,
    has_few_outcomes,
    has_frequent_outcomes,
    histogram_of,
    multinomial_variance,
    outcome_problem,
    passes_score_test,
    pool_estimates,
    smooth_frequencies,
)
from unipd.apps.tomography.measurements import DOUBLE_QUBITS, Paulis, choose_precision, pauli_map, standard_errors
from unipd.apps.tomography.projected import Projected
from unipd.apps.tomography.state import QuantumState
from unipd.atoms import LowRank
from unipd.couplings import L2Ball, LeastSquares, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import OutcomeMap, PauliMap
from unipd.memory import require_room_for_state
from unipd.methods import Certificate, Counts, Method, as_method
from unipd.methods.base import measure_point
from unipd.methods.factored import is_factorable
from unipd.problem import Problem
from unipd.run import IterationInfo, Result, StoppingRule, recheck, solve
from unipd.run.result import certificate_figures
from unipd.run.stopping import RemainingBudget
from unipd.sharp.linear import Linear
from unipd.sharp.spectral import TraceSquared
from unipd.sharp.spectral.factors import SpectralFactors
from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall
from unipd.spectral import PROBABILISTIC, RESIDUAL, Engine
from unipd.status import Status
from unipd.trackers.lowrank import LowRankTracker

OBJECTIVES = ("least-squares", "weighted", "trace", "trace-squared")
"""Objectives for expectation values; the last two are constrained by the noise level."""
NOISE_DEVIATIONS = 2.0
"""Standard deviations of ||A(X) - b||^2 above its mean that the noise level allows."""
PAPER_EPS = 2e-4
"""eps of the paper's experiment: absolute, where 1/2 ||b||^2 = 4.19."""
RELATIVE_EPS = 4.8e-5
"""The same as a share of the loss at X = 0, for weighted losses."""
TRACKED_RANK = 128
"""Columns of X that an averaging method keeps."""
ROUGH_ACCURACY = 1e-3
"""Accuracy of a fit that only gives the weights of the next."""
NOISY_RANK = 32
"""Columns to start with where X fits noise: from there the rank adapts in few iterations, with 8 qubits as with 10."""
NOISY_REGULARIZATION = 0.3
"""Regularization of the preconditioner there: with the usual one the many small eigenvalues take twice the products."""
DEPOLARIZE_QUBITS = 10
"""Most qubits of a depolarized estimate: it has 2^q eigenvectors."""
_UNIVERSAL = ("unipdgrad", "accunipdgrad")
_CORRECTIVE = ("auto", "factored", "corrective")
_COMPLETE = (Status.STALLED, Status.LINE_SEARCH_FAILED)
"""Ends of a fit short of its accuracy that neither a limit nor the user caused."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Settings of a fit; :class:`~unipd.apps.tomography.PauliTomography` documents and checks them."""

    objective: str = "auto"
    noise_level: float | None = None
    method: Method | str = "auto"
    accuracy: float = 1e-4
    rank: int | None = None
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


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ReprMixin):
    """A state fitted to measurements."""

    settings: FitSettings
    """How it was fitted."""
    data: PauliData
    """The measurements."""
    state: QuantumState
    """The estimate."""
    result: Result
    """The solver's result; a truncated or depolarized estimate replaces its point, and is certified in its place."""
    fitted: FloatArray
    """The estimate's expectation values."""
    lost_accuracy: bool = False
    """Whether truncation to the prescribed rank costs more than the accuracy, which is no success."""
    counts: list[BasisCounts] | None = None
    """The counts behind the measurements, if any."""

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

    def add_figures(self) -> Fit:
        """Return the fit with its figures among the extras of the result."""
        result = self.result.with_extras(
            qubits=self.data.qubits,
            measurements=self.data.size,
            relative_residual=self.relative_residual,
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


def noise_level_of(data: PauliData) -> float:
    """Return kappa with ||A(X) - b|| <= kappa for the true X in about 98 of 100 experiments.

    The squared error is a sum of independent terms with mean s_k^2 and variance 2 s_k^4 (Gaussian): kappa^2 is its mean
    plus two standard deviations.

    >>> noise_level_of(PauliData(1, np.array([1]), np.array([0]), np.array([0.5]), stderr=np.array([0.1]))).__round__(6)
    0.195664
    """
    errors = standard_errors(data)
    if errors is None:
        raise InvalidInput("noise_level", "a number, or shots or stderr in the data to derive it from", "None")
    return math.sqrt(float(np.sum(errors**2)) + NOISE_DEVIATIONS * math.sqrt(2.0 * float(np.sum(errors**4))))


def choose_objective(objective: str, data: PauliData) -> str:
    """Return the objective's name; "auto" is "weighted" when the data declare errors, else "least-squares"."""
    if objective == "auto":
        return "least-squares" if standard_errors(data) is None else "weighted"
    if objective in BY_OUTCOME:
        expected = f"counts by basis for {objective} (in Python: fit_counts)"
        raise InvalidInput("objective", expected, "expectation values")
    if objective not in OBJECTIVES:
        raise InvalidInput("objective", f"one of auto, {', '.join(OBJECTIVES)}", repr(objective))
    return objective


def tomography_problem(
    strings: PauliMap, data: PauliData, objective: str = "auto", noise_level: float | None = None, **options: Any
) -> Problem:
    """Return the problem of fitting a state to the data.

    - "least-squares": min 1/2 ||A(X) - b||^2 over density matrices (paper, (16));
    - "weighted": min 1/2 sum_k |A(X) - b|_k^2 / s_k^2 over density matrices, s_k the standard errors;
    - "trace": min tr X s.t. ||A(X) - b|| <= kappa, X psd, tr X <= 1 (that of a state);
    - "trace-squared": min (tr X)^2 s.t. ||A(X) - b|| <= kappa, X psd, of any trace.

    Parameters
    ----------
    strings
        The map A.
    data
        The measurements.
    objective
        One of the above, or "auto".
    noise_level
        kappa; default :func:`noise_level_of` the data.
    options
        Options of the spectral oracle: ``certify``, ``engine``.

    Examples
    --------
    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.0, 1.0]))
    >>> tomography_problem(pauli_map(Paulis(1, data.x, data.z)), data)
    Problem(Spectrahedron, PauliMap, n=2, LeastSquares, split)
    """
    chosen, size = choose_objective(objective, data), 1 << data.qubits
    b = data.expectations.astype(strings.dtype)
    if chosen == "least-squares":
        return Problem(Spectrahedron(size, **options), strings, b, LeastSquares())
    if chosen == "weighted":
        errors = standard_errors(data)
        if errors is None:
            raise InvalidInput("objective", 'shots or stderr in the data for "weighted"', "neither")
        return Problem(Spectrahedron(size, **options), strings, b, WeightedLeastSquares(errors**-2.0))
    level = noise_level_of(data) if noise_level is None else validate.nonnegative("noise_level", noise_level)
    length = float(np.linalg.norm(b))
    if level >= length:
        raise InvalidInput("noise_level", f"a number below ||b|| = {length:.6g}, where X = 0 fits", f"{level:.6g}")
    if chosen == "trace":
        kind = np.float32 if strings.precision == "single" else np.float64
        identity = sp.csr_array(sp.eye_array(size)).astype(kind)
        return Problem(Linear(identity, TraceBall(size, **options)), strings, b, L2Ball(level))
    return Problem(TraceSquared(size, **options), strings, b, L2Ball(level))


def fit_data(settings: FitSettings, data: PauliData) -> Fit:
    """Fit a state to expectation values."""
    precision = choose_precision(settings.precision, data)
    require_room_for_state(data.qubits, data.size, double=precision == "double")
    strings = pauli_map(Paulis(data.qubits, data.x, data.z), precision=precision, threads=settings.threads)
    options = oracle_options(settings.method)
    problem = tomography_problem(strings, data, settings.objective, settings.noise_level, **options)
    return fit_problem(settings, problem, strings, data, noisy=is_noisy(data, settings.accuracy)).add_figures()


def fit_counts(settings: FitSettings, counts: list[BasisCounts], prior: QuantumState | None = None) -> Fit:
    """Fit a state to counts: outcome by outcome, or through Pauli estimates.

    The weights of "outcomes" are taken from the state ``prior``, if given.
    """
    qubits, limited = len(counts[0].basis), not (settings.max_weight is None and settings.max_paulis is None)
    by_outcome = settings.objective in BY_OUTCOME or (
        settings.objective == "auto" and not limited and has_frequent_outcomes(counts)
    )
    if not by_outcome:
        data = estimate_paulis(counts, max_weight=settings.max_weight, max_paulis=settings.max_paulis)
        return replace(fit_data(settings, data), counts=counts)
    if limited or not has_few_outcomes(counts):
        expected = f"no limits and at most {MOST_OUTCOMES} outcomes for {' and '.join(BY_OUTCOME)}"
        raise InvalidInput("objective", expected, f"{len(counts)} bases of {qubits} qubits")
    require_room_for_state(qubits, len(counts) << qubits, double=True)
    return replace(_fit_outcomes(settings, counts, prior), settings=settings, counts=counts).add_figures()


def _fit_outcomes(settings: FitSettings, counts: list[BasisCounts], prior: QuantumState | None) -> Fit:
    """Fit the outcomes with weights from the counts, from a previous fit, or from ``prior``.

    A fit that a limit or the user ends is the last. Checkpoints are those of the final fit.
    """
    precision = "single" if settings.precision == "single" else "double"
    outcome_map = OutcomeMap([part.basis for part in counts], precision, settings.threads)
    histogram, options = histogram_of(counts), oracle_options(settings.method)
    data = pool_estimates(outcome_map, histogram)
    done: list[Result] = []

    def fit_weighted(variance: FloatArray, **changes: Any) -> Fit:
        stop = _remaining_budget(settings.stop, done)
        problem = outcome_problem(outcome_map, histogram, variance, **options)
        fit = fit_problem(replace(settings, stop=stop, **changes), problem, outcome_map.pauli_map, data)
        done.append(fit.result)
        return replace(fit, result=_total_work(done))

    gaussian = gaussian_variance(histogram)
    if settings.objective == "gaussian":
        return fit_weighted(gaussian)
    if settings.objective == "auto":
        fit = fit_weighted(gaussian, solver_options={})
        if not fit.is_complete:
            return fit
        if passes_score_test(outcome_map, histogram, fit.state):
            done.clear()
            return fit_weighted(gaussian) if settings.solver_options else fit
        prior = fit.state if prior is None else prior
    if prior is None:
        variance = multinomial_variance(histogram, smooth_frequencies(histogram))
        fit = fit_weighted(variance, accuracy=max(ROUGH_ACCURACY, settings.accuracy), solver_options={})
        if not fit.is_complete:
            return fit
        prior = fit.state
    return fit_weighted(multinomial_variance(histogram, outcome_map.image(prior.low_rank)))


def _remaining_budget(stop: StoppingRule | None, done: list[Result]) -> StoppingRule | None:
    """Return the rule for the next of several fits, which share the limits."""
    if stop is None or not done:
        return stop
    work = _total_work(done)
    return RemainingBudget(stop, work.seconds, work.iterations, work.counts, sum(result.cpu_seconds for result in done))


def _total_work(results: list[Result]) -> Result:
    """Return the last result with the iterations, counts and seconds of all."""
    counts = Counts()
    for result in results:
        counts = counts + result.counts
    iterations = sum(result.iterations for result in results)
    return replace(results[-1], iterations=iterations, counts=counts, seconds=sum(r.seconds for r in results))


def fit_problem(
    settings: FitSettings, problem: Problem, strings: PauliMap, data: PauliData, *, noisy: bool = False
) -> Fit:
    """Solve a problem, truncate or depolarize the solution as requested, and evaluate its values of ``strings``.

    ``noisy`` is whether the noise of the data exceeds the accuracy.
    """
    result = solve(
        problem,
        choose_method(settings, problem, noisy=noisy),
        accuracy=settings.accuracy,
        stop=settings.stop,
        callback=settings.callback,
        verbose=settings.verbose,
        tracker=LowRankTracker(min(1 << data.qubits, TRACKED_RANK), trace_correction=True),
        **settings.solver_options,
    )
    if result.status is Status.INFEASIBLE:
        result = replace(result, note=_infeasible_note(problem))
    point = result.x
    if not result.status.success and not np.any(point.weights):
        point = LowRank(point.left, point.right, np.ones_like(point.weights))  # no state fits: return some state
    solution = QuantumState.from_low_rank(point)
    state = solution if settings.rank is None else solution.truncate(settings.rank)
    if settings.depolarize:
        state = depolarize(problem, state, settings.depolarize)
    fitted = np.asarray(strings.image(state.low_rank), np.float64)
    if state.rank == solution.rank and not settings.depolarize:
        return Fit(settings, data, solution, result, fitted)
    # depolarizing may cost its share of the loss, truncation must not
    moved = replace(_replace_point(result, state), accuracy=settings.accuracy + settings.depolarize)
    note = f"Truncation to rank {state.rank} exceeds the requested accuracy, to which the fit itself was solved."
    final = recheck(moved, Status.STOPPED, note)
    return Fit(settings, data, state, final, fitted, lost_accuracy=final.status is not result.status)


def _infeasible_note(problem: Problem) -> str:
    """Return the message of a fit within a noise level that no X allows, with the limits that X has."""
    level = problem.coupling.radius if isinstance(problem.coupling, L2Ball) else math.nan
    if problem.sharp.maximum() < math.inf:
        return (
            f"Infeasible: no psd X of trace at most 1, the trace of a state, has ||A(X) - b|| <= {level:.6g}. Raise "
            'the noise level, or fit with the objective "trace-squared", which does not limit the trace.'
        )
    return f"Infeasible: no psd X, of whatever trace, has ||A(X) - b|| <= {level:.6g}. Raise the noise level."


def _replace_point(result: Result, state: QuantumState) -> Result:
    """Return the result with this state as its point, scaled to the same trace and so to the same f(X)."""
    problem = result.problem
    trace = float(np.sum(result.x.weights * np.linalg.norm(result.x.left, axis=0) ** 2))
    point = LowRank(state.eigenvectors, state.eigenvectors, trace * state.eigenvalues)
    image = np.asarray(problem.map.image(point)).astype(problem.dtype, copy=False)
    known = measure_point(problem, None, image, result.objective if problem.loss is None else 0.0)
    certificate = Certificate(*known, result.dual_bound, result.dual, result.bound_kind)
    return replace(result, x=point, image=image, **certificate_figures(problem, certificate))


def choose_method(settings: FitSettings, problem: Problem, *, noisy: bool = False) -> Method:
    """Return the method with options that suit tomography; a method object is used as it is.

    "auto" is the factored method (for the squared trace, which has no factors, the corrective one), or the projected
    gradient method where X fits noise with many columns. The factored method starts with the prescribed rank, or with
    many columns for noisy data. The universal methods get the paper's eps, or a smaller one when the accuracy requires
    it.
    """
    name, options = settings.method, dict(settings.method_options)
    if not isinstance(name, str):
        return as_method(name, problem, **options)
    has_loss = problem.loss is not None
    fits_noise = noisy and has_loss and settings.rank is None
    if name == "auto" and fits_noise and not options:
        return Projected(rank=NOISY_RANK)
    if name == "auto":
        name = "factored" if is_factorable(problem.sharp) else "corrective"
    if name in _UNIVERSAL and has_loss:
        options.setdefault("eps", universal_eps(problem, settings.accuracy))
    if name == "factored" and fits_noise:
        factors = SpectralFactors(problem.map.domain[0], 0, 1.0, ball=False, regularisation=NOISY_REGULARIZATION)
        for option, value in (("rank", NOISY_RANK), ("factors", factors), ("inner_steps", 5)):
            options.setdefault(option, value)
    elif name == "factored":
        options.setdefault("inner_steps", 3 if problem.map.domain[0] <= 1 << DOUBLE_QUBITS else 2)
        if settings.rank is not None:
            options.setdefault("rank", settings.rank)
    return as_method(name, problem, **options)


def oracle_options(method: Method | str) -> dict[str, Any]:
    """Return the options of the spectral oracle that suit a method.

    The universal methods call it often at slowly moving dual vectors, and its default trusts a warm start. The others
    need the top eigenvector itself, which may have crossed another, so their engine guards against missing it; the
    corrective methods, which call it seldom, get bounds that hold except with a tiny probability.

    >>> oracle_options("accunipdgrad"), oracle_options("auto")["certify"]
    ({}, 'probabilistic')
    """
    name = method if isinstance(method, str) else method.name
    if name in _UNIVERSAL:
        return {}
    return {"engine": Engine(), "certify": PROBABILISTIC if name in _CORRECTIVE else RESIDUAL}


def universal_eps(problem: Problem, accuracy: float) -> float:
    """Return eps of the universal methods for a loss problem: the paper's, at most the requested accuracy."""
    scale = problem.scale(0.0)
    is_unweighted = problem.loss is not None and problem.loss.curvature() == 1.0
    return min(PAPER_EPS if is_unweighted else RELATIVE_EPS * scale, accuracy * scale)


def is_noisy(data: PauliData, accuracy: float) -> bool:
    """Whether the declared noise, ||s||^2 / ||b||^2, exceeds the accuracy: then the best fit has many columns.

    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.6, 0.8]), shots=np.array([100.0, 100.0]))
    >>> is_noisy(data, 1e-4), is_noisy(data, 0.1)
    (True, False)
    """
    errors = standard_errors(data)
    return errors is not None and float(np.sum(errors**2)) > accuracy * float(np.sum(data.expectations**2))


def depolarize(problem: Problem, state: QuantumState, share: float) -> QuantumState:
    """Return (1 - t) X + t I/p with the largest t that raises the loss by no more than ``share`` of it."""
    if problem.loss is None:
        raise InvalidInput("depolarize", "0 for objectives with a noise level", f"{share:g}")
    if state.qubits > DEPOLARIZE_QUBITS:
        raise InvalidInput("depolarize", f"0 above {DEPOLARIZE_QUBITS} qubits", f"{share:g}")
    unit = np.eye(state.dimension)
    white = LowRank(unit, unit, np.full(state.dimension, 1.0 / state.dimension))
    here = problem.map.image(state.low_rank) - problem.b
    there = problem.map.image(white) - problem.b
    at, half, end = (problem.loss.value(here + t * (there - here)) for t in (0.0, 0.5, 1.0))
    curvature = 2.0 * (at - 2.0 * half + end)
    weight = largest_step(end - at - curvature, curvature, share * at)
    vectors = np.concatenate([state.eigenvectors, unit], axis=1)
    return QuantumState(vectors, np.concatenate([(1.0 - weight) * state.eigenvalues, weight * white.weights]))


def largest_step(slope: float, curvature: float, limit: float) -> float:
    """Return the largest t in [0, 1] with slope t + curvature t^2 <= limit.

    >>> largest_step(1.0, 0.0, 0.25), largest_step(0.0, 1.0, 0.25), largest_step(-1.0, 0.5, 0.0)
    (0.25, 0.5, 1.0)
    """
    if limit >= slope + curvature:
        return 1.0
    root = math.sqrt(slope * slope + 4.0 * curvature * max(limit, 0.0))
    return 2.0 * limit / (slope + root) if slope > 0.0 else (root - slope) / (2.0 * curvature)
