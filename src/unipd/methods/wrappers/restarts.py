"""Restarts of the universal methods, with continuation in eps if requested; the incumbent is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd._util import validate
from unipd.dual import evaluate
from unipd.errors import InvalidInput
from unipd.methods.base import common_fields, fast_replace, keep_incumbent, method_options, target_eps
from unipd.methods.universal.common import SLACK_SHARE, UniversalMethod, UniversalState
from unipd.methods.wrappers.base import Wrapper, WrapperState, best_dual
from unipd.problem import Problem
from unipd.protocols import Tracker

FIRST_STAGE = 20
"""Iterations of the first stage at most; a stage that uses up its iterations doubles the limit of the next ones."""
ERROR_REDUCTION = 4.0
"""A stage ends when the error has fallen by this factor."""
EPS_SHARE = 0.5
"""eps of a stage, relative to the error at its start."""
EPS_GROWTH = 2.0
"""Factor of eps after a stage that used up its iterations."""
SMOOTHNESS_FACTOR = 0.25
"""Factor of M at the start of a stage: the M of the accelerated method does not decrease by itself."""


@dataclass(frozen=True)
class RestartsState(WrapperState):
    """State of a universal method in stages; point and certificate are the incumbent's."""

    inner: UniversalState
    """The universal method's own state, with the averages of the present stage."""
    goal: float
    """The eps of the last stage: the absolute accuracy requested."""
    stage_error: float
    """Error at the start of the stage."""
    stage_begin: int
    """Iteration at which the stage started."""
    stage_limit: int
    """Iterations of the stage at most."""

    @property
    def resolved_options(self) -> dict[str, Any]:
        """The eps of the last stage, and the first M_{-1}."""
        return {**super().resolved_options, "eps": self.goal}


@dataclass(frozen=True)
class Restarts(Wrapper):
    """A universal method in stages: each restarts from the best dual vector, with its own averages and momentum.

    A stage ends when the error (the larger of relative infeasibility and gap) has fallen to a quarter, or after a
    number of iterations that doubles whenever it is used up. With ``continuation`` eps decreases with the error from
    stage to stage, down to the accuracy requested; without it, eps is that accuracy from the start.

    Within a stage the theorems of the method hold, from that stage's first dual vector and with its eps; the bound is
    valid at all times, and the point reported is the best of all stages. Where the dual is strongly convex (a smooth
    loss with a smooth conjugate and a strongly convex f), a stage needs at most a fixed number of iterations,
    O(sqrt(M / mu)) for AccUniPDGrad, so that the error decreases linearly, whether mu is known or not. Elsewhere the
    worst case of the theorems holds up to a constant.

    Parameters
    ----------
    inner
        :class:`~unipd.UniPDGrad` or :class:`~unipd.AccUniPDGrad`; its own eps, if given, is that of the last stage.
    continuation
        Whether eps decreases with the error.

    Raises
    ------
    InvalidInput
        ``inner``: expected UniPDGrad or AccUniPDGrad; ``continuation``: expected True or False.

    See Also
    --------
    UniPDGrad, AccUniPDGrad, Rescaling

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.random.default_rng(0).standard_normal((5, 9))
    >>> problem = unipd.Problem(unipd.sharp.L2NormSquared(9), A, A[:, 0], unipd.couplings.LeastSquares())
    >>> unipd.solve(problem, unipd.Restarts(unipd.AccUniPDGrad()), accuracy=1e-10).status.value
    'solved'
    """

    inner: UniversalMethod
    continuation: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.inner, UniversalMethod):
            raise InvalidInput("inner", "UniPDGrad or AccUniPDGrad", validate.describe_type(self.inner))
        validate.flag("continuation", self.continuation)

    @property
    def label(self) -> str:
        """Name that distinguishes it from the inner method, for comparisons."""
        return f"{self.name}, {'continuation' if self.continuation else 'restart'}"

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record."""
        return {**method_options(self.inner), "stages": "continuation" if self.continuation else "restart"}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> RestartsState:
        """Start the first stage, with eps of the size of the objective."""
        first = self.inner
        if self.continuation:
            first = replace(first, eps=max(problem.typical_objective, first.eps or 0.0))
        inner = first.start(problem, tracker, dual, accuracy)
        goal = target_eps(problem, self.inner.eps, accuracy, inner.certificate.dual_bound)
        return RestartsState(
            **common_fields(inner), inner=inner, goal=goal, stage_error=math.inf, stage_begin=0, stage_limit=FIRST_STAGE
        )

    def step(self, problem: Problem, state: RestartsState) -> RestartsState:
        """Do one iteration of the method; start a new stage when the present one has done its work."""
        present: Any = state.inner_state()
        inner: UniversalState = self.inner.step(problem, present)
        reported = keep_incumbent(problem, inner, state) if state.iteration else inner
        now = fast_replace(state, **{**common_fields(reported), "iteration": state.iteration + 1, "inner": inner})
        error = now.certificate.relative_error(problem)
        if not math.isfinite(now.stage_error):
            return fast_replace(now, stage_error=error)
        is_done = error <= now.stage_error / ERROR_REDUCTION
        is_late = now.iteration - now.stage_begin >= now.stage_limit
        if not (is_done or is_late) or inner.failure is not None:
            return now
        return self._next_stage(problem, now, error, is_late=not is_done)

    def _next_stage(self, problem: Problem, now: RestartsState, error: float, *, is_late: bool) -> RestartsState:
        eps = _next_eps(problem, now, error, is_late=is_late) if self.continuation else now.inner.eps
        inner = _restart(problem, now, eps)
        return replace(
            now,
            inner=inner,
            counts=inner.counts,
            stage_error=error,
            stage_begin=now.iteration,
            stage_limit=(2 if is_late else 1) * now.stage_limit,
        )


def _next_eps(problem: Problem, now: RestartsState, error: float, *, is_late: bool) -> float:
    """Return eps of the next stage: it decreases with the error, and increases again where feasibility lags.

    The gap of a stage is limited by its eps; the infeasibility decreases the faster the larger eps is.
    """
    eps, scale = now.inner.eps, problem.scale(now.certificate.objective)
    is_feasibility_slower = now.certificate.infeasibility > abs(now.certificate.gap(problem))
    if is_late:
        return max(now.goal, (EPS_GROWTH if is_feasibility_slower else 1.0 / EPS_GROWTH) * eps)
    return max(now.goal, min(eps, EPS_SHARE * error * scale))


def _restart(problem: Problem, now: RestartsState, eps: float) -> UniversalState:
    """Return the method's state at the best dual vector: one oracle call, no weights yet, M a little smaller."""
    inner = now.inner
    dual = best_dual(problem, now.certificate, inner.dual)
    point = evaluate(problem, dual, tolerance=SLACK_SHARE * eps, start=inner.warm_start)
    return fast_replace(
        inner.clear_history(dual),
        point=point,
        eps=eps,
        smoothness=SMOOTHNESS_FACTOR * inner.smoothness,
        certificate=now.certificate.update_bound(problem, point),
        counts=inner.counts.plus(oracle_calls=1, matvecs=point.matvecs),
    )
