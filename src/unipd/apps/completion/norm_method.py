"""The factored method for the squared nuclear norm, with columns that multiply while the oracle finds them too few."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from unipd._typing import Array
from unipd.apps.completion.curvature import SideCurvature
from unipd.apps.completion.norm_factors import NormFactors
from unipd.methods.factored import JUDGED_INFEASIBILITY, Factored, FactoredState
from unipd.methods.factored_state import reported
from unipd.methods.judging import judged
from unipd.methods.lbfgs import Memory
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp import NuclearNormSquared

START_SHARE = 0.1
"""Length of the first factor, as a share of what the data suggest."""
FEASIBLE_SHARE = 0.1
"""The first penalty weighs an infeasibility of this share of ||b|| as much as the objective."""
SPREAD = 10.0
"""Guess of how far the objective is above the bound from one singular value."""
PATIENCE = 10
"""After so many iterations, twice as many, four times, ... the oracle is asked although the steps are not done."""
WIDENING = 5.0
"""Columns that join, as a share of those there are and of the relative gap; they double at most."""


@dataclass(frozen=True)
class NormFactored(Factored):
    """The factored method with a given first penalty, whose factors are widened when an atom had to join them.

    An atom joins where the steps have found what the present columns allow and the oracle sees more to gain. Random
    columns then join with it: as many as there are when the gap is wide, few when it is nearly closed, and no more
    than the shorter side of the matrix.
    """

    penalty: float = 1.0

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Return the first state, with the penalty given."""
        state = super().start(problem, tracker, dual, accuracy)
        model = state.model.at(state.model.centre, self.penalty)
        return replace(state, model=model, here=model.evaluate(state.factor))

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do a step of the factored method; widen the factors when an atom has joined."""
        moved = super().step(problem, state)
        if moved.counts.oracle_calls == state.counts.oracle_calls and _overdue(problem, state, moved):
            moved = judged(problem, moved)
        if moved.factor.shape[1] == state.factor.shape[1]:
            return moved
        return _widened(problem, replace(moved, inner_tolerance=state.inner_tolerance), self.seed)


def _overdue(problem: Problem, before: FactoredState, after: FactoredState) -> bool:
    """Whether the oracle should be asked far from feasible, or amid the steps: factors too narrow never get further."""
    far = after.certificate.infeasibility > JUDGED_INFEASIBILITY * max(1.0, problem.norm_b)
    done = after.model is not before.model
    rounds, rest = divmod(after.iteration, PATIENCE)
    return (far and done) or (rest == 0 and rounds & (rounds - 1) == 0)


def _widened(problem: Problem, state: FactoredState, seed: int) -> FactoredState:
    """Return the state with random columns, and no memory of the steps without them."""
    factors = state.model.factors
    assert isinstance(factors, NormFactors)
    certificate, columns = state.certificate, state.factor.shape[1]
    share = min(WIDENING * abs(certificate.gap) / problem.scale(certificate.objective), 1.0)
    factor = factors.widened(state.factor, round((1.0 + share) * columns), seed + state.iteration)
    here = state.model.evaluate(factor)
    counts = state.counts.plus(0, 0, here.matvecs)
    memory = Memory(limit=state.memory.limit)
    return reported(problem, replace(state, factor=factor, here=here, memory=memory, counts=counts))


def norm_method(
    problem: Problem, left: SideCurvature, right: SideCurvature, *, rank: int, inner_steps: int
) -> NormFactored:
    """Return the method for min w ||Z||_*^2 subject to A Z - b in K, K = {0} or a ball.

    Its first penalty comes from the bound <b, b>^2 w / ||A^* b||^2 of the objective, attained where one singular
    vector pair explains everything.
    """
    sharp = problem.sharp
    assert isinstance(sharp, NuclearNormSquared)
    rows, columns = sharp.shape
    top = sharp.engine.singular_triples(problem.map.adjoint(problem.b), tolerance=1e-2).value
    energy = problem.norm_b**2
    least = sharp.scale * energy**2 / max(top**2, 1e-300)
    penalty = 2.0 * SPREAD * least / (FEASIBLE_SHARE**2 * energy) if energy > 0.0 else 1.0
    length = START_SHARE * math.sqrt(2.0 * energy / max(top, 1e-300))
    factors = NormFactors(
        rows, columns, 1.0, False, left=left, right=right, weight=sharp.scale, penalty=penalty, length=length
    )
    return NormFactored(rank=rank, inner_steps=inner_steps, factors=factors, penalty=penalty)
