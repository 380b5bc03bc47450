"""The course of one run: clock, history, the state reached, and what stands in its checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from unipd import validate
from unipd.errors import OracleError
from unipd.methods import Method, State
from unipd.methods.streamed_rooms import rooms_kept
from unipd.problem import Problem
from unipd.protocols import inner
from unipd.run import interruption
from unipd.run.best_so_far import BestSoFar
from unipd.run.checkpoint import Snapshot, Stage
from unipd.run.deadline import TimeIsUp, given_up_when
from unipd.run.floating_range import OUT_OF_RANGE, out_of_range, within_range
from unipd.run.freed_memory import keep_freed_memory
from unipd.run.history import History
from unipd.run.moment import Moment
from unipd.run.retraction import without_false_bound
from unipd.run.rules import Rules
from unipd.spectral import RIGOROUS
from unipd.status import Status
from unipd.team import team

FINAL = (Status.SOLVED, Status.INFEASIBLE)
"""Ends that other limits would not change."""
LAST = (*FINAL, Status.ITERATION_LIMIT)
"""Ends that show the last point: whoever asks for k iterations gets the k-th iterate, of which the theorems speak."""

HURRIED = (Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.INTERRUPTED)
"""Ends after which nothing more is asked of the oracle."""


@dataclass
class Course:
    """A run under way."""

    problem: Problem
    method: Method
    rules: Rules
    stage: Stage | None
    """Its place in a checkpoint."""
    begun: float
    """When it began; earlier when earlier processes did part of it."""
    history: History = field(default_factory=History)
    state: State | None = None
    """The last whole iteration's."""
    best: BestSoFar = field(init=False)
    """The best of all of them."""

    def __post_init__(self) -> None:
        self.best = BestSoFar(self.problem)

    def run(self, begin: Callable[[], State], show: Callable[[Moment], None] | None) -> Status:
        """Iterate until a rule speaks, from the start or from where the checkpoint stands."""
        ended = self._restored()
        if ended is not None:
            return ended
        try:
            with self._watched(), rooms_kept():
                return self._iterated(begin, show)
        except TimeIsUp:
            return Status.TIME_LIMIT

    def _iterated(self, begin: Callable[[], State], show: Callable[[Moment], None] | None) -> Status:
        problem, rules, goal, look = self.problem, self.rules, self.rules.goal.accuracy, 0.0
        keep_freed_memory(problem.b.nbytes)
        state, crew, request = self.state or within_range(begin), team(), interruption.request
        while state.failure is None:
            unproven = self.stage is not None and self.stage.unproven
            state = self._first_after_checkpoint(state) if unproven else self._stepped(state)
            seconds, status = crew.now() - self.begun, None
            gap = self.history.record(problem, state, seconds)
            self.state = state
            self.best.see(state)
            if show is not None:
                show(Moment(problem, state, seconds, self.history))
            if state.iteration >= look or not gap > goal or state.failure is not None:
                state, status = rules.verdict(Moment(problem, state, seconds, self.history))
                self.state, look = state, rules.next_look(problem, state.iteration)
            if self.stage is not None:
                self._noted(self.stage, state, seconds, status)
            if status is not None:
                return status
            if (crew.size > 1 or request.pending) and interruption.requested(crew):
                return self.interrupted()
        return state.failure

    def _first_after_checkpoint(self, state: State) -> State:
        """Return the next state; a checkpoint from which no iteration can be done is refused."""
        assert self.stage is not None
        with self.stage.blamed():
            return self._stepped(state)

    def _stepped(self, state: State) -> State:
        """Return the next state, whose numbers are finite and whose bound its point does not disprove."""
        try:
            new = self.method.step(self.problem, state)
        except OUT_OF_RANGE as error:
            raise out_of_range() from error
        certificate = new.certificate
        if self.problem.inverse is None or not math.isfinite(certificate.objective + certificate.infeasibility):
            check_finite(new)
        if certificate.kind == RIGOROUS:
            return new
        return without_false_bound(self.problem, new, self.rules.check)

    def interrupted(self) -> Status:
        """Write the checkpoint and return the status of a run that was interrupted."""
        if self.stage is not None:
            self.stage.interrupted()
        return Status.INTERRUPTED

    def _watched(self) -> AbstractContextManager[None]:
        """Keep the time limit inside iterations; before there is a whole one to return, only in line searches."""
        limit = self.rules.stop.deadline()
        if limit == math.inf or team().size > 1:  # members of a team would not give up at the same product
            return nullcontext()
        return given_up_when(lambda: self.seconds >= limit, lambda: self.state is not None)

    def outcome(self, status: Status, *, failed: bool = False) -> tuple[State, Status]:
        """Return what the run has reached, the last state, after a break with the best point in it; and the status.

        Its bound is one that stands, unless the run had to end at once. Where that bound shows that the accuracy is
        reached after all, the run is solved whatever has ended it, but for an oracle that ``failed``.
        """
        assert self.state is not None
        state = self.state if status in LAST else self.best.shown(self.state)
        if status in HURRIED:
            return state, status
        with suppress(KeyboardInterrupt, OracleError):  # what is known then stays, and its kind says how sure it is
            state = self.rules.check.at_the_end(self.problem, state)
            if status not in FINAL and not failed:
                solved = self.rules.reached_after_all(Moment(self.problem, state, self.seconds, self.history))
                return (state, status) if solved is None else (solved, Status.SOLVED)
        return state, status

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return team().now() - self.begun

    def _noted(self, stage: Stage, state: State, seconds: float, status: Status | None) -> None:
        """Tell the checkpoint of a state, unless a time limit has cut it short: that is none to go on from."""
        if status is not Status.TIME_LIMIT or state.failure is None:
            (stage.settled if status is None else stage.ended)(self._snapshot(state, seconds, status))

    def _snapshot(self, state: State, seconds: float, status: Status | None) -> Snapshot:
        count = len(self.history)
        memory = {**self.rules.memory(), "best": self.best.memory(state)}
        return Snapshot(state, lambda: self.history.table[:count], seconds, memory, status)

    def _restored(self) -> Status | None:
        """Take up the checkpoint; the status of a run that had ended, unless its limit is a higher one now."""
        saved = None if self.stage is None else self.stage.restored
        if self.stage is None or saved is None:
            return None
        self.begun -= saved.seconds
        assert not callable(saved.rows)
        self.state, self.history = saved.state, History(saved.rows)
        with self.stage.blamed():
            self.rules.recall(saved.memory)
            self.best.recall(saved.memory.get("best"), saved.state)
        if saved.status is None:
            return None
        self.begun = team().now() - saved.seconds
        moment = Moment(self.problem, saved.state, saved.seconds, self.history)
        _, status = self.rules.verdict(moment)  # callbacks may set what applications read after a run
        return saved.status if saved.status in FINAL or saved.state.failure is not None else status


def check_finite(state: State) -> None:
    """Raise when iterates are no longer finite; NaN and infinity survive in their inner product.

    Where objective and feasibility are made of ||A xbar - b||, those show it, and the oracle's value shows it of lam.
    """
    if not math.isfinite(inner(state.image, state.dual)) and not _all_finite(state):  # a product may overflow
        raise OracleError(f"NaN or infinity in the iterates after iteration {state.iteration}")


def _all_finite(state: State) -> bool:
    return validate.all_finite(state.image) and validate.all_finite(state.dual)
