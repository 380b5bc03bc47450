"""Two methods that take turns: when one gets stuck, the other goes on from the best dual vector."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd.methods.base import Method, State
from unipd.methods.best import error, with_better_point
from unipd.problem import Problem
from unipd.protocols import Tracker

PATIENCE = 300
"""Iterations without progress after which the other method has its turn; doubled at every turn."""
PROGRESS = 0.7
"""Progress is an error below this share of what it was."""


@dataclass(frozen=True)
class FallbackState(State):
    """State of two methods taking turns; point and certificate are the best so far."""

    inner: State
    """The state of the method whose turn it is."""
    other: State | None
    """Where the other method stands; None while it has not begun."""
    turn: int
    """0 for the first method, 1 for the second."""
    empty: Tracker
    """The tracker that the second method will begin with."""
    accuracy: float
    """Relative accuracy asked for."""
    mark: float
    """The error when there was progress last."""
    since: int
    """The iteration of that."""
    patience: int
    """Iterations without progress that end the turn."""


@dataclass(frozen=True)
class Fallback:
    """Run a method; when it gets stuck or cannot go on, run another one from the best dual vector, and so in turns.

    A turn ends when the error (the larger of relative infeasibility and gap) has not fallen by 30% for 300
    iterations, or when the method ends unable to go on. The next one starts at the best dual vector, or goes on where
    it stood; turns become longer by a factor of two, so that little is lost however they fall. Without such an
    end the run is the first method's, number by number.

    What is guaranteed: the theorems of each method within its turns; the bound is valid at all times, and the
    point reported is the better one of both.

    Parameters
    ----------
    first, second
        The methods.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, Fallback(unipd.Corrective(), unipd.AccUniPDGrad()), accuracy=1e-8).status.value
    'solved'
    """

    first: Method
    second: Method

    @property
    def name(self) -> str:
        """Name of the first method."""
        return self.first.name

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record: those of the first method, and the name of the second."""
        return {**(getattr(self.first, "options", None) or vars(self.first)), "fallback": self.second.name}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FallbackState:
        """Start the first method."""
        inner = self.first.start(problem, tracker, dual, accuracy)
        common = {name: getattr(inner, name) for name in State.__dataclass_fields__}
        return FallbackState(
            **common,
            inner=inner,
            other=None,
            turn=0,
            empty=tracker,
            accuracy=accuracy,
            mark=math.inf,
            since=0,
            patience=PATIENCE,
        )

    def step(self, problem: Problem, state: FallbackState) -> FallbackState:
        """Do one step of the method whose turn it is; end its turn when it is stuck."""
        method = self.second if state.turn else self.first
        inner = method.step(problem, replace(state.inner, counts=state.counts))
        shown = inner if _alone(state) else with_better_point(problem, inner, state)
        common = {name: getattr(shown, name) for name in State.__dataclass_fields__}
        now = replace(state, **{**common, "iteration": state.iteration + 1}, inner=inner)
        reached = error(problem, now.certificate)
        if reached <= PROGRESS * now.mark:
            now = replace(now, mark=reached, since=now.iteration)
        stuck = now.iteration - now.since >= now.patience
        if (stuck or inner.failure is not None) and _can_go_on(now.other):
            return self._turned(problem, now)
        return now

    def _turned(self, problem: Problem, now: FallbackState) -> FallbackState:
        """Return the state with the other method's turn."""
        begun = now.other
        if begun is None:
            method = self.first if now.turn else self.second
            begun = method.start(problem, now.empty, _best_dual(problem, now), now.accuracy)
            spent = begun.counts
            counts = now.counts.plus(spent.oracle_calls, spent.trials, spent.matvecs)
        else:
            counts = now.counts
        return replace(
            now,
            inner=begun,
            other=now.inner,
            turn=1 - now.turn,
            counts=counts,
            failure=None,
            since=now.iteration,
            patience=2 * now.patience if now.turn else now.patience,
        )


def _alone(state: FallbackState) -> bool:
    """Whether there has been one method only."""
    return state.other is None


def _can_go_on(other: State | None) -> bool:
    return other is None or other.failure is None


def _best_dual(problem: Problem, now: FallbackState) -> Array:
    """Return the dual vector of the best bound, or the method's own where h is infinite there."""
    best = now.certificate.dual
    return best if problem.split or math.isfinite(problem.coupling.conjugate(best)) else now.inner.dual
