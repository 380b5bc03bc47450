"""The stopping rule of a later part of a run, which counts what the parts before have taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from unipd.methods import Counts
from unipd.run.combining import StoppingRule
from unipd.run.moment import Moment
from unipd.status import Status


@dataclass(frozen=True)
class Later(StoppingRule):
    """A rule for the second part of a run, which counts what the first has taken.

    >>> from unipd.run import MaxSeconds
    >>> Later(MaxSeconds(10.0), 4.0).deadline()
    6.0
    """

    rule: StoppingRule
    seconds: float
    iterations: int = 0
    counts: Counts = field(default_factory=Counts)

    def __call__(self, moment: Moment) -> Status | None:
        """Ask the rule about time, iterations and calls since the beginning of both."""
        state = moment.state
        both = replace(state, iteration=state.iteration + self.iterations, counts=sum_of(state.counts, self.counts))
        return self.rule(replace(moment, seconds=moment.seconds + self.seconds, state=both))

    def deadline(self) -> float:
        """Return what is left."""
        return max(0.0, self.rule.deadline() - self.seconds)


def sum_of(first: Counts, second: Counts) -> Counts:
    """Return the counts of two runs.

    >>> sum_of(Counts(1, 2, 3), Counts(4, 0, 0)).oracle_calls
    5
    """
    return first.plus(second.oracle_calls, second.trials, second.matvecs)
