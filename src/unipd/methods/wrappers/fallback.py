"""Two alternating methods: when one stalls, the other continues from the best dual vector."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd.methods.base import (
    Method,
    State,
    WarmPoint,
    common_fields,
    fast_replace,
    keep_incumbent,
    method_options,
    rebuild_shared,
    start_from,
)
from unipd.methods.wrappers.base import Wrapper, WrapperState, best_dual, prefix_names
from unipd.problem import Problem
from unipd.protocols import Tracker

PATIENCE = 300
"""Iterations without progress after which a method counts as stalled (slow phases are shorter)."""
PROGRESS = 0.7
"""Progress means an error below this share of the error at the last progress."""


@dataclass(frozen=True)
class FallbackState(WrapperState):
    """State of two alternating methods; point and certificate are the incumbent's."""

    alternative: State | None
    """The state of the alternative method; None before its first turn."""
    turn: int
    """0 while ``inner`` is at work, 1 while ``alternative`` is."""
    tracker: Tracker
    """The empty tracker with which the alternative starts."""
    accuracy: float
    """Relative accuracy requested."""
    progress_error: float
    """Error at the last progress."""
    progress_iteration: int
    """Iteration of the last progress."""
    patience: int
    """Iterations without progress that end the turn."""

    @property
    def active_state(self) -> State:
        """State of the method whose turn it is."""
        return self.alternative if self.turn and self.alternative is not None else self.inner

    @property
    def idle_state(self) -> State | None:
        """State of the other method; None before its first turn."""
        return self.inner if self.turn else self.alternative

    def inner_state(self) -> State:
        """Return the state from which the method whose turn it is continues, with all work counted."""
        return fast_replace(self.active_state, counts=self.counts)

    def clear_history(self, dual: Array) -> FallbackState:
        """Return the state with the state of the active method at a dual vector, without averages or momentum."""
        return self.with_active(self.active_state.clear_history(dual))

    def with_active(self, state: State, **changes: Any) -> FallbackState:
        """Return the state after a step of the method whose turn it is."""
        return fast_replace(self, **{"alternative" if self.turn else "inner": state}, **changes)

    def unwrap(self) -> State:
        """Return the state of the active method, however deep."""
        return self.active_state.unwrap()

    def cap_bound(self, bound: float, bound_kind: str) -> FallbackState:
        """Return the state with no dual bound above ``bound``, here and in both inner states."""
        capped = super().cap_bound(bound, bound_kind)
        if self.alternative is None:
            return capped
        return fast_replace(capped, alternative=self.alternative.cap_bound(bound, bound_kind))

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and what the inner states share."""
        other = {} if self.alternative is None else self.alternative.shared_objects(problem)
        return {**super().shared_objects(problem), **prefix_names("alternative", other)}


@dataclass(frozen=True)
class Fallback(Wrapper):
    """Run a method; when it stalls or fails, run another one from the best dual vector, and alternate.

    A turn ends when the error (the larger of relative infeasibility and gap) has not fallen by 30% for ``patience``
    iterations, or when the method fails. The next method starts at the best dual vector, or continues from its own
    last state; after both have had a turn, turns become twice as long. Until the first turn ends, the run is that of
    the first method, bit for bit.

    The theorems of each method hold within its turns; the bound is valid at all times, and the point reported is the
    better one of both.

    Parameters
    ----------
    inner
        The method that runs first.
    alternative
        The method that takes over.
    patience
        Iterations without progress that end the first turn.

    See Also
    --------
    Wrapper, unipd.Restarts

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, Fallback(unipd.Corrective(), unipd.AccUniPDGrad()), accuracy=1e-8).status.value
    'solved'
    """

    alternative: Method
    patience: int = PATIENCE

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record: those of the first method, and the name of the alternative."""
        return {**method_options(self.inner), "fallback": self.alternative.name}

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Rebuild the objects that the states of both methods share."""
        return {**super().rebuild(problem), **prefix_names("alternative", rebuild_shared(self.alternative, problem))}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FallbackState:
        """Start the first method."""
        return self._first_state(self.inner.start(problem, tracker, dual, accuracy), tracker, accuracy)

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> FallbackState | None:
        """Start the first method from another run, where it can."""
        inner = start_from(self.inner, problem, tracker, warm, accuracy)
        return None if inner is None else self._first_state(inner, tracker, accuracy)

    def _first_state(self, inner: State, tracker: Tracker, accuracy: float) -> FallbackState:
        return FallbackState(
            **common_fields(inner),
            inner=inner,
            alternative=None,
            turn=0,
            tracker=tracker,
            accuracy=accuracy,
            progress_error=math.inf,
            progress_iteration=0,
            patience=self.patience,
        )

    def step(self, problem: Problem, state: FallbackState) -> FallbackState:
        """Do one step of the method whose turn it is; end its turn when it stalls."""
        method = self.alternative if state.turn else self.inner
        new = method.step(problem, state.inner_state())
        reported = new if state.idle_state is None else keep_incumbent(problem, new, state)
        now = state.with_active(new, **{**common_fields(reported), "iteration": state.iteration + 1})
        error = now.certificate.relative_error(problem)
        if error <= PROGRESS * now.progress_error:
            now = fast_replace(now, progress_error=error, progress_iteration=now.iteration)
        is_stuck = now.iteration - now.progress_iteration >= now.patience
        can_switch = now.idle_state is None or now.idle_state.failure is None
        return self._switch(problem, now) if (is_stuck or new.failure is not None) and can_switch else now

    def _switch(self, problem: Problem, now: FallbackState) -> FallbackState:
        """Return the state with the other method's turn."""
        alternative, counts = now.alternative, now.counts
        if alternative is None:
            dual = best_dual(problem, now.certificate, now.active_state.dual)
            alternative = self.alternative.start(problem, now.tracker, dual, now.accuracy)
            counts += alternative.counts
        return replace(
            now,
            alternative=alternative,
            turn=1 - now.turn,
            counts=counts,
            failure=None,
            progress_iteration=now.iteration,
            patience=2 * now.patience if now.turn else now.patience,
        )
