"""Stopping rules: accuracy, iterations, oracle calls, seconds, CPU time, stall; combined by ``|`` and ``&``.

``a | b`` stops when either rule does, ``a & b`` when both do. A function of an
:class:`~unipd.run.history.IterationInfo` is a rule as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.methods import Certificate, Counts
from unipd.problem import Problem
from unipd.run.history import IterationInfo
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.run.result import Result


class StoppingRule(ABC):
    """A stopping rule: the status to stop with, or None to continue.

    See Also
    --------
    When, IterationInfo, unipd.MaxIterations

    Examples
    --------
    Rules combine by ``|`` and ``&``; a rule of your own is a class with ``__call__``:

    >>> class Feasible(StoppingRule):
    ...     def __call__(self, info):
    ...         return Status.STOPPED if info.infeasibility <= 1e-6 else None
    >>> rule = Feasible() | MaxIterations(1000)
    """

    @abstractmethod
    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the status to stop with, or None."""

    def deadline(self) -> float:
        """Return the seconds after which the rule is certain to stop the run; inf by default."""
        return math.inf

    def earliest(self) -> float:
        """Return the iteration before which the rule is certain not to stop the run; 0 by default."""
        return 0.0

    def memory(self) -> Any:
        """Return what the rule remembers between iterations, for checkpoints; None by default."""
        return None

    def recall(self, memory: Any) -> None:
        """Restore what :meth:`memory` returned."""
        del memory

    def __or__(self, other: StoppingRule | StopFunction) -> StoppingRule:
        return Either(self, as_rule(other)) if _is_rule(other) else NotImplemented

    def __ror__(self, other: StopFunction) -> StoppingRule:
        return Either(as_rule(other), self) if _is_rule(other) else NotImplemented

    def __and__(self, other: StoppingRule | StopFunction) -> StoppingRule:
        return Both(self, as_rule(other)) if _is_rule(other) else NotImplemented

    def __rand__(self, other: StopFunction) -> StoppingRule:
        return Both(as_rule(other), self) if _is_rule(other) else NotImplemented


StopFunction: TypeAlias = Callable[[IterationInfo], "Status | bool | None"]
"""Returns True, or a status, to stop the run."""


@dataclass(frozen=True)
class When(StoppingRule):
    """Stop when a function of the iteration returns True (then the status is ``STOPPED``) or a status.

    Parameters
    ----------
    function
        Called with an :class:`~unipd.run.IterationInfo` after every iteration.

    See Also
    --------
    StoppingRule, IterationInfo

    Examples
    --------
    >>> rule = When(lambda info: abs(info.gap) < 0.1) | MaxIterations(100)
    """

    function: StopFunction

    def __call__(self, info: IterationInfo) -> Status | None:
        """Call the function."""
        answer = self.function(info)
        if isinstance(answer, Status):
            return answer
        return Status.STOPPED if answer else None


def _is_rule(value: Any) -> bool:
    return isinstance(value, StoppingRule) or (callable(value) and not isinstance(value, type))


def as_rule(stop: StoppingRule | StopFunction) -> StoppingRule:
    """Return a stopping rule as it is, and a function of an iteration as a rule.

    >>> as_rule(lambda info: info.iteration == 3)  # doctest: +ELLIPSIS
    When(function=<function ...>)
    """
    if not _is_rule(stop):
        expected = "a stopping rule, e.g. MaxSeconds(60), or a function of an IterationInfo"
        raise InvalidInput("stop", expected, validate.describe_type(stop))
    return stop if isinstance(stop, StoppingRule) else When(stop)


@dataclass(frozen=True)
class _Pair(StoppingRule):
    """Two rules, each with its own memory."""

    first: StoppingRule
    second: StoppingRule

    def memory(self) -> Any:
        """Return the memories of both rules."""
        return (self.first.memory(), self.second.memory())

    def recall(self, memory: Any) -> None:
        """Restore both rules."""
        if isinstance(memory, tuple) and len(memory) == 2:
            self.first.recall(memory[0])
            self.second.recall(memory[1])


@dataclass(frozen=True)
class Either(_Pair):
    """Stop when either rule stops; the first that does gives the status."""

    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the first status."""
        return self.first(info) or self.second(info)

    def deadline(self) -> float:
        """Return the earlier of the two."""
        return min(self.first.deadline(), self.second.deadline())

    def earliest(self) -> float:
        """Return the earlier of the two."""
        return min(self.first.earliest(), self.second.earliest())


@dataclass(frozen=True)
class Both(_Pair):
    """Stop when both rules stop, with the status of the first."""

    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the first rule's status once the second agrees."""
        status = self.first(info)
        return status if status is not None and self.second(info) is not None else None

    def deadline(self) -> float:
        """Return the later of the two."""
        return max(self.first.deadline(), self.second.deadline())

    def earliest(self) -> float:
        """Return that of the first rule, which is called at every iteration and may have a memory."""
        return self.first.earliest()


@dataclass(frozen=True)
class Accuracy(StoppingRule):
    """Stop when gap and infeasibility are both within ``accuracy``, or within ``atol`` in absolute terms.

    Each of the two may meet either tolerance: |gap| <= accuracy or |objective - bound| <= atol, and infeasibility <=
    accuracy or violation <= atol.

    Parameters
    ----------
    accuracy
        The relative accuracy requested of gap and infeasibility.
    atol
        Absolute tolerance that suffices as well, in the units of the data.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero; ``atol``: expected a number of at least zero.

    See Also
    --------
    MaxIterations, Stall, Result

    Notes
    -----
    In the paper: Definition 1.1.

    Examples
    --------
    >>> rule = Accuracy(1e-3) | MaxIterations(100) & MaxSeconds(10)
    """

    accuracy: float
    atol: float = 0.0

    def __post_init__(self) -> None:
        validate.positive("accuracy", self.accuracy)
        validate.nonnegative("atol", self.atol)

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the certificate with the accuracy."""
        return Status.STOPPED if self.is_met(info.problem, info.state.certificate) else None

    def is_met(self, problem: Problem, certificate: Certificate) -> bool:
        """Whether violation and gap are within the accuracy, or within the absolute tolerance.

        Parameters
        ----------
        problem
            The problem, whose scales make the errors relative.
        certificate
            Objective, violation and bound so far.
        """
        gaps = certificate.gap(problem), certificate.absolute_gap
        return self.is_met_by(*gaps, certificate.infeasibility, certificate.violation)

    def is_met_by(self, gap: float, absolute_gap: float, infeasibility: float, violation: float) -> bool:
        """Whether these figures are within the accuracy, or within the absolute tolerance.

        Parameters
        ----------
        gap, absolute_gap
            The gap, relative and absolute.
        infeasibility, violation
            The distance from the constraints, relative and absolute.
        """
        is_close = abs(gap) <= self.accuracy or abs(absolute_gap) <= self.atol
        return is_close and (infeasibility <= self.accuracy or violation <= self.atol)


@dataclass(frozen=True)
class MaxIterations(StoppingRule):
    """Stop after ``limit`` iterations.

    Parameters
    ----------
    limit
        Largest number of iterations.

    Raises
    ------
    InvalidInput
        If the limit is not an integer of at least 1.

    See Also
    --------
    MaxOracleCalls, MaxSeconds, unipd.run.StoppingRule

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=MaxIterations(1)).iterations
    1
    """

    limit: int

    def __post_init__(self) -> None:
        validate.integer("max_iterations", self.limit, minimum=1)

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the iteration with the limit."""
        return Status.ITERATION_LIMIT if info.state.iteration >= self.limit else None

    def earliest(self) -> float:
        """Return the limit; a subclass may stop earlier."""
        return self.limit if type(self) is MaxIterations else 0.0


@dataclass(frozen=True)
class MaxOracleCalls(StoppingRule):
    """Stop after ``limit`` calls of the sharp oracle, at the end of the iteration that reaches it.

    An iteration makes several calls (a line search at least one per trial), so a run may end with more.

    Parameters
    ----------
    limit
        Number of calls from which the run ends.

    Raises
    ------
    InvalidInput
        If the limit is not an integer of at least 1.

    See Also
    --------
    MaxIterations, MaxSeconds, unipd.methods.Counts

    Examples
    --------
    >>> rule = MaxOracleCalls(1000) | MaxSeconds(60.0)
    """

    limit: int

    def __post_init__(self) -> None:
        validate.integer("max_oracle_calls", self.limit, minimum=1)

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the calls with the limit."""
        return Status.ORACLE_LIMIT if info.state.counts.oracle_calls >= self.limit else None


@dataclass(frozen=True)
class MaxSeconds(StoppingRule):
    """Stop after ``limit`` seconds of wall time; a long iteration is aborted.

    Parameters
    ----------
    limit
        Wall seconds.

    Raises
    ------
    InvalidInput
        ``limit``: expected a number of at least zero.

    See Also
    --------
    MaxCpuSeconds, MaxIterations

    Examples
    --------
    >>> (MaxSeconds(60.0) | MaxIterations(1000)).deadline()
    60.0
    """

    limit: float

    def __post_init__(self) -> None:
        validate.nonnegative("limit", self.limit)

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the time with the limit."""
        return Status.TIME_LIMIT if info.seconds >= self.limit else None

    def deadline(self) -> float:
        """Return the limit."""
        return self.limit


@dataclass(frozen=True)
class MaxCpuSeconds(StoppingRule):
    """Stop after ``limit`` seconds of CPU time, all threads and processes together, at the end of an iteration.

    Parameters
    ----------
    limit
        CPU seconds.

    Raises
    ------
    InvalidInput
        ``limit``: expected a number of at least zero.

    See Also
    --------
    MaxSeconds, MaxIterations

    Examples
    --------
    >>> rule = MaxCpuSeconds(120.0) | MaxSeconds(90.0)
    """

    limit: float

    def __post_init__(self) -> None:
        validate.nonnegative("limit", self.limit)

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the CPU time with the limit."""
        return Status.TIME_LIMIT if info.cpu_seconds >= self.limit else None


@dataclass(frozen=True)
class Stall(StoppingRule):
    """Stop when neither gap nor infeasibility improved by ``factor`` over the last ``window`` iterations.

    Parameters
    ----------
    window
        Iterations over which progress is measured.
    factor
        A quantity has improved if it is below this multiple of its value before the window.

    Raises
    ------
    InvalidInput
        ``window``: expected an integer of at least 1; ``factor``: expected a number of at most 1 (what counts as
        progress).

    See Also
    --------
    Accuracy, MaxIterations

    Examples
    --------
    Give up when 500 iterations halve neither gap nor infeasibility:

    >>> rule = Stall(window=500, factor=0.5) | MaxSeconds(60.0)
    """

    window: int = 200
    factor: float = 0.99

    def __post_init__(self) -> None:
        validate.integer("window", self.window, minimum=1)
        if validate.positive("factor", self.factor) > 1.0:
            raise InvalidInput("factor", "a number of at most 1 (what counts as progress)", repr(self.factor))

    def __call__(self, info: IterationInfo) -> Status | None:
        """Compare the best of the last iterations with the best before them."""
        history = info.history
        done = len(history)
        if done % self.window or done <= self.window:
            return None
        for column in ("gap", "infeasibility"):
            values = np.abs(history[column])
            before, lately = values[: -self.window].min(), values[-self.window :].min()
            if lately < self.factor * before:
                return None
        return Status.STALLED


@dataclass(frozen=True)
class RemainingBudget(StoppingRule):
    """A rule for a later part of a run, which counts what the earlier parts have taken.

    >>> from unipd.run import MaxSeconds
    >>> RemainingBudget(MaxSeconds(10.0), 4.0).deadline()
    6.0
    """

    rule: StoppingRule
    seconds: float
    iterations: int = 0
    counts: Counts = field(default_factory=Counts)
    cpu_seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", as_rule(self.rule))

    def __call__(self, info: IterationInfo) -> Status | None:
        """Apply the rule to time, iterations and calls since the beginning of the first part."""
        state = info.state
        both = replace(state, iteration=state.iteration + self.iterations, counts=state.counts + self.counts)
        times = {"seconds": info.seconds + self.seconds, "cpu_seconds": info.cpu_seconds + self.cpu_seconds}
        return self.rule(replace(info, state=both, **times))

    def deadline(self) -> float:
        """Return the remaining seconds."""
        return max(0.0, self.rule.deadline() - self.seconds)


def remaining_budget(stop: StoppingRule | None, *done: Result) -> StoppingRule | None:
    """Return the rule for what follows some runs, which share its limits; None without one."""
    if stop is None or not done:
        return stop
    seconds, iterations = sum(run.seconds for run in done), sum(run.iterations for run in done)
    counts = sum((run.counts for run in done), Counts())
    return RemainingBudget(stop, seconds, iterations, counts, sum(run.cpu_seconds for run in done))
