"""Choices that suit tomography: the method and its accuracy, the precision of the products, what is kept of X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData
from unipd.methods import Method, as_method
from unipd.methods.factors import SpectralFactors
from unipd.methods.product_factors import is_factorable
from unipd.methods.projected import Projected
from unipd.primal.lowrank import LowRankTracker
from unipd.problem import Problem
from unipd.sharp.spectral_trace import Spectrahedron
from unipd.spectral import PROBABILISTIC, RESIDUAL, Engine

PAPER_EPS = 2e-4
"""eps of the paper's experiment: absolute, where 1/2 ||b||^2 = 4.19."""
RELATIVE_EPS = 4.8e-5
"""The same as a share of the loss at X = 0, for weighted losses."""
KEPT_RANK = 128
"""Columns that an averaging method keeps of X."""
DOUBLE_QUBITS = 11
"""Up to so many qubits double precision costs little."""
NOISY_REGULARISATION = 0.3
"""Regularisation of the preconditioner where noise is fitted: products fall to a third of those with the usual one."""
NOISY_STEPS = 5
"""Quasi-Newton steps an iteration there: with many columns the oracle is the smaller part of the work."""
PRECISIONS = ("auto", "single", "double")
_UNIVERSAL = ("unipdgrad", "accunipdgrad")
_CORRECTIVE = ("auto", "factored", "corrective")


def choose_precision(precision: str, data: PauliData) -> str:
    """Return "single" or "double"; "auto" is single for many qubits and data without declared errors.

    Exact data are fitted to a residual near zero, which single precision resolves. With noise the objective stays
    of the order of the noise, and its last digits decide where the minimum is.

    >>> import numpy as np
    >>> choose_precision("auto", PauliData(14, np.array([1]), np.array([0]), np.array([0.1])))
    'single'
    """
    if precision not in PRECISIONS:
        raise InvalidInput("precision", f"one of {', '.join(PRECISIONS)}", repr(precision))
    if precision != "auto":
        return precision
    noisy = data.shots is not None or data.stderr is not None
    return "double" if noisy or data.qubits <= DOUBLE_QUBITS else "single"


def choose_method(
    method: Method | str,
    problem: Problem,
    accuracy: float,
    options: Mapping[str, Any],
    *,
    rank: int | None = None,
    noisy_rank: int = 1,
) -> Method:
    """Return the method of this name with options that suit tomography; a method object is used as it is.

    "auto" is the factored corrective method (for the squared trace, which has no factors, the corrective one), and
    where ``noisy_rank`` > 1 columns are needed to fit noise the one of projected steps. The factored one begins with
    ``rank`` columns, or with ``noisy_rank``; then the preconditioner leaves small eigenvalues alone. The universal
    methods get the paper's eps, or a smaller one when the accuracy asks for it.
    """
    options = dict(options)
    if not isinstance(method, str):
        return as_method(method, problem, **options)
    name = method
    noisy = noisy_rank > 1 and isinstance(problem.sharp, Spectrahedron) and problem.loss is not None
    if name == "auto" and noisy and rank is None and not options:
        return Projected(rank=noisy_rank)
    if name == "auto":
        name = "factored" if is_factorable(problem.sharp) else "corrective"
    if name in _UNIVERSAL and problem.loss is not None:
        options.setdefault("eps", universal_eps(problem, accuracy))
    if name == "factored":
        if rank is not None:
            options.setdefault("rank", rank)
        elif noisy:
            factors = SpectralFactors(problem.map.domain[0], 0, 1.0, False, NOISY_REGULARISATION)
            chosen: dict[str, Any] = {"rank": noisy_rank, "factors": factors, "inner_steps": NOISY_STEPS}
            return as_method(name, problem, **{**chosen, **options})
        options.setdefault("inner_steps", 3 if problem.map.domain[0] <= 1 << DOUBLE_QUBITS else 2)
    return as_method(name, problem, **options)


def oracle_options(method: Method | str) -> dict[str, Any]:
    """Return the options of the spectral oracle that suit a method.

    The universal methods call it often at slowly moving dual vectors, and its default trusts a warm start. The others
    need the top eigenvector itself, which may have crossed another, so theirs looks out for it; the corrective methods,
    which call it seldom, get bounds that hold except with a tiny probability.

    >>> oracle_options("accunipdgrad"), oracle_options("auto")["certify"]
    ({}, 'probabilistic')
    """
    name = method if isinstance(method, str) else method.name
    if name in _UNIVERSAL:
        return {}
    return {"engine": Engine(), "certify": PROBABILISTIC if name in _CORRECTIVE else RESIDUAL}


def universal_eps(problem: Problem, accuracy: float) -> float:
    """Return eps of the universal methods for a loss problem: the paper's, at most the accuracy asked for."""
    scale = problem.scale(0.0)
    unweighted = problem.loss is not None and problem.loss.curvature() == 1.0
    usual = PAPER_EPS if unweighted else RELATIVE_EPS * scale
    return min(usual, validate.positive("accuracy", accuracy) * scale)


def state_tracker(qubits: int) -> LowRankTracker:
    """Return what averaging methods keep of X: its leading factors, all of them for few qubits.

    >>> state_tracker(14).rank_limit, state_tracker(3).rank_limit
    (128, 8)
    """
    return LowRankTracker(min(1 << qubits, KEPT_RANK), trace_correction=True)
