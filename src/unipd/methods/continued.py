"""Continuation in eps and restarts of the universal methods, with the best point kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unipd import validate
from unipd._typing import Array
from unipd.dual import evaluate
from unipd.errors import InvalidInput
from unipd.methods.accunipdgrad import AccUniPDGrad, AccUniPDGradState
from unipd.methods.base import State, target_eps
from unipd.methods.best import error, with_better_point
from unipd.methods.unipdgrad import UniPDGrad
from unipd.methods.universal import ORACLE_SHARE, UniversalState
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.records import changed

FIRST_STAGE = 20
"""Iterations of the first stage at most; a stage that runs out of them doubles the number for those after it."""
FALL = 4.0
"""A stage has done its work when the error has fallen by this factor."""
SHARE = 0.5
"""eps of a stage, relative to the error at its beginning."""
LARGER = 2.0
"""Factor of eps after a stage that used up its iterations."""
EASIER = 0.25
"""Factor of M at the beginning of a stage: the accelerated method's M does not fall by itself."""


@dataclass(frozen=True)
class ContinuedState(State):
    """State of a universal method in stages; point and certificate are the best so far."""

    inner: Any
    """The universal method's own state, with the averages of the present stage."""
    goal: float
    """The eps of the last stage: the accuracy asked for, absolute."""
    stage_error: float
    """Error at the beginning of the stage."""
    stage_begin: int
    """Iteration at which it began."""
    stage_limit: int
    """Iterations it may take."""


@dataclass(frozen=True)
class Continued:
    """A universal method in stages: each begins anew from the best dual vector, with averages and momentum of its own.

    A stage ends when the error (the larger of relative infeasibility and gap) is a quarter of what it was, or after a
    number of iterations that doubles whenever it is used up. With ``continuation`` eps falls from stage to stage
    with the error, down to the accuracy asked for; without, it is that from the beginning (a mere restart).

    What is guaranteed: within a stage the theorems of the method, from that stage's first dual vector and with
    its eps; the bound is valid at all times, and the point reported is the best of all stages. Where the dual is
    strongly convex (a smooth loss with a smooth conjugate and a strongly convex f), a stage needs at most a
    fixed number of iterations, O(sqrt(M / mu)) for AccUniPDGrad, so that the error falls linearly, whether mu is
    known or not. Elsewhere the worst case of the theorems stands up to a constant.

    Parameters
    ----------
    method
        :class:`~unipd.UniPDGrad` or :class:`~unipd.AccUniPDGrad`; an eps of its own is the last stage's.
    continuation
        Whether eps falls with the error.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.random.default_rng(0).standard_normal((5, 9))
    >>> problem = unipd.Problem(unipd.sharp.L2NormSquared(9), A, A[:, 0], unipd.couplings.LeastSquares())
    >>> unipd.solve(problem, unipd.Continued(unipd.AccUniPDGrad()), accuracy=1e-10).status.value
    'solved'
    """

    method: UniPDGrad | AccUniPDGrad
    continuation: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.method, (UniPDGrad, AccUniPDGrad)):
            raise InvalidInput("method", "UniPDGrad or AccUniPDGrad", validate.described(self.method))
        validate.flag("continuation", self.continuation)

    @property
    def name(self) -> str:
        """Name of the method inside."""
        return self.method.name

    @property
    def label(self) -> str:
        """Name that tells it apart from the method inside, for comparisons."""
        return f"{self.method.name}, {'continuation' if self.continuation else 'restart'}"

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record."""
        return {**vars(self.method), "stages": "continuation" if self.continuation else "restart"}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ContinuedState:
        """Start the first stage, with eps of the size of the problem's scale."""
        first = self.method
        if self.continuation:
            first = replace(first, eps=max(problem.scale(0.0), first.eps or 0.0))
        inner = first.start(problem, tracker, dual, accuracy)
        goal = target_eps(problem, self.method.eps, accuracy, inner.certificate.dual_bound)
        return _wrapped(inner, inner, goal, math.inf, 0, FIRST_STAGE)

    def step(self, problem: Problem, state: ContinuedState) -> ContinuedState:
        """Do one iteration of the method; begin a new stage when the present one has done its work."""
        before = changed(state.inner, counts=state.counts)  # the loop adds the work of its own checks
        inner: UniversalState = self.method.step(problem, before)
        shown: State = with_better_point(problem, inner, state) if state.iteration else inner
        now = changed(_wrapped(inner, shown, state.goal, *_stage(state)), iteration=state.iteration + 1)
        reached = error(problem, now.certificate)
        if not math.isfinite(now.stage_error):
            return changed(now, stage_error=reached)
        done, late = reached <= now.stage_error / FALL, now.iteration - now.stage_begin >= now.stage_limit
        if not (done or late) or inner.failure is not None:
            return now
        return self._next_stage(problem, now, reached, 1 if done else 2)

    def _next_stage(self, problem: Problem, now: ContinuedState, reached: float, longer: int) -> ContinuedState:
        eps = now.inner.eps
        if self.continuation:
            eps = _next_eps(problem, now, reached, late=longer > 1)
        inner = _anew(problem, now, eps)
        return replace(
            now,
            inner=inner,
            counts=inner.counts,
            stage_error=reached,
            stage_begin=now.iteration,
            stage_limit=longer * now.stage_limit,
        )


def _stage(state: ContinuedState) -> tuple[float, int, int]:
    return state.stage_error, state.stage_begin, state.stage_limit


def _wrapped(inner: State, shown: State, goal: float, stage_error: float, begin: int, limit: int) -> ContinuedState:
    """Return the state that the loop sees: the method's own, with the point and certificate to be shown."""
    common = {name: getattr(inner, name) for name in State.__dataclass_fields__}
    common |= {name: getattr(shown, name) for name in ("primal", "image", "mean_objective", "certificate")}
    return ContinuedState(
        **common, inner=inner, goal=goal, stage_error=stage_error, stage_begin=begin, stage_limit=limit
    )


def _next_eps(problem: Problem, now: ContinuedState, reached: float, *, late: bool) -> float:
    """Return eps of the next stage: it falls with the error, and rises again where feasibility is what lags.

    The gap of a stage is limited by its eps, the infeasibility falls the faster the larger eps is.
    """
    eps, scale = now.inner.eps, problem.scale(now.certificate.objective)
    lags = now.certificate.infeasibility / max(1.0, problem.norm_b) > abs(now.certificate.gap) / scale
    if late:
        return max(now.goal, (LARGER if lags else 1.0 / LARGER) * eps)
    return max(now.goal, min(eps, SHARE * reached * scale))


def _anew(problem: Problem, now: ContinuedState, eps: float) -> UniversalState:
    """Return the method's state at the best dual vector: one oracle call, no weights yet, M a little smaller."""
    inner: UniversalState = now.inner
    dual = now.certificate.dual
    if not (problem.split or math.isfinite(problem.coupling.conjugate(dual))):
        dual = inner.dual
    start = inner.recent_atom if isinstance(inner, AccUniPDGradState) else None
    point = evaluate(problem, dual, tolerance=ORACLE_SHARE * eps, start=start)
    fresh = changed(
        inner,
        iteration=0,
        dual=dual,
        point=point,
        eps=eps,
        weight_sum=0.0,
        smoothness=EASIER * inner.smoothness,
        certificate=now.certificate.improved(problem, point),
        counts=inner.counts.plus(oracle_calls=1, matvecs=point.matvecs),
    )
    if isinstance(fresh, AccUniPDGradState):
        return changed(fresh, previous=dual, pull=0.0, momentum=1.0, last_base=None)
    return changed(fresh, folded_dual=0 * dual, last_weight=0.0, average_dual_value=0.0)
