"""One moment by which all stages of a fit have to end."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.team import team


@dataclass(frozen=True)
class Deadline:
    """So many seconds from a moment on; without a limit it never comes.

    >>> Deadline.in_seconds(None).left(), Deadline.in_seconds(0.0).left()
    (None, 0.0)
    """

    begun: float
    seconds: float | None

    @staticmethod
    def in_seconds(seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now, None for none."""
        return Deadline(team().now(), seconds)

    def left(self, share: float = 1.0) -> float | None:
        """Return the seconds left of this share of the time, from its beginning on; None without a limit."""
        if self.seconds is None:
            return None
        return max(share * self.seconds - (team().now() - self.begun), 0.0)
