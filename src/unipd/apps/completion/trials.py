"""What the search for a radius has tried, and what it took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from unipd.apps.completion.design import Start
from unipd.apps.completion.joining import joined_counts
from unipd.methods import Counts
from unipd.run import Result


@dataclass(frozen=True, eq=False)
class Trial:
    """One radius that was tried."""

    radius: float
    """The radius, or the norm of the matrix found where that does not fill the ball."""
    error: float
    """Root mean squared error on the ratings held out."""
    starts: tuple[Start, ...]
    """Where runs at another radius can start from, one for each set held out."""
    filled: bool
    """Whether the ball bounds the matrix; if not, a larger one means nothing."""


def together(runs: Sequence[Trial]) -> Trial:
    """Return one trial from those of the sets held out."""
    return Trial(
        sum(run.radius for run in runs) / len(runs),
        math.sqrt(sum(run.error**2 for run in runs) / len(runs)),
        tuple(start for run in runs for start in run.starts),
        any(run.filled for run in runs),
    )


@dataclass(frozen=True)
class Work:
    """Work of several runs.

    >>> Work(1, Counts(2, 0, 3), 0.5).iterations
    1
    """

    iterations: int = 0
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0

    def plus(self, result: Result) -> Work:
        """Return the work with that of one more run."""
        counts = joined_counts(self.counts, result.counts)
        return replace(
            self, iterations=self.iterations + result.iterations, counts=counts, seconds=self.seconds + result.seconds
        )


@dataclass(frozen=True, eq=False)
class Chosen:
    """A radius and how it was found."""

    radius: float
    trials: tuple[Trial, ...] = ()
    """Radii tried, in order; none for a guess."""
    work: Work = field(default_factory=Work)
    """What all runs took, those that the time limit cut short included."""
    cut: bool = False
    """Whether the time limit ended the search."""

    @property
    def start(self) -> Start | None:
        """Where a fit with this radius can start from."""
        if not self.trials:
            return None
        return min(self.trials, key=lambda trial: abs(math.log(trial.radius / self.radius))).starts[0]
