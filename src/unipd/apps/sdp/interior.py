"""The interior-point method for small programs: where multipliers are hardly bounded, first-order methods crawl.

It works on the template that the other methods work on, and its dual vectors are judged by the same oracle, so that a
bound means the same whichever method found it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.central_path import Iterate, advanced, first_iterate
from unipd.apps.sdp.standard import Standard, standard_form
from unipd.dual import evaluate
from unipd.methods.base import Counts, State, empty_certificate, primal_certificate
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.status import Status


@dataclass(frozen=True)
class InteriorState(State):
    """State of the interior-point method."""

    standard: Standard
    here: Iterate


class Interior:
    """Primal-dual interior-point method for the template of a small semidefinite program.

    >>> from unipd.apps.sdp import SDP
    >>> SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0]).solve(method=Interior()).status.value
    'solved'
    """

    @property
    def name(self) -> str:
        """Name in results."""
        return "interior"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> InteriorState:
        """Start from multiples of the identity; neither tracker nor dual start are used."""
        standard = standard_form(problem)
        here = first_iterate(standard.program)
        lam = standard.dual(problem, here.y)
        point = standard.point(problem, here.x)
        blank = InteriorState(
            iteration=0,
            dual=lam,
            primal=Fixed(point),
            image=np.zeros(problem.b.size),
            mean_objective=math.nan,
            certificate=empty_certificate(lam),
            counts=Counts(),
            smoothness=math.nan,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            standard=standard,
            here=here,
        )
        return _measured(problem, blank)

    def step(self, problem: Problem, state: InteriorState) -> InteriorState:
        """Go one step along the central path and let the oracle judge it."""
        here = advanced(state.standard.program, state.here)
        if here is None:
            return replace(state, iteration=state.iteration + 1, failure=Status.STALLED)
        return _measured(problem, replace(state, iteration=state.iteration + 1, here=here))


def _measured(problem: Problem, state: InteriorState) -> InteriorState:
    """Return the state with point, image, bound and certificate of its iterate."""
    lam = state.standard.dual(problem, state.here.y)
    answer = evaluate(problem, lam, certified=True)
    point = state.standard.point(problem, state.here.x)
    cost, image = problem.sharp.joint.cost_and_image(point)  # type: ignore[attr-defined]
    primal = Fixed(point)
    bound = state.certificate.improved(problem, answer)
    return replace(
        state,
        dual=lam,
        primal=primal,
        image=image,
        mean_objective=cost,
        certificate=primal_certificate(problem, primal, image, cost, bound),
        counts=state.counts.plus(1, 0, answer.matvecs),
        dual_step=norm(lam - state.dual),
    )
