"""The least norm that meets the constraints: factors on the whole space, where no set bounds their length or rank.

For f = w ||X||_*^2 the objective over R = (U, V) is w (||R||^2 / 2)^2. The first length and penalty follow from the
data; the factors widen with every atom of the oracle.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from unipd._typing import Array
from unipd.dual import oracle_errors
from unipd.methods.base import FAR_FROM_FEASIBLE
from unipd.methods.factored.augmented_lagrangian import FactoredState, refresh_certificate
from unipd.methods.factored.lbfgs import Memory
from unipd.problem import Problem
from unipd.sharp.spectral.factors import Factors, drop_weak_columns

START_SHARE = 0.1
"""Length of the first factor, as a share of the length suggested by the data."""
FEASIBLE_SHARE = 0.1
"""The first penalty weighs an infeasibility of this share of ||b|| as much as the objective."""
SPREAD = 10.0
"""Estimated ratio of the objective to its bound from one singular value."""
PATIENCE = 10
"""The oracle is called after this many iterations, and 2, 4, ... times as many, even without convergence."""
NARROW_SHARE = 0.9
"""Columns are dropped when no more than this share of them remains."""
GAP_WIDENING = 5.0
"""New columns as a share of the present ones times the relative gap; at most as many as there are."""


def first_scales(problem: Problem, weight: float) -> tuple[float, float]:
    """Return the first penalty, and the length of the first factor, for the weight w of the objective.

    The penalty follows from the lower bound <b, b>^2 w / ||A^* b||^2 of the objective, which is attained when one pair
    of singular vectors fits the data.
    """
    with oracle_errors:
        from unipd.spectral import Engine

        top = Engine().singular_triples(problem.map.adjoint(problem.b), tolerance=1e-2).value
    norm_sq = problem.norm_b**2
    least = weight * norm_sq**2 / max(top**2, 1e-300)
    penalty = 2.0 * SPREAD * least / (FEASIBLE_SHARE**2 * norm_sq) if norm_sq > 0.0 else 1.0
    return penalty, START_SHARE * math.sqrt(2.0 * norm_sq / max(top, 1e-300))


def scale_to_data(problem: Problem, factors: Any) -> Factors:
    """Return factors of the whole space with the first penalty and length, where they have none."""
    if factors.penalty is not None:
        return factors
    penalty, length = first_scales(problem, factors.weight)
    return replace(factors, penalty=penalty, length=length)


def is_oracle_overdue(before: FactoredState, after: FactoredState) -> bool:
    """Whether to call the oracle before feasibility or convergence: with too few columns the steps never get there."""
    far = after.certificate.infeasibility > FAR_FROM_FEASIBLE
    done = after.model is not before.model
    rounds, rest = divmod(after.iteration, PATIENCE)
    return (far and done) or (rest == 0 and rounds & (rounds - 1) == 0)


def widen_state(problem: Problem, state: FactoredState, seed: int) -> FactoredState:
    """Return the state with random columns and an empty quasi-Newton memory.

    They come with an atom: as many as there are while the gap is wide, few when it is nearly closed, and no more than
    the shorter side of the matrix.
    """
    factors: Any = state.model.factors
    certificate, columns = state.certificate, state.factor.shape[1]
    share = min(GAP_WIDENING * abs(certificate.gap(problem)), 1.0)
    return _with_factor(
        problem, state, factors.widen_factor(state.factor, round((1.0 + share) * columns), seed + state.iteration)
    )


def narrow_state(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state without columns of negligible length, where they are many; its memory is empty already."""
    factor = drop_weak_columns(state.factor)
    is_narrower = factor.shape[1] <= NARROW_SHARE * state.factor.shape[1]
    return _with_factor(problem, state, factor) if is_narrower else state


def _with_factor(problem: Problem, state: FactoredState, factor: Array) -> FactoredState:
    here = state.model.evaluate(factor)
    counts = state.counts.plus(0, 0, here.matvecs)
    memory = Memory(limit=state.memory.limit)
    return refresh_certificate(problem, replace(state, factor=factor, here=here, memory=memory, counts=counts))
