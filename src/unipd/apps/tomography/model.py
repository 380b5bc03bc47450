"""What is fitted: the objectives for expectation values and counts with their problems, settings, and what comes out.

For counts the objective is the likelihood, unless limits on the strings, the number of outcomes or quasi-counts forbid
it; for expectation values it is least squares, weighted where their errors are known. Alternatives for counts fit the
frequencies of all outcomes by least squares, each weighted by its variance: estimated from the counts ("gaussian", also
for quasi-counts) or from a previous state ("outcomes").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import BasisCounts, Histogram
from unipd.apps.tomography.measurements import count_strings, parameter_count, standard_errors
from unipd.apps.tomography.state import QuantumState
from unipd.atoms import apply
from unipd.couplings import L2Ball, LeastSquares, MultinomialLikelihood, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import OutcomeMap, PauliMap, bit_count
from unipd.methods import Method
from unipd.methods.corrective import project_simplex
from unipd.problem import Problem
from unipd.run import IterationInfo, Result, StoppingRule
from unipd.sharp.linear import Linear
from unipd.sharp.spectral import TraceSquared
from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall
from unipd.spectral import PROBABILISTIC, RESIDUAL, Engine
from unipd.status import Status

OBJECTIVES = ("least-squares", "weighted", "trace", "trace-squared")
"""Objectives for expectation values; the last two are constrained by the noise level."""
RELATIVE_ACCURACY, NATS = 1e-4, 0.01
"""Default accuracies: relative to the loss at X = 0, and absolute for likelihoods."""
HALF_CHI_SQUARE, SMALLEST_ACCURACY, RESOLVED_QUBITS = 0.01, 1e-10, 6
"""Gap of a loss in units of the noise, the smallest accuracy that is derived from it, and the most qubits for it."""
NOISE_DEVIATIONS = 2.0
"""Standard deviations of ||A(X) - b||^2 above its mean that the noise level allows."""
PAPER_EPS = 2e-4
"""eps of the paper's experiment: absolute, where 1/2 ||b||^2 = 4.19."""
RELATIVE_EPS = 4.8e-5
"""The same as a share of the loss at X = 0, for weighted losses."""
UNIVERSAL = ("unipdgrad", "accunipdgrad")
"""Methods that take eps."""
_CERTIFYING = ("auto", "factored", "corrective", "fixed-rank")
"""Methods that call the oracle seldom."""
BY_OUTCOME = ("likelihood", "outcomes", "gaussian")
"""Objectives that fit the counts of all outcomes."""
MOST_OUTCOMES = 1 << 22
"""Outcomes (bases times 2^q) up to which they are fitted one by one."""
GAUSSIAN_PSEUDOCOUNT = 0.5
"""Counts added to every outcome for the weights of "gaussian"."""
PSEUDOCOUNT = 1.0
"""Counts added to every outcome for the weights of the first fit."""
LEAST_COUNT = 0.1
"""Lower bound on the expected count of an outcome; smaller ones would only make the problem ill-conditioned."""
LEAST_EXPECTED = 1e-3
"""Expected counts below this leave a chi-square alone, and are this large in it where an outcome was seen."""
START_NOISE = 0.05
"""White noise in the first point of a likelihood fit: no outcome is impossible there."""


def noise_level_of(data: PauliData) -> float:
    """Return kappa with ||A(X) - b|| <= kappa for the true X in about 98 of 100 experiments.

    The squared error is a sum of independent terms with mean s_k^2 and variance 2 s_k^4 (Gaussian): kappa^2 is its mean
    plus two standard deviations.

    >>> noise_level_of(PauliData(1, np.array([1]), np.array([0]), np.array([0.5]), stderr=np.array([0.1]))).__round__(6)
    0.195664
    """
    errors = standard_errors(data)
    if errors is None:
        raise InvalidInput(
            "noise_level", "a number, or shots or stderr in the data to derive it from", _known_errors(data)
        )
    return math.sqrt(float(np.sum(errors**2)) + NOISE_DEVIATIONS * math.sqrt(2.0 * float(np.sum(errors**4))))


def _known_errors(data: PauliData) -> str:
    return "neither" if data.stderr is None else "standard errors that are all zero"


def choose_objective(objective: str, data: PauliData) -> str:
    """Return the objective's name; "auto" is "weighted" when the data declare errors, else "least-squares"."""
    if objective == "auto":
        return "least-squares" if standard_errors(data) is None else "weighted"
    if objective in BY_OUTCOME:
        expected = f"counts by basis for {objective} (in Python: fit_counts)"
        raise InvalidInput("objective", expected, "expectation values")
    return validate.choice("objective", objective, ("auto", *OBJECTIVES))


def choose_count_objective(objective: str, counts: list[BasisCounts], *, limited: bool) -> str:
    """Return the objective for counts: "auto" is "likelihood" wherever that is possible.

    Quasi-counts have no likelihood and get "gaussian" weights. With limits on the strings, or with too many outcomes,
    "auto" is "weighted": the Pauli estimates are fitted.

    >>> choose_count_objective("auto", [BasisCounts("Z", np.array([0]), np.array([1]))], limited=False)
    'likelihood'
    """
    is_quasi = any(part.is_quasi for part in counts)
    if objective == "auto":
        by_outcome = "gaussian" if is_quasi else "likelihood"
        return by_outcome if has_few_outcomes(counts) and not limited else "weighted"
    if objective in BY_OUTCOME and (limited or not has_few_outcomes(counts)):
        expected = f"no limits and at most {MOST_OUTCOMES} outcomes for {' and '.join(BY_OUTCOME)}"
        raise InvalidInput("objective", expected, f"{len(counts)} bases of {counts[0].qubits} qubits")
    validate.choice("objective", objective, ("auto", *BY_OUTCOME, *OBJECTIVES))
    if objective == "likelihood" and is_quasi:
        raise InvalidInput("objective", '"gaussian" for quasi-counts (negative or fractional)', '"likelihood"')
    return objective


def default_accuracy(objective: str, problem: Problem, *, resolve_noise: bool) -> float:
    """Return the accuracy where none is requested: nats for a likelihood, else relative to the loss at X = 0.

    A loss in units of the noise is half a chi-square. At X = 0 it grows with the shots, and a fixed share of it would
    exceed the noise: with ``resolve_noise`` the gap is at most :data:`HALF_CHI_SQUARE`, however many shots there are.
    """
    if objective == "likelihood":
        return NATS
    if objective not in ("weighted", "outcomes", "gaussian") or not resolve_noise:
        return RELATIVE_ACCURACY
    return min(RELATIVE_ACCURACY, max(HALF_CHI_SQUARE / problem.scale(0.0), SMALLEST_ACCURACY))


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

    Raises
    ------
    InvalidInput
        ``objective``: expected shots or stderr in the data for "weighted"; ``noise_level``: expected a number of at
        least zero.

    See Also
    --------
    likelihood_problem, outcome_problem, unipd.PauliTomography

    Examples
    --------
    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.0, 1.0]))
    >>> tomography_problem(PauliMap(1, data.x, data.z), data)
    Problem(Spectrahedron, PauliMap, n=2, LeastSquares, split)
    """
    chosen, size = choose_objective(objective, data), 1 << data.qubits
    b = data.expectations.astype(strings.dtype)
    if chosen == "least-squares":
        return Problem(Spectrahedron(size, **options), strings, b, LeastSquares())
    if chosen == "weighted":
        errors = standard_errors(data)
        if errors is None:
            raise InvalidInput("objective", 'shots or stderr in the data for "weighted"', _known_errors(data))
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


def oracle_options(method: Method | str) -> dict[str, Any]:
    """Return the options of the spectral oracle that suit a method.

    The universal methods call it often at slowly moving dual vectors, and its default trusts a warm start. The others
    need the top eigenvector itself, which may have crossed another, so their engine guards against missing it; the
    corrective methods, which call it seldom, get bounds that hold except with a tiny probability.

    >>> oracle_options("accunipdgrad"), oracle_options("auto")["certify"]
    ({}, 'probabilistic')
    """
    name = method if isinstance(method, str) else method.name
    if name in UNIVERSAL:
        return {}
    return {"engine": Engine(), "certify": PROBABILISTIC if name in _CERTIFYING else RESIDUAL}


def universal_eps(problem: Problem, accuracy: float) -> float:
    """Return eps of the universal methods for a loss problem: the paper's, at most the requested accuracy."""
    scale = problem.scale(0.0)
    if problem.loss is not None and problem.loss.gap_scale is not None:
        return accuracy * scale
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


def has_few_outcomes(counts: list[BasisCounts]) -> bool:
    """Whether there are few enough outcomes to fit them one by one."""
    return sum(part.size for part in counts) <= MOST_OUTCOMES


def smooth_frequencies(histogram: Histogram) -> FloatArray:
    """Return the frequencies with one count added to every outcome, so that none is zero.

    >>> smooth_frequencies(Histogram(np.array([0.0, 8.0]), np.array([2])))
    array([0.1, 0.9])
    """
    return (histogram.counts + PSEUDOCOUNT) / (histogram.shots + PSEUDOCOUNT * histogram.choices)


def multinomial_variance(histogram: Histogram, probabilities: FloatArray) -> FloatArray:
    """Return p / N for every outcome, with p bounded from below by :data:`LEAST_COUNT` / N.

    On frequencies that sum to one in every basis these weights are those of the multinomial distribution.
    """
    return np.maximum(probabilities, LEAST_COUNT / histogram.shots) / histogram.shots


def gaussian_variance(histogram: Histogram) -> FloatArray:
    """Return h (1 - h) / N for every outcome, with h the frequency after :data:`GAUSSIAN_PSEUDOCOUNT` is added.

    ``cvxpy_gaussian_lstsq`` of qiskit-experiments uses the same weights. Estimates of pure states are good, those of
    states with a little noise too pure.
    """
    shots = histogram.shots
    hedged = np.maximum(histogram.counts, 0.0) + GAUSSIAN_PSEUDOCOUNT
    hedged = hedged / (shots + GAUSSIAN_PSEUDOCOUNT * histogram.choices)
    hedged = np.minimum(hedged, 1.0 - GAUSSIAN_PSEUDOCOUNT / (shots + 1.0))
    return hedged * (1.0 - hedged) / shots


def outcome_problem(outcome_map: OutcomeMap, histogram: Histogram, variance: FloatArray, **options: Any) -> Problem:
    """Return min 1/2 sum over outcomes of (A(X) - f)^2 / v over density matrices, with f the observed frequencies.

    ``options`` are those of the spectral oracle.

    Parameters
    ----------
    outcome_map
        The map from states to probabilities of outcomes.
    histogram
        The counts of these outcomes.
    variance
        Variance v of each frequency.
    options
        Options of the spectral oracle.

    See Also
    --------
    likelihood_problem, tomography_problem

    Examples
    --------
    >>> from unipd.maps.pauli import OutcomeMap
    >>> histogram = Histogram(np.array([7.0, 3.0]), np.array([2]))
    >>> outcome_problem(OutcomeMap(["Z"], "double"), histogram, np.full(2, 0.02))
    Problem(Spectrahedron, OutcomeMap, n=2, WeightedLeastSquares...)
    """
    sharp = Spectrahedron(outcome_map.domain[0], **options)
    return Problem(sharp, outcome_map, histogram.frequencies, WeightedLeastSquares(1.0 / variance))


def likelihood_problem(outcome_map: OutcomeMap, histogram: Histogram, **options: Any) -> Problem:
    """Return the maximum-likelihood problem of the counts: min sum n log(f / p) over density matrices, p = A(X).

    Parameters
    ----------
    outcome_map
        The map from states to probabilities of outcomes.
    histogram
        The counts of these outcomes.
    options
        Options of the spectral oracle.

    See Also
    --------
    outcome_problem, tomography_problem, unipd.couplings.MultinomialLikelihood

    Examples
    --------
    >>> from unipd.maps.pauli import OutcomeMap
    >>> histogram = Histogram(np.array([7.0, 3.0]), np.array([2]))
    >>> likelihood_problem(OutcomeMap(["Z"], "double"), histogram)
    Problem(Spectrahedron, OutcomeMap, n=2, MultinomialLikelihood...)
    """
    loss = MultinomialLikelihood(histogram.counts, histogram.shots)
    return Problem(Spectrahedron(outcome_map.domain[0], **options), outcome_map, np.zeros(histogram.size), loss)


def invert_expectations(data: PauliData, strings: PauliMap) -> FloatArray:
    """Return a factor R of the density matrix nearest to 2^-q (I + sum b_k P_k), with a little white noise."""
    size = 1 << data.qubits
    is_identity = (data.x == 0) & (data.z == 0)
    weights = np.where(is_identity, 0.0, data.expectations) / size
    matrix = apply(strings.adjoint(weights), np.eye(size, dtype=strings.operator_dtype)) + np.eye(size) / size
    values, vectors = np.linalg.eigh(hermitian_part(matrix))
    shares = (1.0 - START_NOISE) * project_simplex(values, 1.0) + START_NOISE / size
    return vectors * np.sqrt(shares)


def pearson_chi_square(histogram: Histogram, probabilities: FloatArray) -> tuple[float, float]:
    """Return sum (n - N p)^2 / (N p) over the outcomes, and its standard deviation for counts of these probabilities.

    Every term has mean 1 - p and, for a Poisson number with mean N p, variance 2 + 1 / (N p): also for rare outcomes.

    Parameters
    ----------
    histogram
        The counts.
    probabilities
        Probability p of each outcome.

    See Also
    --------
    residual_noise, unipd.couplings.MultinomialLikelihood

    Examples
    --------
    >>> pearson_chi_square(Histogram(np.array([6.0, 2.0]), np.array([2])), np.array([0.5, 0.5]))[0]
    2.0
    """
    expected, seen = histogram.shots * probabilities, histogram.counts
    possible = (expected > LEAST_EXPECTED) | (seen > 0)
    mean = np.maximum(expected[possible], LEAST_EXPECTED)
    return float(np.sum((seen[possible] - mean) ** 2 / mean)), math.sqrt(float(np.sum(2.0 + 1.0 / mean)))


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
