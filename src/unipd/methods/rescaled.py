"""Any method on the equilibrated problem, reported in the original units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd.methods.base import Certificate, Method, State
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.scaling import Scaling, equilibrated

LEAST_SHARE = 1e-3
"""Share of the accuracy asked for below which the method inside is not asked for more."""


@dataclass(frozen=True)
class RescaledState(State):
    """State of a rescaled method: everything that the loop sees is in the original units."""

    inner: State
    """The state of the method inside, in the scaled units."""
    scaling: Scaling | None
    """The equilibrated problem; None when there is nothing to equilibrate."""


@dataclass(frozen=True)
class Rescaled:
    """Run a method on the problem with its rows brought to about unit norm, and undo that in all that is reported.

    Dual vectors, images, feasibility, objective, bound and status are those of the original problem. While the run
    lasts, the infeasibility reported is the larger of the one in original units and the one in scaled units (each
    relative to its own max(1, ||b||)), so that rows in small units are not declared satisfied for being small.
    Guarantees of the method inside hold in the scaled units.

    Parameters
    ----------
    method
        The method to run.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.array([[1e6, 2e6, 0.0], [0.0, 1e-6, 3e-6]])
    >>> oracle = unipd.sharp.Linear([1.0, 2.0, 3.0], unipd.sharp.Simplex(3))
    >>> problem = unipd.Problem(oracle, A, A @ [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.Rescaled(unipd.Corrective()), accuracy=1e-8).status.value
    'solved'
    """

    method: Method

    @property
    def name(self) -> str:
        """Name of the method inside."""
        return self.method.name

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record: those of the method inside, and that rows were scaled."""
        return {**vars(self.method), "scaling": "rows"}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> RescaledState:
        """Equilibrate, and start the method inside from the dual vector in the new units."""
        scaling = equilibrated(problem)
        if scaling is None:
            return reported(problem, None, self.method.start(problem, tracker, dual, accuracy))
        shares = max(1.0, problem.norm_b) / max(1.0, scaling.problem.norm_b)
        share = min(1.0, max(LEAST_SHARE, shares * float(scaling.factors.min())))
        inner = self.method.start(scaling.problem, tracker, scaling.dual_there(dual), share * accuracy)
        return reported(problem, scaling, inner)

    def step(self, problem: Problem, state: RescaledState) -> RescaledState:
        """Do one step of the method inside."""
        target = problem if state.scaling is None else state.scaling.problem
        inner = replace(state.inner, counts=state.counts)  # the loop adds the work of its own checks
        return reported(problem, state.scaling, self.method.step(target, inner))


def reported(problem: Problem, scaling: Scaling | None, inner: State) -> RescaledState:
    """Return the state in the original units."""
    image, dual, certificate, cost = inner.image, inner.dual, inner.certificate, inner.mean_objective
    if scaling is not None:
        cost *= scaling.cost
        image, dual = scaling.image_back(image), scaling.dual_back(dual)
        certificate = _certificate(problem, scaling, image, certificate)
    return RescaledState(
        iteration=inner.iteration,
        dual=dual,
        primal=inner.primal,
        image=image,
        mean_objective=cost,
        certificate=certificate,
        counts=inner.counts,
        smoothness=inner.smoothness,
        dual_step=inner.dual_step,
        gradient_change=inner.gradient_change,
        failure=inner.failure,
        inner=inner,
        scaling=scaling,
    )


def _certificate(problem: Problem, scaling: Scaling, image: Array, certificate: Certificate) -> Certificate:
    infeasibility = certificate.infeasibility
    if math.isfinite(infeasibility):
        share = infeasibility / max(1.0, scaling.problem.norm_b)
        distance = problem.coupling.distance(image - problem.b)
        infeasibility = max(distance, share * max(1.0, problem.norm_b))
    return replace(
        certificate,
        objective=scaling.cost * certificate.objective,
        infeasibility=infeasibility,
        dual_bound=scaling.cost * certificate.dual_bound,
        ray=scaling.dual_back(certificate.dual),
        stretch=1.0,
    )
