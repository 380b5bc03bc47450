"""Stopping rules in general, and how they combine: ``|`` (either) and ``&`` (both)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from unipd.run.moment import Moment
from unipd.status import Status


class StoppingRule(ABC):
    """A rule: the status to stop with, or None to go on."""

    @abstractmethod
    def __call__(self, moment: Moment) -> Status | None:
        """Return the status to stop with, or None."""

    def deadline(self) -> float:
        """Return the seconds after which the rule surely says to stop, whatever else happens; inf by default."""
        return math.inf

    def earliest(self) -> float:
        """Return the iteration before which the rule surely has nothing to say; 0 by default."""
        return 0.0

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
class _Pair(StoppingRule):
    """Two rules, each with a memory of its own."""

    first: StoppingRule
    second: StoppingRule

    def memory(self) -> Any:
        """Return what the two remember."""
        return (self.first.memory(), self.second.memory())

    def recall(self, memory: Any) -> None:
        """Let the two remember."""
        if isinstance(memory, tuple) and len(memory) == 2:
            self.first.recall(memory[0])
            self.second.recall(memory[1])


@dataclass(frozen=True)
class Either(_Pair):
    """Stop when one of two rules says so; the first that does gives the status."""

    def __call__(self, moment: Moment) -> Status | None:
        """Return the first status given."""
        return self.first(moment) or self.second(moment)

    def deadline(self) -> float:
        """Return the earlier of the two."""
        return min(self.first.deadline(), self.second.deadline())

    def earliest(self) -> float:
        """Return the earlier of the two."""
        return min(self.first.earliest(), self.second.earliest())


@dataclass(frozen=True)
class Both(_Pair):
    """Stop when both rules say so; the first one's status is given."""

    def __call__(self, moment: Moment) -> Status | None:
        """Return the first rule's status once the second agrees."""
        status = self.first(moment)
        return status if status is not None and self.second(moment) is not None else None

    def deadline(self) -> float:
        """Return the later of the two."""
        return max(self.first.deadline(), self.second.deadline())

    def earliest(self) -> float:
        """Return the first one's: it is the one that is asked at every moment, and may remember."""
        return self.first.earliest()
