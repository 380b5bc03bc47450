"""The stopping rule of an attempt that another method may follow: when it has had its chance."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.run import Moment, StoppingRule
from unipd.status import Status

FEWEST, MOST = 60, 400
"""Iterations that a method has in any case before another takes over, and at most."""
WORTH = 1e6
"""Operations of one step of the other method that are worth an iteration of the first."""


@dataclass(frozen=True)
class Patience(StoppingRule):
    """Ends the attempt at a program that another method, a step of which costs ``work`` operations, may solve sooner.

    >>> Patience(2e8).iterations
    200
    """

    work: float

    @property
    def iterations(self) -> int:
        """Iterations after which the attempt ends."""
        return int(min(max(self.work / WORTH, FEWEST), MOST))

    def __call__(self, moment: Moment) -> Status | None:
        """Return the status of a stall when the time has come."""
        return Status.STALLED if moment.iteration >= self.iterations else None
