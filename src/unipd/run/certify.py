"""The last check before a claim: a bound that rests on residuals alone is certified anew."""

from __future__ import annotations

import math
from dataclasses import replace

from unipd.dual import evaluate
from unipd.methods import Certificate, State
from unipd.methods.streamed_rooms import empty_rooms
from unipd.problem import Problem
from unipd.records import changed
from unipd.run.infeasible import (
    PROJECTIONS,
    is_separating,
    nearest_ray,
    worth_a_look,
    worth_a_projection,
    worth_asking,
)
from unipd.run.moment import Moment
from unipd.spectral import RESIDUAL, Certification

NOTHING = (0, 0)
"""No oracle calls, no products."""
CERTIFICATE_PRODUCTS = 6000
"""Products of a run beside which those of a probabilistic certificate are few."""
TOLERANCE_SHARE = 0.1
"""The certifying oracle call may err by this share of the accuracy asked for."""


class FinalCheck:
    """Decides whether a claimed accuracy stands; asks again only after the gap has halved.

    During a run an iterative oracle certifies its error by a residual, which costs nothing and proves nothing. Before
    a run may end as solved, the oracle is asked at the best dual vector for its strongest affordable certificate
    (dense or probabilistic), and the gap is measured from the bound that this gives.
    """

    def __init__(self, accuracy: float) -> None:
        self.accuracy = accuracy
        self._next_gap = math.inf
        self._next_bound = -math.inf
        self.spent = NOTHING
        """Oracle calls and products that are not counted yet."""

    def __call__(self, moment: Moment) -> Certificate | None:
        """Return the certificate that stands, or None when the run has to go on."""
        problem, certificate = moment.problem, moment.state.certificate
        if certificate.kind != RESIDUAL:
            return certificate
        if abs(certificate.gap) > self._next_gap:
            return None
        sure = self.certified(problem, certificate)
        if abs(sure.gap) <= self.accuracy * problem.scale(sure.objective):
            return sure
        self._next_gap = 0.5 * abs(certificate.gap)
        return None

    def of_infeasibility(self, moment: Moment) -> Certificate | None:
        """Return a certificate that proves the problem infeasible, or None; asks again after the bound has doubled."""
        problem, certificate = moment.problem, moment.state.certificate
        if worth_a_look(moment) and certificate.kind != RESIDUAL:
            self.spent = (self.spent[0], self.spent[1] + 2)
            if is_separating(problem, certificate.ray):
                return certificate
            if worth_a_projection(moment.state):
                ray = nearest_ray(problem, certificate.ray)
                self.spent = (self.spent[0], self.spent[1] + 2 * PROJECTIONS)
                if is_separating(problem, ray):
                    return replace(certificate, ray=ray, stretch=1.0, dual_bound=math.inf)
        if worth_asking(problem, moment.state):
            certificate = self.certified(problem, replace(certificate, ray=moment.state.dual, stretch=1.0))
        if not certificate.proves_infeasible(problem):
            return None
        if certificate.kind != RESIDUAL:
            return certificate
        if certificate.dual_bound <= self._next_bound:
            return None
        sure = self.certified(problem, certificate)
        if sure.proves_infeasible(problem):
            return sure
        self._next_bound = 2.0 * abs(certificate.dual_bound)
        return None

    def at_the_end(self, problem: Problem, state: State) -> State:
        """Return a state that is to be reported though the accuracy was not reached, with a bound that stands.

        A bound that rests on residuals is certified anew where that takes little beside the run itself.
        """
        certificate = state.certificate
        if certificate.kind != RESIDUAL or not math.isfinite(certificate.dual_bound):
            return state
        if state.counts.matvecs < CERTIFICATE_PRODUCTS and not _is_small(problem):
            return state
        sure = self.certified(problem, certificate, TOLERANCE_SHARE * abs(certificate.gap))
        return self.counted(state if sure.kind == RESIDUAL else changed(state, certificate=sure))

    def certified(self, problem: Problem, certificate: Certificate, tolerance: float = 0.0) -> Certificate:
        """Return the certificate with the bound at its dual vector from the oracle's strongest certificate."""
        empty_rooms()
        absolute = max(tolerance, TOLERANCE_SHARE * self.accuracy * problem.scale(certificate.objective))
        point = evaluate(problem, certificate.dual, tolerance=absolute, certified=True)
        self.spent = (self.spent[0] + 1, self.spent[1] + point.matvecs)
        return replace(certificate, dual_bound=-math.inf).improved(problem, point)

    def counted(self, state: State) -> State:
        """Return the state with the work that nobody has counted yet."""
        spent, self.spent = self.spent, NOTHING
        return added(state, spent)

    def memory(self) -> dict[str, float]:
        """Return when the oracle is asked next."""
        return {"next_gap": self._next_gap, "next_bound": self._next_bound}

    def recall(self, memory: dict[str, float]) -> None:
        """Ask the oracle next when :meth:`memory` said."""
        self._next_gap, self._next_bound = memory["next_gap"], memory["next_bound"]


def _is_small(problem: Problem) -> bool:
    """Whether matrices are so small that the oracle's rigorous certificate takes a moment only."""
    shape, limit = problem.sharp.shape, getattr(problem.sharp, "certification", Certification()).dense_limit
    return all(isinstance(size, int) for size in shape) and min(shape) <= limit


def added(state: State, spent: tuple[int, int]) -> State:
    """Return the state with these oracle calls and products counted."""
    return state if spent == NOTHING else replace(state, counts=state.counts.plus(spent[0], 0, spent[1]))
