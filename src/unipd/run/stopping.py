"""The stopping rules: accuracy, iterations, oracle calls, seconds, stall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd import validate
from unipd.errors import InvalidInput
from unipd.run.combining import StoppingRule
from unipd.run.moment import Moment
from unipd.status import Status


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
        gap, goal = certificate.objective - certificate.dual_bound, self.accuracy
        reached = abs(gap) <= goal * problem.scale(certificate.objective)
        return Status.SOLVED if reached and certificate.infeasibility <= goal * max(1.0, problem.norm_b) else None


@dataclass(frozen=True)
class MaxIterations(StoppingRule):
    """Stop after so many iterations."""

    limit: int

    def __post_init__(self) -> None:
        validate.integer("max_iterations", self.limit, minimum=1)

    def __call__(self, moment: Moment) -> Status | None:
        """Compare the iteration with the limit."""
        return Status.ITERATION_LIMIT if moment.state.iteration >= self.limit else None

    def earliest(self) -> float:
        """Return the limit; a rule derived from this one may have more to say."""
        return self.limit if type(self) is MaxIterations else 0.0


@dataclass(frozen=True)
class MaxOracleCalls(StoppingRule):
    """Stop after so many calls of the sharp oracle: at the end of the iteration that makes the last of them.

    An iteration makes several (a line search one for every trial, or more), so that a run may end with more.
    """

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
        validate.nonnegative("limit", self.limit)

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
        done = len(history)
        if done % self.window or done <= self.window:
            return None
        for column in ("gap", "relative_infeasibility"):
            values = np.abs(history[column])
            before, lately = values[: -self.window].min(), values[-self.window :].min()
            if lately < self.factor * before:
                return None
        return Status.STALLED
