"""What is minimised: the objectives for expectation values and counts, their problems, and what suits them.

For counts the objective is the likelihood, unless limits on the strings, the number of outcomes or quasi-counts forbid
it; for expectation values it is least squares, weighted where their errors are known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._util import validate
from unipd.apps.tomography.counts import BY_OUTCOME, MOST_OUTCOMES, BasisCounts, has_few_outcomes
from unipd.apps.tomography.measurements import standard_errors
from unipd.couplings import L2Ball, LeastSquares, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import PauliMap
from unipd.methods import Method
from unipd.problem import Problem
from unipd.sharp.linear import Linear
from unipd.sharp.spectral import TraceSquared
from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall
from unipd.spectral import PROBABILISTIC, RESIDUAL, Engine

OBJECTIVES = ("least-squares", "weighted", "trace", "trace-squared")
"""Objectives for expectation values; the last two are constrained by the noise level."""
RELATIVE_ACCURACY, NATS = 1e-4, 0.01
"""Default accuracies: relative to the loss at X = 0, and absolute for likelihoods."""
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
    if objective not in OBJECTIVES:
        raise InvalidInput("objective", f"one of auto, {', '.join(OBJECTIVES)}", repr(objective))
    return objective


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
        raise InvalidInput("objective", expected, f"{len(counts)} bases of {len(counts[0].basis)} qubits")
    if objective == "likelihood" and is_quasi:
        raise InvalidInput("objective", '"gaussian" for quasi-counts (negative or fractional)', '"likelihood"')
    return objective


def default_accuracy(objective: str) -> float:
    """Return the accuracy where none is requested: nats for a likelihood, else relative to the loss at X = 0."""
    return NATS if objective == "likelihood" else RELATIVE_ACCURACY


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
    if problem.loss is not None and problem.loss.gap_unit is not None:
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
