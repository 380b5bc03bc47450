"""Bounds that a run believed and its own point disproves: certified anew, or given up."""

from __future__ import annotations

import math
from typing import TypeVar

from unipd.methods import Certificate, State
from unipd.problem import Problem
from unipd.records import changed
from unipd.run.certify import FinalCheck
from unipd.run.contradiction import shortfall
from unipd.spectral import RESIDUAL, RIGOROUS

_ROUNDING = 1e4
"""Units of rounding by which a point may lie below a bound."""
_NESTED = ("inner", "other")
"""Fields in which a method that runs others keeps their states."""
S = TypeVar("S", bound=State)


def without_false_bound(problem: Problem, state: State, check: FinalCheck) -> State:
    """Return the state as it is, or with another bound where its own point disproves the present one.

    A bound that is not rigorous rests on an eigenvalue that may have been missed once, and would then stay the best
    one for ever. As soon as a point lies below it, or it claims that there is no point at all, the oracle is asked at
    its dual vector for the strongest certificate; when even that bound is disproved, none is left but what the next
    iterations find. Bounds that are rigorous are not doubted here: a point below one of those is an error.
    """
    certificate = state.certificate
    if certificate.kind == RIGOROUS or certificate.gap >= 0.0:
        return state
    infinite = certificate.dual_bound == math.inf and certificate.kind == RESIDUAL
    if not (infinite or _is_disproved(problem, certificate)):
        return state
    sure = check.certified(problem, certificate)
    if sure.kind != RIGOROUS and _is_disproved(problem, sure):
        sure = changed(sure, dual_bound=-math.inf)
    return check.counted(changed(_lowered(state, sure), certificate=sure))


def _is_disproved(problem: Problem, certificate: Certificate) -> bool:
    return shortfall(problem, certificate, _ROUNDING * problem.epsilon) > 0.0


def _lowered(state: S, sure: Certificate) -> S:
    """Return the state with no bound above the sure one, in it and in the states inside of it."""
    certificate = state.certificate
    if certificate.dual_bound > sure.dual_bound:
        certificate = changed(certificate, dual_bound=sure.dual_bound, kind=sure.kind)
    nested = {name: getattr(state, name, None) for name in _NESTED}
    inside = {name: _lowered(part, sure) for name, part in nested.items() if isinstance(part, State)}
    return changed(state, certificate=certificate, **inside)
