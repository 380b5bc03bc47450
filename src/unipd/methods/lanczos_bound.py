"""The bound of one long Lanczos run, for operators whose largest eigenvalues are nearly equal.

Where noise is fitted, tens of eigenvalues of H = -A^*(lam) meet at the top. A search for one eigenvector is slow to
tell them apart, and the bound needs none: it needs lambda_max(H) from above, which a run from a random vector gives.
Together they weigh more in that vector than one would, so the run closes in on them fast. From below it tells early
whether the accuracy is out of reach, and whether the Ritz vectors miss an eigenvector.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unipd._typing import Array
from unipd.dual import DualValue, evaluate, oracle_errors
from unipd.methods.factored_state import AnyJudged, target
from unipd.methods.judging import ORACLE_SHARE, with_bound
from unipd.problem import Problem
from unipd.protocols import inner
from unipd.sharp.counted import bare
from unipd.spectral import PROBABILISTIC, RIGOROUS, Certification
from unipd.spectral.certify import bracket
from unipd.spectral.products import Products, is_explicit

MOST_STEPS = 2000
"""Products of a run, at most."""


def long_run_serves(problem: Problem, slope: Any) -> bool:
    """Whether H is an operator that is too large for a rigorous bound (which small ones get from the oracle).

    >>> import numpy as np
    >>> import unipd
    >>> paulis = unipd.maps.PauliMap.from_labels(["ZI", "IX"])
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(4), paulis, [0.5, 0.5], unipd.couplings.LeastSquares())
    >>> long_run_serves(problem, paulis.adjoint(np.ones(2)))
    False
    """
    oracle = bare(problem.sharp)
    if is_explicit(slope) or not hasattr(slope, "matvec") or not getattr(slope, "hermitian", True):
        return False
    return oracle.certify != RIGOROUS and min(oracle.shape) > oracle.certification.dense_limit


def bounded(problem: Problem, state: AnyJudged, slope: Any, top: float, promise: float) -> tuple[AnyJudged, float]:
    """Return the state with the bound at its dual vector, and by how much the gap there exceeds its promise at least.

    The run ends when the bound certifies the accuracy asked for or is good enough, or when a gap that was promised to
    be within the accuracy proves not to be. The seed is the iteration: no operator depends on its own random vector.

    Parameters
    ----------
    problem, state
        The problem, and the state whose dual vector is asked about.
    slope
        H = -A^*(lam).
    top
        The largest Ritz value of H at hand.
    promise
        The gap if that were its largest eigenvalue.
    """
    oracle, eps = bare(problem.sharp), target(problem, state)

    def gap(level: float) -> float:
        return promise + oracle.trace * (level - top)

    def enough(low: float, up: float) -> bool:
        close = gap(up) - gap(low) <= ORACLE_SHARE * max(gap(low), eps)
        return close or gap(up) <= eps or promise <= eps < gap(low)

    plan = Certification(oracle.certification.delta, MOST_STEPS, state.iteration)
    with oracle_errors:
        found = bracket(Products(slope, hermitian=True), plan, enough)
    answer = _value(problem, state.dual, oracle.trace * found.upper, found.matvecs)
    certificate = state.certificate.improved(problem, answer)
    state = replace(state, certificate=certificate, counts=state.counts.plus(1, 0, found.matvecs))
    return state, gap(found.lower) - promise


def missed(problem: Problem, state: AnyJudged, excess: float) -> tuple[AnyJudged, Array]:
    """Return the state with the oracle's answer at its dual vector, and the eigenvector of the answer."""
    point = evaluate(problem, state.dual, tolerance=ORACLE_SHARE * excess, start=state.recent_atom)
    return with_bound(problem, state, point), point.atom.left


def _value(problem: Problem, dual: Array, conjugate: float, matvecs: int) -> DualValue:
    linear = inner(dual, problem.b)
    return DualValue(dual, conjugate + linear, conjugate, matvecs, PROBABILISTIC, None, linear)
