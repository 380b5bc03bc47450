"""The factored method for squared nuclear norms: no set bounds the rank, so the factors widen with every atom."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unipd._typing import Array
from unipd.methods.factored.augmented_lagrangian import FactoredState, refresh_certificate
from unipd.methods.factored.factored import CERTIFIABLE_INFEASIBILITY, Factored, certify_or_escape
from unipd.methods.factored.lbfgs import Memory
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp.spectral.factors import NuclearNormFactors

PATIENCE = 10
"""The oracle is called after this many iterations, and 2, 4, ... times as many, even without convergence."""
WIDENING = 5.0
"""New columns as a share of the present ones times the relative gap; at most doubling them."""


@dataclass(frozen=True)
class NormFactored(Factored):
    """The factored method with a given first penalty and factors that widen with every atom of the oracle.

    An atom is added once the steps have converged for the present columns and the oracle finds a descent direction.
    Random columns are added too: as many as present while the gap is wide, few when it is nearly closed, and no more
    than the shorter side of the matrix.
    """

    penalty: float = 1.0

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Return the first state, with the given penalty."""
        state = super().start(problem, tracker, dual, accuracy)
        model = replace(state.model, penalty=self.penalty)
        return replace(state, model=model, here=model.evaluate(state.factor))

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do a step of the factored method; widen the factors if it added an atom."""
        moved = super().step(problem, state)
        if moved.counts.oracle_calls == state.counts.oracle_calls and _is_oracle_overdue(state, moved):
            moved = certify_or_escape(problem, moved)
        if moved.factor.shape[1] == state.factor.shape[1]:
            return moved
        return _widen_state(problem, replace(moved, inner_tolerance=state.inner_tolerance), self.seed)


def _is_oracle_overdue(before: FactoredState, after: FactoredState) -> bool:
    """Whether to call the oracle before feasibility or convergence: with too few columns the steps never get there."""
    far = after.certificate.infeasibility > CERTIFIABLE_INFEASIBILITY
    done = after.model is not before.model
    rounds, rest = divmod(after.iteration, PATIENCE)
    return (far and done) or (rest == 0 and rounds & (rounds - 1) == 0)


def _widen_state(problem: Problem, state: FactoredState, seed: int) -> FactoredState:
    """Return the state with random columns and an empty quasi-Newton memory."""
    factors = state.model.factors
    assert isinstance(factors, NuclearNormFactors)
    certificate, columns = state.certificate, state.factor.shape[1]
    share = min(WIDENING * abs(certificate.gap(problem)), 1.0)
    factor = factors.widen_factor(state.factor, round((1.0 + share) * columns), seed + state.iteration)
    here = state.model.evaluate(factor)
    counts = state.counts.plus(0, 0, here.matvecs)
    memory = Memory(limit=state.memory.limit)
    return refresh_certificate(problem, replace(state, factor=factor, here=here, memory=memory, counts=counts))
