"""From measurements to a state: the rank, the choice of method, the solve, truncation and depolarization.

``rank`` prescribes the largest rank of the estimate, or the data choose it: the rank of least information criterion, by
default for noisy data with few strings the smallest rank that explains them up to noise. Objectives of counts with
weights from a state take two fits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.tomography.counts import (
    BasisCounts,
    Histogram,
    as_confusion,
    estimate_paulis,
    histogram_of,
    pool_estimates,
)
from unipd.apps.tomography.fixed_rank import REGULARISATION, FixedRank
from unipd.apps.tomography.measurements import DOUBLE_QUBITS, Paulis, choose_precision, parameter_count, pauli_map
from unipd.apps.tomography.model import (
    BY_OUTCOME,
    RESOLVED_QUBITS,
    UNIVERSAL,
    Fit,
    FitSettings,
    Model,
    choose_count_objective,
    choose_objective,
    default_accuracy,
    gaussian_variance,
    invert_expectations,
    is_noisy,
    likelihood_problem,
    multinomial_variance,
    oracle_options,
    outcome_problem,
    smooth_frequencies,
    tomography_problem,
    universal_eps,
)
from unipd.apps.tomography.projected import Projected
from unipd.apps.tomography.state import QuantumState
from unipd.atoms import LowRank
from unipd.couplings import L2Ball, MultinomialLikelihood
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import OutcomeMap, PauliMap
from unipd.memory import require_room_for_state
from unipd.methods import Certificate, Method, as_method
from unipd.methods.base import measure_point
from unipd.methods.factored import is_factorable
from unipd.problem import Problem
from unipd.run import Result, iterate, recheck, solve
from unipd.run.consistency import certify_bound
from unipd.run.result import add_work, certificate_figures
from unipd.run.stopping import remaining_budget
from unipd.sharp.base import unwrap_counter
from unipd.sharp.spectral.factors import SpectralFactors
from unipd.sharp.spectral.spectrahedron import Spectrahedron
from unipd.status import Status
from unipd.trackers.lowrank import LowRankTracker

TRACKED_RANK = 128
"""Columns of X that an averaging method keeps."""
ROUGH_ACCURACY = 1e-3
"""Accuracy of a fit that only gives the weights of the next."""
NOISY_RANK = 32
"""Columns to start with where X fits noise: from there the rank adapts in few iterations, with 8 qubits as with 10."""
DEPOLARIZE_QUBITS = 10
"""Most qubits of a depolarized estimate: it has 2^q eigenvectors."""
WIDE_QUBITS = 9
"""Most qubits of a likelihood fit that starts from a factor with 2^q columns."""
ADEQUATE_DEVIATIONS = 3.0
"""Standard deviations by which the chi-square of a fit that explains the data may exceed its mean."""
LARGEST_SHARE = 0.5
"""Parameters of a rank that is to explain the data, at most, as a share of these: with more it would fit anything."""
LARGEST_SEARCHED = 32
"""Largest rank that the search for a rank tries."""
BOUND_SHARE = 0.01
"""Share of the objective by which a bound made at a time limit may err."""
BOUND_STEPS, BOUND_SECONDS = 16, 1.0
"""Most projected steps for such a bound, and the seconds that they may take (or half of those of the fit)."""


def fit_data(settings: FitSettings, data: PauliData) -> Fit:
    """Fit a state to expectation values."""
    objective = choose_objective(settings.objective, data)
    precision = choose_precision(settings.precision, data)
    require_room_for_state(data.qubits, data.size, double=precision == "double")
    strings = pauli_map(Paulis(data.qubits, data.x, data.z), precision=precision, threads=settings.threads)
    problem = tomography_problem(strings, data, objective, settings.noise_level, **oracle_options(settings.method))
    settings = _with_accuracy(settings, objective, problem, data.qubits)
    model = Model(problem, objective, strings, data, is_noisy(data, settings.required_accuracy))
    return fit_model(settings, model).add_figures()


def fit_counts(settings: FitSettings, counts: list[BasisCounts], prior: QuantumState | None = None) -> Fit:
    """Fit a state to counts: outcome by outcome, or through Pauli estimates.

    The weights of "outcomes" are taken from the state ``prior``, if given.
    """
    qubits, is_limited = counts[0].qubits, not (settings.max_weight is None and settings.max_paulis is None)
    objective = choose_count_objective(settings.objective, counts, limited=is_limited)
    confusion = as_confusion(settings.readout, qubits)
    if objective not in BY_OUTCOME:
        if confusion is not None:
            raise InvalidInput("readout", f"an objective of outcomes ({', '.join(BY_OUTCOME)})", objective)
        data = estimate_paulis(counts, max_weight=settings.max_weight, max_paulis=settings.max_paulis)
        return replace(fit_data(settings, data), counts=counts)
    if confusion is not None and any(part.povm is not None for part in counts):
        raise InvalidInput("readout", "none with a POVM, whose operators describe what is read", "readout errors")
    histogram = histogram_of(counts)
    require_room_for_state(qubits, histogram.size, double=True)
    precision = "single" if settings.precision == "single" else "double"
    outcome_map = OutcomeMap([part.measurement for part in counts], precision, settings.threads, confusion)
    data, strings = pool_estimates(outcome_map, histogram), outcome_map.pauli_map
    if data.size < strings.x.size:
        strings = pauli_map(Paulis(qubits, data.x, data.z), precision=precision, threads=settings.threads)
    if objective == "likelihood":
        problem = likelihood_problem(outcome_map, histogram, **oracle_options(settings.method))
        settings = _with_accuracy(settings, objective, problem, qubits)
        start = invert_expectations(data, strings) if qubits <= WIDE_QUBITS else None
        fit = fit_model(settings, Model(problem, objective, strings, data, True, histogram, start))
    else:
        fit = _fit_frequencies(settings, objective, outcome_map, histogram, (data, strings), prior)
    return replace(fit, settings=settings, counts=counts).add_figures()


def _with_accuracy(settings: FitSettings, objective: str, problem: Problem, qubits: int) -> FitSettings:
    if settings.accuracy is not None:
        return settings
    resolve = settings.method == "auto" and qubits <= RESOLVED_QUBITS
    return replace(settings, accuracy=default_accuracy(objective, problem, resolve_noise=resolve))


def _fit_frequencies(
    settings: FitSettings,
    objective: str,
    outcome_map: OutcomeMap,
    histogram: Histogram,
    estimates: tuple[PauliData, PauliMap],
    prior: QuantumState | None,
) -> Fit:
    """Fit frequencies with variances from the counts ("gaussian"), or from ``prior`` or a rough fit ("outcomes").

    A fit that a limit or the user ends is the last. Checkpoints are those of the final fit.
    """
    done: list[Result] = []
    data, strings = estimates

    def fit_weighted(variance: FloatArray, **changes: Any) -> Fit:
        problem = outcome_problem(outcome_map, histogram, variance, **oracle_options(settings.method))
        model = Model(problem, objective, strings, data, False, histogram)
        changed = replace(settings, stop=remaining_budget(settings.stop, *done), **changes)
        fit = fit_model(_with_accuracy(changed, objective, problem, data.qubits), model)
        done.append(fit.result)
        return replace(fit, result=add_work(*done))

    if objective == "gaussian":
        return fit_weighted(gaussian_variance(histogram))
    if prior is None:
        variance = multinomial_variance(histogram, smooth_frequencies(histogram))
        rough = max(ROUGH_ACCURACY, settings.accuracy or 0.0)
        fit = fit_weighted(variance, accuracy=rough, rank=None, solver_options={})
        if not fit.is_complete:
            return fit
        prior = fit.state
    return fit_weighted(multinomial_variance(histogram, outcome_map.image(prior.low_rank)))


def fit_model(settings: FitSettings, model: Model) -> Fit:
    """Fit states of the prescribed rank, of a rank that the data choose, or of any rank.

    Where objective and method are "auto", noisy data with fewer than half of all strings are fitted at the smallest
    rank that explains them, if there is one: a fit of any rank would fit the noise.
    """
    if isinstance(settings.rank, int):
        choice = f"at most {settings.rank} (prescribed)"
        return replace(_fit_rank(settings, model), rank_limit=settings.rank, rank_choice=choice)
    is_plain = settings.objective == settings.method == "auto" and not (settings.method_options or settings.depolarize)
    is_default = is_plain and model.is_noisy and model.is_undersampled and model.problem.has_differentiable_loss
    if settings.rank is None and not is_default:
        return _fit_rank(settings, model)
    if not model.problem.has_differentiable_loss:
        raise InvalidInput("rank", f'a number with the objective "{model.objective}"', repr(settings.rank))
    done: list[Result] = []
    fit = _search_rank(settings, model, done, must_explain=settings.rank is None)
    if fit is None:
        rest = replace(settings, rank=None, stop=remaining_budget(settings.stop, *done))
        fit = replace(_fit_rank(rest, model), rank_choice="any rank (no low rank explains the data)")
    elif settings.solver_options:  # checkpoints are those of the final fit
        final, done = _fit_rank(replace(settings, rank=fit.rank_limit), model), []
        fit = replace(final, rank_limit=fit.rank_limit, rank_choice=fit.rank_choice)
    others = [result for result in done if result is not fit.result]
    return replace(fit, settings=settings, result=add_work(*others, fit.result))


def _search_rank(settings: FitSettings, model: Model, done: list[Result], *, must_explain: bool) -> Fit | None:
    """Fit ranks 1, 2, ... until the information criterion rises, or a fit is optimal among all states; return the best.

    The criterion is Akaike's: chi-square or deviance plus twice the number of parameters. With ``must_explain`` the
    search ends at the first rank that explains the data, and is None where no rank does: one whose chi-square exceeds
    its mean, the degrees of freedom, by at most :data:`ADEQUATE_DEVIATIONS` standard deviations.
    """
    best: Fit | None = None
    least, size = math.inf, 1 << model.data.qubits
    for rank in range(1, min(size, LARGEST_SEARCHED) + 1):
        parameters = parameter_count(model.data.qubits, rank)
        if parameters > (LARGEST_SHARE if must_explain else 1.0) * model.observations:
            break
        stop = remaining_budget(settings.stop, *done)
        fit = replace(_fit_rank(replace(settings, rank=rank, stop=stop, solver_options={}), model), rank_limit=rank)
        done.append(fit.result)
        if not fit.is_complete:
            return replace(fit, rank_choice=f"at most {rank} (the search was cut short)")
        is_best_of_all = fit.result.status.success
        if must_explain and (is_best_of_all or is_adequate(model, fit, model.observations - parameters)):
            return replace(fit, rank_choice=f"at most {rank} (the smallest that explains the data)")
        criterion = information_criterion(model, fit.result.objective) + 2.0 * parameters
        if criterion >= least:
            break
        least, best = criterion, replace(fit, rank_choice=f"at most {rank} (least information criterion)")
        if is_best_of_all:
            break
    return None if must_explain else best


def is_adequate(model: Model, fit: Fit, freedom: int) -> bool:
    """Whether chi-square is within noise of its mean, the degrees of freedom."""
    chi_square = model.chi_square(fit.state, fit.fitted)
    return chi_square is not None and chi_square[0] <= freedom + ADEQUATE_DEVIATIONS * chi_square[1]


def information_criterion(model: Model, objective: float) -> float:
    """Return -2 log-likelihood up to a constant: twice the loss, or n log of its mean where errors are unknown."""
    if model.objective == "least-squares":
        return model.observations * math.log(max(objective, 1e-300) / model.observations)
    return 2.0 * objective


def _fit_rank(settings: FitSettings, model: Model) -> Fit:
    """Solve the problem, truncate or depolarize the solution as requested, and evaluate its expectation values."""
    problem, accuracy, rank = model.problem, settings.required_accuracy, settings.rank
    method = choose_method(settings, model)
    result = solve(
        problem,
        method,
        accuracy=accuracy,
        stop=settings.stop,
        callback=settings.callback,
        verbose=settings.verbose,
        tracker=LowRankTracker(min(problem.map.domain[0], TRACKED_RANK), trace_correction=True),
        **settings.solver_options,
    )
    if result.status is Status.INFEASIBLE:
        result = replace(result, note=_infeasible_note(problem))
    result = add_bound_of_data(add_bound_at_limit(result))
    point = result.x
    if not result.status.success and not np.any(point.weights):
        point = LowRank(point.left, point.right, np.ones_like(point.weights))  # no state fits: return some state
    solution = QuantumState.from_low_rank(point)
    state = solution.truncate(rank) if isinstance(rank, int) else solution
    if settings.depolarize:
        state = depolarize(problem, state, settings.depolarize)
    fitted = np.asarray(model.strings.image(state.low_rank), np.float64)
    if state.rank == solution.rank and not settings.depolarize:
        return Fit(settings, model, solution, result, fitted)
    # depolarizing may cost its share of the loss, truncation must not
    moved = _replace_point(result, state)
    cost = settings.depolarize * abs(result.objective)
    share = cost / problem.scale(result.objective) if model.objective == "likelihood" else settings.depolarize
    moved = replace(moved, accuracy=accuracy + share, atol=result.atol and result.atol + cost)
    note = f"Truncation to rank {state.rank} exceeds the requested accuracy, to which the fit itself was solved."
    final = recheck(moved, Status.STOPPED, note)
    return Fit(settings, model, state, final, fitted, lost_accuracy=final.status is not result.status)


def _infeasible_note(problem: Problem) -> str:
    """Return the message of a fit within a noise level that no X allows, with the limits that X has."""
    level = problem.coupling.radius if isinstance(problem.coupling, L2Ball) else math.nan
    kind, remedy = "X, of whatever trace,", "."
    if problem.sharp.maximum() < math.inf:
        kind = "X of trace at most 1, the trace of a state,"
        remedy = ', or fit with the objective "trace-squared", which does not limit the trace.'
    return f"Infeasible: no psd {kind} has ||A(X) - b|| <= {level:.6g}. Raise the noise level{remedy}"


def add_bound_at_limit(result: Result) -> Result:
    """Return a result that the time limit ended with a bound made there, if that is better than its last.

    The residual at its own point says little where the rank is still too small. That at X = 0 is often better over
    many qubits; where both leave the bound 0, which holds for every loss, a few projected steps over all states are
    taken.
    """
    problem = result.problem
    if result.status is not Status.TIME_LIMIT or not problem.has_differentiable_loss:
        return result
    begun, end = time.monotonic(), time.monotonic() + max(BOUND_SECONDS, 0.5 * result.seconds)
    better, image = _certify_at_image(result, result.image), np.zeros_like(problem.b)
    if problem.has_smooth_loss and type(unwrap_counter(problem.sharp)) is Spectrahedron:
        better = _certify_at_image(better, image)
        if better.dual_bound <= 0.0:
            method, tracker = Projected(rank=NOISY_RANK), LowRankTracker(1)
            states = iterate(problem, method, accuracy=result.accuracy, tracker=tracker, start=image)
            for state in islice(states, BOUND_STEPS):
                image = state.image
                if time.monotonic() >= end:
                    break
            better = _certify_at_image(better, image)
    return replace(better, seconds=result.seconds + time.monotonic() - begun)


def add_bound_of_data(result: Result) -> Result:
    """Return a result whose bound is at least that of a perfect fit, 0: no state fits better than the data themselves.

    The bound of the residual can be below that where the rank of the estimate is too small.
    """
    problem = result.problem
    if result.dual_bound >= 0.0 or not problem.has_differentiable_loss:
        return result
    loss = problem.loss
    data = loss.counts / loss.shots if isinstance(loss, MultinomialLikelihood) else problem.b
    return _certify_at_image(result, data.astype(problem.b.dtype))


def _certify_at_image(result: Result, image: Array) -> Result:
    """Return the result with the bound of the residual at A X, if that is better than its own."""
    problem = result.problem
    assert problem.loss is not None
    return improve_bound(result, problem.loss.gradient(image - problem.b), BOUND_SHARE * abs(result.objective))


def improve_bound(result: Result, dual: Array, tolerance: float = 0.0) -> Result:
    """Return the result with the bound of a dual vector, certified, if that is better than its own."""
    problem = result.problem
    known = Certificate(result.objective, result.violation, result.infeasibility, -math.inf, dual)
    certificate, work = certify_bound(problem, known, result.accuracy, tolerance)
    counts = result.counts.plus(work[0], 0, work[1])
    is_better = certificate.dual_bound > result.dual_bound
    return replace(result, counts=counts, **(certificate_figures(problem, certificate) if is_better else {}))


def _replace_point(result: Result, state: QuantumState) -> Result:
    """Return the result with this state as its point, scaled to the same trace and so to the same f(X)."""
    problem = result.problem
    trace = float(np.sum(result.x.weights * np.linalg.norm(result.x.left, axis=0) ** 2))
    point = LowRank(state.eigenvectors, state.eigenvectors, trace * state.eigenvalues)
    image = np.asarray(problem.map.image(point)).astype(problem.dtype, copy=False)
    known = measure_point(problem, None, image, result.objective if problem.loss is None else 0.0)
    figures = certificate_figures(problem, Certificate(*known, result.dual_bound, result.dual, result.bound_kind))
    return replace(result, x=point, image=image, **figures)


def choose_method(settings: FitSettings, model: Model) -> Method:
    """Return the method with options that suit tomography; a method object is used as it is.

    "auto" is descent over factors of fixed width for likelihoods and prescribed ranks, the projected gradient method
    where X fits noise with many columns, and else the factored method (for the squared trace, which has no factors, the
    corrective one), which starts with many columns for noisy data. The universal methods get the paper's eps, or a
    smaller one when the accuracy requires it.
    """
    name, options, problem = settings.method, dict(settings.method_options), model.problem
    is_descent = name in ("auto", "factored") and not options and problem.has_differentiable_loss
    if is_descent and isinstance(settings.rank, int):
        return FixedRank(rank=settings.rank)
    if name == "auto" and is_descent and model.objective == "likelihood":
        return FixedRank(initial=model.start)
    fits_noise = model.is_noisy and problem.loss is not None and settings.rank is None
    if name == "auto" and is_descent and fits_noise:
        return Projected(rank=NOISY_RANK)
    if name == "auto":
        name = "factored" if is_factorable(problem.sharp) else "corrective"
    size = problem.map.domain[0]
    usual: dict[str, Any] = {}
    if name in UNIVERSAL and problem.loss is not None:
        usual = {"eps": universal_eps(problem, settings.required_accuracy)}
    elif name == "factored" and fits_noise:
        factors = SpectralFactors(size, 0, 1.0, ball=False, regularisation=REGULARISATION)
        usual = {"rank": NOISY_RANK, "factors": factors, "inner_steps": 5}
    elif name == "factored":
        usual = {"inner_steps": 3 if size <= 1 << DOUBLE_QUBITS else 2}
        usual |= {"rank": settings.rank} if isinstance(settings.rank, int) else {}
    return as_method(name, problem, **{**usual, **options})


def depolarize(problem: Problem, state: QuantumState, share: float) -> QuantumState:
    """Return (1 - t) X + t I/p with the largest t that raises the loss by no more than ``share`` of it.

    Parameters
    ----------
    problem
        The problem of the fit, with a loss.
    state
        The state X.
    share
        The share of the loss by which it may rise.

    Raises
    ------
    InvalidInput
        If the problem has a noise level instead of a loss, or too many qubits for a full-rank state.

    See Also
    --------
    unipd.PauliTomography, tomography_problem

    Examples
    --------
    >>> from unipd.apps.tomography import Paulis, QuantumState, pauli_map, tomography_problem
    >>> from unipd.io import PauliData
    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.5, 0.8]))
    >>> problem = tomography_problem(pauli_map(Paulis(1, data.x, data.z)), data)
    >>> state = depolarize(problem, QuantumState([1, 0]), 0.1)
    >>> state.purity < 1.0
    True
    """
    if problem.loss is None:
        raise InvalidInput("depolarize", "0 for objectives with a noise level", f"{share:g}")
    if state.qubits > DEPOLARIZE_QUBITS:
        raise InvalidInput("depolarize", f"0 above {DEPOLARIZE_QUBITS} qubits", f"{share:g}")
    loss, unit = problem.loss, np.eye(state.dimension)
    white = LowRank(unit, unit, np.full(state.dimension, 1.0 / state.dimension))
    here = problem.map.image(state.low_rank) - problem.b
    there = problem.map.image(white) - problem.b
    limit = (1.0 + share) * loss.value(here)
    weight = largest_step(lambda t: loss.value(here + t * (there - here)), limit)
    vectors = np.concatenate([state.eigenvectors, unit], axis=1)
    return QuantumState(vectors, np.concatenate([(1.0 - weight) * state.eigenvalues, weight * white.weights]))


def largest_step(function: Callable[[float], float], limit: float) -> float:
    """Return the largest t in [0, 1] with function(t) <= limit, for a convex function that is at most that at 0.

    >>> round(largest_step(lambda t: t, 0.25), 9), round(largest_step(lambda t: t * t, 0.25), 9)
    (0.25, 0.5)
    """
    if function(1.0) <= limit:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) <= limit else (low, middle)
    return low
