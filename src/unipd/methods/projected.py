"""Accelerated projected gradient steps over the spectrahedron, with the few eigenvectors that a projection keeps.

Where noise is fitted, the best X has tens of small eigenvalues, and as many eigenvalues of -A^*(lam) are nearly equal
at the optimum. Steps over factors make the objective right long before that cluster, and with it the bound. A
projection moves all of X's eigenvalues at once and is exact where they vanish, so both converge fast.

A step goes to the projection of M = Y - A^*(lam) / L, Y the extrapolated point and lam the gradient of the loss there
(Beck and Teboulle, 2009; momentum restarts by O'Donoghue and Candes, 2015). Only the eigenvectors above the
projection's level count; they are Ritz vectors from a basis Q of the last step's vectors and their residuals, so that
one product with A^*(lam) for every column of Q serves a step, whatever L it ends with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.atoms import LowRank, apply
from unipd.dual import evaluate, oracle_errors
from unipd.errors import InvalidInput
from unipd.methods.base import Counts, empty_certificate, primal_certificate
from unipd.methods.candidates import bare
from unipd.methods.corrective import has_smooth_loss
from unipd.methods.factored_state import JudgedState, target
from unipd.methods.factors import random_block
from unipd.methods.judging import ORACLE_SHARE, START_TOLERANCE, asked
from unipd.methods.ritz import Projection, compressed, joined, minus
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import Tracker, inner, norm
from unipd.pulse import beat
from unipd.sharp import Spectrahedron
from unipd.status import Status

LARGER, SMALLER = 1.2, 0.95
"""The curvature L grows at least by the first factor when it proves too small, and shrinks by the other every step."""
ASKED = 0.7
"""The oracle is asked when the gap that the Ritz values promise is this share of the accuracy asked for."""
FALL, LITTLE_FALL = 0.02, 0.6
"""It is also asked when that gap has fallen to the first share since, and not again before it has to the second."""
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


@dataclass(frozen=True)
class Projected:
    """Accelerated projected gradient method for a smooth loss over {X psd, tr X = a}, X of moderate rank.

    What is guaranteed: with exact projections the objective falls as 1/k^2. Projections are those of Ritz values, whose
    quality the method does not control; the bound does not depend on it, since the oracle is asked for that.

    Parameters
    ----------
    rank
        Rank of X that is expected: eigenvectors to look for in the first steps.
    seed
        Seed of the random vectors that the search for them begins with.

    Examples
    --------
    >>> import unipd
    >>> identity = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(2), identity, [1.0, 0.0, 0.0, 0.4], loss)
    >>> unipd.solve(problem, Projected(), accuracy=1e-8).x.dense().round(6)
    array([[0.8, 0. ],
           [0. , 0.2]])
    """

    rank: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        validate.integer("rank", self.rank, minimum=1)

    @property
    def name(self) -> str:
        """Name in results."""
        return "projected"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ProjectedState:
        """Start from the atom at the dual vector given, by default the gradient of the loss at X = 0."""
        if not has_smooth_loss(problem):
            raise InvalidInput("problem", "a smooth loss for the method projected", repr(problem))
        _trace(problem)
        assert problem.loss is not None
        if not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * problem.scale(0.0))
        factor = point.atom.left * math.sqrt(float(point.atom.weights[0]))
        primal = Fixed(_point(factor))
        certificate = empty_certificate(dual).improved(problem, point)
        first = factor / norm(factor)
        fresh = random_block(factor, min(self.rank, factor.shape[0] - 1), self.seed)
        change = problem.loss.gradient(point.image - problem.b) - problem.loss.gradient(-problem.b)
        return ProjectedState(
            iteration=0,
            dual=dual,
            primal=primal,
            image=point.image,
            mean_objective=0.0,
            certificate=primal_certificate(problem, primal, point.image, 0.0, certificate),
            counts=Counts().plus(1, 0, point.matvecs),
            smoothness=inner(change, point.image) / norm(factor) ** 4,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            factor=factor,
            before=factor,
            image_before=point.image,
            basis=np.concatenate([first, joined(first, fresh)], axis=1),
            momentum=1.0,
            accuracy=accuracy,
            recent_atom=point.atom,
        )

    def step(self, problem: Problem, state: ProjectedState) -> ProjectedState:
        """Do one projected step; ask the oracle when the Ritz values promise a gap that is worth it."""
        moved, promise = stepped(problem, state)
        eps = target(problem, moved)
        ended = moved.failure is not None
        worth = promise <= FALL * state.promised or (promise <= ASKED * eps and promise <= LITTLE_FALL * state.promised)
        if not (worth or ended):
            return moved
        tolerance = max(ORACLE_SHARE * eps, ORACLE_SHARE * promise)
        answered, _ = asked(problem, moved, moved.dual, tolerance)
        return replace(answered, promised=promise)


def stepped(problem: Problem, state: ProjectedState) -> tuple[ProjectedState, float]:
    """Return the state after a projected step, and the gap that the top Ritz value promises."""
    assert problem.loss is not None
    following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * state.momentum**2))
    push = (state.momentum - 1.0) / following
    image = state.image + push * (state.image - state.image_before)
    dual = problem.loss.gradient(image - problem.b)
    here = ((1.0, state.factor),)
    origin = ((1.0 + push, state.factor), (-push, state.before)) if push else here
    with oracle_errors:
        slope = problem.map.adjoint(-dual)
        model = Projection(state.basis, apply(slope, state.basis), origin, _trace(problem))
        model = model.refined(state.smoothness, lambda block: apply(slope, block))
    found = _accepted(problem, state.smoothness, model, image, dual)
    there = ((1.0, found.factor),)
    back, way = compressed(minus(origin, there), minus(there, here))
    against = inner(back, way) > 0.0
    bound = -model.trace * model.top - inner(dual, problem.b) - problem.coupling.conjugate(dual)
    primal = Fixed(_point(found.factor))
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
    return moved, moved.certificate.objective - bound


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
            reached = np.asarray(problem.map.image(_point(factor))).astype(problem.dtype, copy=False)
        trials, matvecs = trials + 1, matvecs + factor.shape[1]
        beat("projected steps", model.basis.shape[1] + factor.shape[1])
        bend = inner(problem.loss.gradient(reached - problem.b) - dual, reached - image)
        length = norm(compressed(minus(((1.0, factor),), model.terms))[0]) ** 2
        if bend <= curvature * length or length <= floor:
            return _Accepted(factor, reached, basis, curvature, trials, matvecs, length <= floor)
        curvature = max(LARGER * curvature, min(bend / length, 2.0 * curvature))


def _trace(problem: Problem) -> float:
    """Return the trace of X."""
    oracle = bare(problem.sharp)
    if type(oracle) is not Spectrahedron:
        raise InvalidInput("problem", "a spectrahedron for the method projected", type(oracle).__name__)
    return oracle.trace


def _point(factor: Array) -> LowRank:
    return LowRank(factor, factor, np.ones(factor.shape[1]))
