"""The corrective method: keep the atoms, re-optimise over what they span, and let the oracle judge."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unipd import validate
from unipd._typing import Array
from unipd.dual import DualPoint, evaluate
from unipd.methods.base import (
    Counts,
    State,
    empty_certificate,
    measured,
    require_domain,
    target_eps,
)
from unipd.methods.best import error
from unipd.methods.block_bundle import BlockBundle
from unipd.methods.bundle import Bundle
from unipd.methods.master import MASTER_SHARE, Master, solve_master
from unipd.methods.model import asked, first_model, grown
from unipd.methods.proximity import DESCENT_SHARE, adapted
from unipd.methods.smoothness import initial_smoothness, least_smoothness
from unipd.methods.suspicion import is_foreign, require_maximum, require_no_better
from unipd.problem import Problem
from unipd.protocols import Tracker, norm

ORACLE_SHARE = 0.1
"""Share of the accuracy asked for by which an oracle may err."""


@dataclass(frozen=True)
class CorrectiveState(State):
    """State of the corrective method."""

    bundle: Bundle | BlockBundle
    """The atoms kept, of x or of every block of x; its weights give the primal point."""
    centre: Array
    """The dual vector of the last serious step."""
    centre_value: float
    """G at the centre."""
    null_steps: int
    """Null steps since the last serious one."""
    eps: float
    """Absolute accuracy asked for."""


@dataclass(frozen=True)
class Corrective:
    """Fully corrective primal-dual method: a proximal bundle method on G, seen from the primal side.

    Every iteration solves min over x in the hull of the atoms kept and r in K of
    f(x) + <lam_c, A x - r - b> + (1/2M)||A x - r - b||^2, takes lam = lam_c + (A x - r - b)/M, and calls the oracle
    there once. The centre moves (a serious step) when G falls by a tenth of what the model promised; otherwise
    the new atom improves the model (a null step). Smooth losses need no proximal term: that is fully corrective
    Frank-Wolfe. Converges for every problem of the library; finitely in practice over polytopes.

    Parameters
    ----------
    memory
        Atoms kept at most; idle ones are dropped and light ones merged into one, which keeps convergence.
    smoothness
        Initial M of the dual proximal term; default: the universal line search's estimate.
    eps
        Absolute accuracy for inexact oracles; default: the relative accuracy times the problem's scale.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.Corrective(), accuracy=1e-8).status.value
    'solved'
    """

    memory: int = 500
    smoothness: float | None = None
    eps: float | None = None

    def __post_init__(self) -> None:
        validate.integer("memory", self.memory, minimum=2)
        if self.smoothness is not None:
            validate.positive("smoothness", self.smoothness)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "corrective"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> CorrectiveState:
        """Call the oracle at lam_0 and estimate M; the tracker is always the bundle's atoms."""
        require_domain(problem, dual)
        point = evaluate(problem, dual, tolerance=ORACLE_SHARE * accuracy * problem.scale(0.0))
        eps = target_eps(problem, self.eps, accuracy, point.objective)
        counts = Counts().plus(oracle_calls=1, matvecs=point.matvecs)
        smoothness = 0.0
        if not has_smooth_loss(problem):
            smoothness = self.smoothness or 0.0
            if self.smoothness is None:
                estimate = initial_smoothness(problem, point, eps, ORACLE_SHARE * eps)
                smoothness = estimate.smoothness
                counts = counts.plus(oracle_calls=estimate.oracle_calls, matvecs=estimate.matvecs)
        bundle = first_model(problem, point)
        return CorrectiveState(
            iteration=0,
            dual=dual,
            primal=bundle.tracker(),
            image=point.image,
            mean_objective=bundle.objective(),
            certificate=empty_certificate(dual).improved(problem, point),
            counts=counts,
            smoothness=smoothness,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            bundle=bundle,
            centre=dual,
            centre_value=_total(problem, point),
            null_steps=0,
            eps=eps,
        )

    def step(self, problem: Problem, state: CorrectiveState) -> CorrectiveState:
        """Solve the master, call the oracle at its multiplier, and move or learn."""
        bundle, dual = _optimised(problem, state)
        start = state.bundle.vertices[-1].atom if isinstance(state.bundle, Bundle) else None
        point, others = asked(problem, bundle, dual, ORACLE_SHARE * state.eps, start)
        value = _total(problem, point)
        model = bundle.lower_model(problem, dual)
        require_maximum(problem, model, point, ORACLE_SHARE * state.eps, bundle.extent)
        promised = state.centre_value - model - problem.coupling.conjugate(dual)
        fallen = state.centre_value - value
        serious = fallen >= DESCENT_SHARE * promised
        image = bundle.image(problem)
        tracker, cost = bundle.tracker(), bundle.objective()
        certificate = state.certificate.renewed(problem, measured(problem, tracker, image, cost), point)
        counts = state.counts.plus(oracle_calls=1, matvecs=point.matvecs + len(others))
        if is_foreign(problem.sharp) and error(problem, certificate) <= state.eps / problem.scale(cost):
            calls, products = require_no_better(problem, certificate.dual, ORACLE_SHARE * state.eps)
            counts = counts.plus(oracle_calls=calls, matvecs=products)
        null_steps = 0 if serious else state.null_steps + 1
        smoothness = adapted(
            problem,
            bundle,
            state.smoothness,
            promised=promised,
            fallen=fallen,
            null_steps=null_steps,
            eps=state.eps,
            certificate=certificate,
        )
        least = min(state.smoothness, least_smoothness(problem, norm(image - problem.b)))
        return CorrectiveState(
            iteration=state.iteration + 1,
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=cost,
            certificate=certificate,
            counts=counts,
            smoothness=max(smoothness, least),
            dual_step=norm(dual - state.dual),
            gradient_change=math.nan,
            failure=None,
            bundle=grown(problem, bundle, (point, *others), self.memory),
            centre=dual if serious else state.centre,
            centre_value=value if serious else state.centre_value,
            null_steps=null_steps,
            eps=state.eps,
        )


def has_smooth_loss(problem: Problem) -> bool:
    """Whether the coupling is a loss with a Lipschitz gradient."""
    return problem.loss is not None and math.isfinite(problem.loss.curvature())


def _optimised(problem: Problem, state: CorrectiveState) -> tuple[Bundle | BlockBundle, Array]:
    """Solve the master; return the model at its weights and the multiplier."""
    if isinstance(state.bundle, BlockBundle):
        return state.bundle.optimised(problem, state.centre, state.smoothness, state.eps)
    master = Master(problem, state.bundle, state.centre, state.smoothness)
    weights, dual = solve_master(master, state.bundle.weights, MASTER_SHARE * state.eps)
    return state.bundle.at(weights), dual


def _total(problem: Problem, point: DualPoint) -> float:
    """Return G = g + h at a dual point, whatever the form in which a loss entered g."""
    return point.value if problem.split else point.value + problem.coupling.conjugate(point.dual)
