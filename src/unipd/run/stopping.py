"""Stopping rules that combine with ``|`` (either) and ``&`` (both)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd.errors import InvalidInput
from unipd.methods import State
from unipd.problem import Problem
from unipd.run.history import History, relative_gap
from unipd.status import Status


@dataclass(frozen=True)
class Moment:
    """What a rule, a callback or a progress display sees after an iteration."""

    problem: Problem
    state: State
    seconds: float
    history: History

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self.state.iteration

    @property
    def objective(self) -> float:
        """Objective at the current point."""
        return self.state.certificate.objective

    @property
    def dual_bound(self) -> float:
        """Best lower bound so far."""
        return self.state.certificate.dual_bound

    @property
    def gap(self) -> float:
        """(objective - dual_bound) / scale."""
        return relative_gap(self.problem, self.objective, self.dual_bound)

    @property
    def infeasibility(self) -> float:
        """dist(A x - b, K) / max(1, ||b||)."""
        return self.state.certificate.infeasibility / max(1.0, self.problem.norm_b)


class StoppingRule(ABC):
    """A rule: the status to stop with, or None to go on."""

    @abstractmethod
    def __call__(self, moment: Moment) -> Status | None:
        """Return the status to stop with, or None."""

    def deadline(self) -> float:
        """Return the seconds after which the rule surely says to stop, whatever else happens; inf by default."""
        return math.inf

    def memory(self) -> Any:
        """Return what the rule remembers from one moment to the next, for checkpoints; None by default."""
        return None

    def recall(self, memory: Any) -> None:
        """Remember again what :meth:`memory` gave."""
        del memory

    def __or__(self, other: StoppingRule) -> StoppingRule:
        return Either(self, other) if isinstance(other, StoppingRule) else NotImplemented

    def __and__(self, other: StoppingRule) -> StoppingRule:
        return Both(self, other) if isinstance(other, StoppingRule) else NotImplemented


@dataclass(frozen=True)
class Either(StoppingRule):
    """Stop when one of two rules says so; the first that does gives the status."""

    first: StoppingRule
    second: StoppingRule

    def __call__(self, moment: Moment) -> Status | None:
        """Return the first status given."""
        return self.first(moment) or self.second(moment)

    def deadline(self) -> float:
        """Return the earlier of the two."""
        return min(self.first.deadline(), self.second.deadline())

    def memory(self) -> Any:
        """Return what the two remember."""
        return (self.first.memory(), self.second.memory())

    def recall(self, memory: Any) -> None:
        """Let the two remember."""
        if isinstance(memory, tuple) and len(memory) == 2:
            self.first.recall(memory[0])
            self.second.recall(memory[1])


@dataclass(frozen=True)
class Both(StoppingRule):
    """Stop when both rules say so; the first one's status is given."""

    first: StoppingRule
    second: StoppingRule

    def __call__(self, moment: Moment) -> Status | None:
        """Return the first rule's status once the second agrees."""
        status = self.first(moment)
        return status if status is not None and self.second(moment) is not None else None

    def deadline(self) -> float:
        """Return the later of the two."""
        return max(self.first.deadline(), self.second.deadline())

    def memory(self) -> Any:
        """Return what the two remember."""
        return (self.first.memory(), self.second.memory())

    def recall(self, memory: Any) -> None:
        """Let the two remember."""
        if isinstance(memory, tuple) and len(memory) == 2:
            self.first.recall(memory[0])
            self.second.recall(memory[1])


@dataclass(frozen=True)
class Accuracy(StoppingRule):
    """Stop when feasibility <= a max(1, ||b||) and |objective - bound| <= a scale: the asked accuracy.

    >>> rule = Accuracy(1e-3) | MaxIterations(100) & MaxSeconds(10)
    """

    accuracy: float

    def __post_init__(self) -> None:
        validate.positive("accuracy", self.accuracy)

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the certificate with the accuracy."""
        problem, certificate = moment.problem, moment.state.certificate
        feasible = certificate.infeasibility <= self.accuracy * max(1.0, problem.norm_b)
        close = abs(certificate.gap) <= self.accuracy * problem.scale(certificate.objective)
        return Status.SOLVED if feasible and close else None


@dataclass(frozen=True)
class MaxIterations(StoppingRule):
    """Stop after so many iterations."""

    limit: int

    def __post_init__(self) -> None:
        validate.integer("max_iterations", self.limit, minimum=1)

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the iteration with the limit."""
        return Status.ITERATION_LIMIT if moment.state.iteration >= self.limit else None


@dataclass(frozen=True)
class MaxOracleCalls(StoppingRule):
    """Stop after so many calls of the sharp oracle."""

    limit: int

    def __post_init__(self) -> None:
        validate.integer("max_oracle_calls", self.limit, minimum=1)

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the calls with the limit."""
        return Status.ORACLE_LIMIT if moment.state.counts.oracle_calls >= self.limit else None


@dataclass(frozen=True)
class MaxSeconds(StoppingRule):
    """Stop after so many seconds of wall time: at the end of an iteration, or by giving up one that takes long."""

    limit: float

    def __post_init__(self) -> None:
        validate.nonnegative("time_limit", self.limit)

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the time with the limit."""
        return Status.TIME_LIMIT if moment.seconds >= self.limit else None

    def deadline(self) -> float:
        """Return the limit."""
        return self.limit


@dataclass(frozen=True)
class Stall(StoppingRule):
    """Stop when neither gap nor infeasibility improved by ``factor`` over the last ``window`` iterations."""

    window: int = 200
    factor: float = 0.99

    def __post_init__(self) -> None:
        validate.integer("window", self.window, minimum=1)
        if validate.positive("factor", self.factor) > 1.0:
            raise InvalidInput("factor", "a number of at most 1: what counts as progress", repr(self.factor))

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the best of the last iterations with the best before them."""
        history = moment.history
        if len(history) <= self.window or len(history) % self.window:
            return None
        for column in ("gap", "relative_infeasibility"):
            values = np.abs(history[column])
            before, lately = values[: -self.window].min(), values[-self.window :].min()
            if lately < self.factor * before:
                return None
        return Status.STALLED
