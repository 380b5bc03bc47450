"""Which of two points is the better one, and keeping it."""

from __future__ import annotations

import math
from typing import TypeVar

from unipd.methods.base import Certificate, State
from unipd.problem import Problem
from unipd.records import changed

S = TypeVar("S", bound=State)


def error(problem: Problem, certificate: Certificate) -> float:
    """Return the larger of relative infeasibility and relative gap |objective - bound|: what an accuracy limits.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> error(problem, Certificate(objective=3.0, infeasibility=0.1, dual_bound=2.4, ray=np.zeros(2)))
    0.2
    """
    if not (math.isfinite(certificate.objective) and math.isfinite(certificate.dual_bound)):
        return math.inf
    gap = abs(certificate.gap) / problem.scale(certificate.objective)
    return max(round(gap, 15), certificate.infeasibility / max(1.0, problem.norm_b))


def with_better_bound(certificate: Certificate, other: Certificate) -> Certificate:
    """Return the first certificate's point with the higher of both bounds."""
    if not other.dual_bound > certificate.dual_bound:
        return certificate
    bound, ray, stretch = other.dual_bound, other.ray, other.stretch
    return changed(certificate, dual_bound=bound, ray=ray, stretch=stretch, kind=other.kind)


def with_better_point(problem: Problem, state: S, other: State) -> S:
    """Return the state with the better of two points, each measured against the higher of both bounds."""
    mine = with_better_bound(state.certificate, other.certificate)
    theirs = with_better_bound(other.certificate, state.certificate)
    if error(problem, theirs) >= error(problem, mine):
        return changed(state, certificate=mine)
    return changed(
        state,
        primal=other.primal,
        image=other.image,
        mean_objective=other.mean_objective,
        certificate=theirs,
    )
