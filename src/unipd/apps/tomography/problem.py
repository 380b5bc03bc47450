"""The optimisation problems of tomography, in the paper's template."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.tomography.noise import shot_variance, usable_stderr
from unipd.apps.tomography.trace_squared import TraceSquared
from unipd.couplings import L2Ball, LeastSquares, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData
from unipd.problem import Problem
from unipd.sharp.linear import Linear
from unipd.sharp.spectral_trace import Spectrahedron, TraceBall

OBJECTIVES = ("least-squares", "weighted", "trace", "trace-squared")
"""What is minimised; the last two are constrained by the noise level."""
_DEVIATIONS = 2.0


def standard_errors(data: PauliData) -> FloatArray | None:
    """Return the standard error of each value, from what the data say; None when they say nothing."""
    if data.stderr is not None:
        return usable_stderr(data.stderr)
    if data.shots is not None:
        return np.sqrt(shot_variance(data.expectations, data.shots))
    return None


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
    return math.sqrt(float(np.sum(errors**2)) + _DEVIATIONS * math.sqrt(2.0 * float(np.sum(errors**4))))


def choose_objective(objective: str, data: PauliData) -> str:
    """Return the objective's name; "auto" is "weighted" when the data tell their errors, else "least-squares"."""
    if objective == "auto":
        return "least-squares" if standard_errors(data) is None else "weighted"
    if objective in ("outcomes", "gaussian"):
        expected = f"counts by basis for {objective} (in Python: fit_counts)"
        raise InvalidInput("objective", expected, "expectation values")
    if objective not in OBJECTIVES:
        raise InvalidInput("objective", f"one of auto, {', '.join(OBJECTIVES)}", repr(objective))
    return objective


def tomography_problem(
    measured: Any, data: PauliData, objective: str = "auto", noise_level: float | None = None, **options: Any
) -> Problem:
    """Return the problem of fitting a state to the data.

    - "least-squares": min 1/2 ||A(X) - b||^2 over density matrices (paper, (16));
    - "weighted": min 1/2 sum_k |A(X) - b|_k^2 / s_k^2 over density matrices, s_k the standard errors;
    - "trace": min tr X s.t. ||A(X) - b|| <= kappa, X psd, tr X <= 1;
    - "trace-squared": min (tr X)^2 s.t. ||A(X) - b|| <= kappa, X psd.

    Parameters
    ----------
    measured
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
    >>> from unipd.apps.tomography.mapping import pauli_map
    >>> from unipd.apps.tomography.paulis import Paulis
    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.0, 1.0]))
    >>> tomography_problem(pauli_map(Paulis(1, data.x, data.z)), data)
    Problem(Spectrahedron, PauliMap, n=2, LeastSquares, split)
    """
    chosen, size = choose_objective(objective, data), 1 << data.qubits
    b = data.expectations.astype(measured.dtype)
    if chosen == "least-squares":
        return Problem(Spectrahedron(size, **options), measured, b, LeastSquares())
    if chosen == "weighted":
        errors = standard_errors(data)
        if errors is None:
            raise InvalidInput("objective", 'shots or stderr in the data for "weighted"', "neither")
        return Problem(Spectrahedron(size, **options), measured, b, WeightedLeastSquares(errors**-2.0))
    level = noise_level_of(data) if noise_level is None else validate.nonnegative("noise_level", noise_level)
    length = float(np.linalg.norm(b))
    if level >= length:
        raise InvalidInput(
            "noise_level", f"a number below ||b|| = {length:.6g}, from which on X = 0 fits", f"{level:.6g}"
        )
    if chosen == "trace":
        single = getattr(measured, "precision", "double") == "single"
        identity = sp.csr_array(sp.eye_array(size)).astype(np.float32 if single else np.float64)
        return Problem(Linear(identity, TraceBall(size, **options)), measured, b, L2Ball(level))
    return Problem(TraceSquared(size, **options), measured, b, L2Ball(level))
