"""The oracle's word in the factored method: a bound, and an atom when the present rank holds only a local optimum."""

from __future__ import annotations

import math
from dataclasses import replace

from unipd._typing import Array
from unipd.dual import DualPoint, evaluate
from unipd.methods.augmented import Evaluation
from unipd.methods.factored_state import AnyJudged, FactoredState, reported, stationarity, target
from unipd.methods.lbfgs import Memory
from unipd.methods.row_newton import newton_applies
from unipd.problem import Problem
from unipd.protocols import inner

START_TOLERANCE = 1e-2
"""Share of the problem's scale that the oracle's first answer may err by."""
ORACLE_SHARE = 0.1
"""An inexact oracle may err by this share of the accuracy asked for."""
TELLING = 20.0
"""An answer that errs by more of the accuracy asked for does not tell whether a certificate is within reach."""
MISSED = 10.0
"""An answer that errs by more of its tolerance is asked for again, from nowhere in particular."""
FEW_ROWS = 1000
"""Rows of the coupling up to which that second answer comes with the strongest certificate."""
LARGEST_MIX = 0.5
"""Largest share of an atom that is mixed in."""
FIRST_MIX = 1e-2
"""Share of an atom tried first when the segment towards it tells nothing."""
LEAST_MIX = 1e-8
"""Share below which an atom is given up."""


def judged(problem: Problem, state: FactoredState) -> FactoredState:
    """Ask the oracle at the present dual vector: for the bound, and for a direction that the factor lacks."""
    dual = state.model.completed(state.here, state.factor)
    eps = target(problem, state)
    tolerance = max(ORACLE_SHARE * eps, 0.0 if newton_applies(state.model) else 0.03 * abs(state.certificate.gap))
    if not math.isfinite(tolerance):
        tolerance = START_TOLERANCE * problem.scale(0.0)
    state, point = asked(problem, state, dual, tolerance)
    here = state.here
    promise = inner(dual, here.image - point.image) + here.cost - point.objective
    if promise <= max(0.25 * eps, 2.0 * stationarity(state)):
        return state
    return escaped(problem, state, point)


def asked(problem: Problem, state: AnyJudged, dual: Array, tolerance: float) -> tuple[AnyJudged, DualPoint]:
    """Return the state with the oracle's bound at a dual vector, and the answer.

    The strongest certificate is asked for when the gap is within reach of the accuracy.
    """
    eps, known = target(problem, state), state.certificate.dual_bound
    point = evaluate(problem, dual, tolerance=tolerance, start=state.recent_atom)
    state = with_bound(problem, state, point)
    if point.error > MISSED * tolerance:  # begun at the last atom, the search may end within a cluster it knows
        point = evaluate(problem, dual, tolerance=tolerance, certified=problem.b.size <= FEW_ROWS)
        state = with_bound(problem, state, point)
    # Residuals may never become small within a cluster of top values: an answer that brings nothing new tells as well.
    telling = point.error <= TELLING * eps or state.certificate.dual_bound <= known
    if state.certificate.gap > eps >= state.certificate.gap - point.error and telling:
        sure = evaluate(problem, dual, tolerance=ORACLE_SHARE * eps, start=point.atom, certified=True)
        state = with_bound(problem, state, sure)
    return state, point


def with_bound(problem: Problem, state: AnyJudged, point: DualPoint) -> AnyJudged:
    """Return the state with the bound that an oracle's answer gives."""
    certificate = state.certificate.improved(problem, point)
    counts = state.counts.plus(1, 0, point.matvecs)
    return replace(state, certificate=certificate, counts=counts, recent_atom=point.atom)


def escaped(problem: Problem, state: FactoredState, point: DualPoint) -> FactoredState:
    """Mix the oracle's atom into the factor with the best gamma.

    Where the factors keep rows by construction the mixture is no segment: then gamma shrinks until the objective
    falls, and grows while that pays.
    """
    model, start = state.model, state.here.value
    gamma = model.best_gamma(state.here, point.image, point.objective)
    gamma = min(gamma, LARGEST_MIX) if gamma > 0.0 else FIRST_MIX

    def mixed(share: float) -> tuple[Array, Evaluation]:
        factor = model.factors.joined(state.factor, point.atom, share)
        return factor, model.evaluate(factor)

    best = mixed(gamma)
    matvecs = best[1].matvecs
    while best[1].value >= start and gamma > LEAST_MIX:
        gamma *= 0.1
        best = mixed(gamma)
        matvecs += best[1].matvecs
    while 4.0 * gamma <= LARGEST_MIX:
        gamma *= 4.0
        further = mixed(gamma)
        matvecs += further[1].matvecs
        if further[1].value >= best[1].value:
            break
        best = further
    counts = state.counts.plus(0, 0, matvecs)
    if best[1].value >= start:
        return replace(state, counts=counts)
    memory = Memory(limit=state.memory.limit)
    return reported(problem, replace(state, factor=best[0], here=best[1], memory=memory, counts=counts))
