"""What may end a run, in the order of asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from unipd.memory import over_limit
from unipd.memory.limits import memory_limit
from unipd.methods import State
from unipd.problem import Problem
from unipd.run.certify import NOTHING, FinalCheck, added
from unipd.run.combining import StoppingRule
from unipd.run.contradiction import require_adjoint, require_consistent, require_proof
from unipd.run.moment import Moment
from unipd.run.stopping import Accuracy, Stall
from unipd.spectral import RESIDUAL
from unipd.status import Status

Callback = Callable[[Moment], "bool | None"]
STALL = Stall(window=1000, factor=0.9999)
"""Ends every run whose gap and feasibility have reached what the precision allows."""


@dataclass(frozen=True)
class Rules:
    """The accuracy asked for with its last check, the caller's limits, and his callback."""

    goal: Accuracy
    check: FinalCheck
    stop: StoppingRule
    callback: Callback | None

    def verdict(self, moment: Moment) -> tuple[State, Status | None]:
        """Return the state as it stands after the rules have seen it, and the status to stop with (None to go on).

        The callback is called in any case, and oracle calls of the last check are counted.
        """
        wants_stop = self.callback is not None and self.callback(moment)
        certificate = moment.state.certificate
        if certificate.objective < certificate.dual_bound:
            require_consistent(moment, self.goal.accuracy)
        proof = None if moment.problem.loss is not None else self.check.of_infeasibility(moment)
        if proof is not None:
            state = added(self.check.counted(moment.state), require_proof(moment, proof))
            return replace(state, certificate=proof), Status.INFEASIBLE
        sure = self.check(moment) if self.goal(moment) is not None else None
        state = moment.state if self.check.spent is NOTHING else self.check.counted(moment.state)
        if sure is not None:
            state = added(state, require_adjoint(moment))
            return replace(state, certificate=sure), Status.SOLVED
        status = self.stop(moment) or state.failure or (Status.MEMORY_LIMIT if over_limit() else None)
        if status is None:
            over = state.iteration % STALL.window == 0  # it looks at no other moment
            status = Status.STOPPED if wants_stop else STALL(moment) if over else None
        if status is not None and (status is Status.SOLVED or status is True):
            status = Status.STOPPED  # a rule of the caller's own: fulfilled, but not the accuracy asked for
        return state, status

    def reached_after_all(self, moment: Moment) -> State | None:
        """Return the state of a run whose bound, certified at its end, shows that the accuracy is reached; else None.

        It passes the checks of every run that ends as solved.
        """
        if moment.state.certificate.kind == RESIDUAL or self.goal(moment) is None:
            return None
        require_consistent(moment, self.goal.accuracy)
        return added(moment.state, require_adjoint(moment))

    def next_look(self, problem: Problem, iteration: int) -> float:
        """Return the iteration before which nothing ends the run but its accuracy or a failure; the next if in doubt.

        A loss problem whose gap is positive and larger than asked needs no other check.
        """
        if self.callback is not None or problem.loss is None or memory_limit() is not None:
            return iteration + 1
        window = STALL.window
        return min(self.stop.earliest(), (iteration // window + 1) * window)

    def memory(self) -> dict[str, Any]:
        """Return what the rules remember from one moment to the next."""
        return {"check": self.check.memory(), "stop": self.stop.memory()}

    def recall(self, memory: dict[str, Any]) -> None:
        """Remember again what :meth:`memory` gave."""
        self.check.recall(memory["check"])
        self.stop.recall(memory["stop"])
