"""One accelerated projected step over the spectrahedron: extrapolation, Ritz projection, backtracking, restart."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import Array
from unipd.atoms import LowRank, apply
from unipd.dual import oracle_errors
from unipd.errors import InvalidInput
from unipd.methods.base import primal_certificate
from unipd.methods.factored_state import JudgedState
from unipd.methods.ritz import Projection, compressed, minus
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import inner, norm
from unipd.pulse import beat
from unipd.sharp import Spectrahedron
from unipd.sharp.counted import bare
from unipd.status import Status

LARGER, SMALLER = 1.2, 0.95
"""The curvature L grows at least by the first factor when it proves too small, and shrinks by the other every step."""
MOMENTUM, SLOWLY = 3.0, 20.0
"""t of the extrapolation is at most the first, and one more every so many steps: a 1/k^2 method all the same. Near the
optimum, where the eigenvectors kept change no more, the loss is strongly convex, and a larger t only swings."""
ROUNDING = 64.0
"""Units of rounding of X below which a step is none."""


@dataclass(frozen=True)
class ProjectedState(JudgedState):
    """State of the method of projected steps."""

    factor: Array
    """R with X = R R^*."""
    before: Array
    """The factor of the iteration before."""
    image_before: Array
    """A X of the iteration before."""
    basis: Array
    """The last Ritz vectors: orthonormal columns whose span holds the next eigenvectors nearly."""
    momentum: float
    """t of the extrapolation: Y = X + ((t - 1) / t_next) (X - X_before)."""
    promised: float = 1.0
    """The gap that Ritz values promised when the oracle was asked last."""


def stepped(problem: Problem, state: ProjectedState) -> tuple[ProjectedState, float, float]:
    """Return the state after a projected step, the gap that the top Ritz value promises, and that value."""
    assert problem.loss is not None
    following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * state.momentum**2))
    following = min(following, MOMENTUM + state.iteration / SLOWLY)
    push = (state.momentum - 1.0) / following
    image = state.image + push * (state.image - state.image_before)
    dual = problem.loss.gradient(image - problem.b)
    here = ((1.0, state.factor),)
    origin = ((1.0 + push, state.factor), (-push, state.before)) if push else here
    with oracle_errors:
        slope = problem.map.adjoint(-dual)
        model = Projection(state.basis, apply(slope, state.basis), origin, trace_of(problem))
        model = model.refined(state.smoothness, lambda block: apply(slope, block))
    found = _accepted(problem, state.smoothness, model, image, dual)
    there = ((1.0, found.factor),)
    back, way = compressed(minus(origin, there), minus(there, here))
    against = inner(back, way) > 0.0
    bound = -model.trace * model.top - inner(dual, problem.b) - problem.coupling.conjugate(dual)
    primal = Fixed(point_of(found.factor))
    moved = replace(
        state,
        iteration=state.iteration + 1,
        dual=dual,
        primal=primal,
        image=found.image,
        certificate=primal_certificate(problem, primal, found.image, 0.0, state.certificate),
        counts=state.counts.plus(0, found.trials, model.basis.shape[1] + found.matvecs),
        smoothness=SMALLER * found.curvature,
        dual_step=norm(dual - state.dual),
        failure=Status.STALLED if found.idle else None,
        factor=found.factor,
        before=state.factor,
        image_before=state.image,
        basis=found.basis,
        momentum=1.0 if against else following,
    )
    return moved, moved.certificate.objective - bound, model.top


@dataclass(frozen=True)
class _Accepted:
    """A projection with an L that the loss along the step agrees with."""

    factor: Array
    image: Array
    basis: Array
    curvature: float
    trials: int
    matvecs: int
    idle: bool
    """Whether the step is lost in rounding."""


def _accepted(problem: Problem, curvature: float, model: Projection, image: Array, dual: Array) -> _Accepted:
    """Return the projection with the first L at least as large as the curvature of the loss along the step."""
    assert problem.loss is not None
    floor = (ROUNDING * float(np.finfo(model.basis.dtype).eps) * model.trace) ** 2
    trials = matvecs = 0
    while True:
        factor, basis = model.projected(curvature)
        with oracle_errors:
            reached = np.asarray(problem.map.image(point_of(factor))).astype(problem.dtype, copy=False)
        trials, matvecs = trials + 1, matvecs + factor.shape[1]
        beat("projected steps", model.basis.shape[1] + factor.shape[1])
        bend = inner(problem.loss.gradient(reached - problem.b) - dual, reached - image)
        length = norm(compressed(minus(((1.0, factor),), model.terms))[0]) ** 2
        if bend <= curvature * length or length <= floor:
            return _Accepted(factor, reached, basis, curvature, trials, matvecs, length <= floor)
        curvature = max(LARGER * curvature, min(bend / length, 2.0 * curvature))


def trace_of(problem: Problem) -> float:
    """Return the trace of X."""
    oracle = bare(problem.sharp)
    if type(oracle) is not Spectrahedron:
        raise InvalidInput("problem", "a spectrahedron for the method projected", type(oracle).__name__)
    return oracle.trace


def point_of(factor: Array) -> LowRank:
    """Return R R^*."""
    return LowRank(factor, factor, np.ones(factor.shape[1]))
