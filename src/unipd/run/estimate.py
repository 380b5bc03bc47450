"""How long a run will still take: an extrapolation of its own error curve."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

SLOWING = 0.8
"""When the fourth quarter gains less than this share of what the third did, convergence counts as sublinear."""


def remaining_seconds(seconds: Sequence[float], errors: Sequence[float], accuracy: float) -> float | None:
    """Return the seconds until the error reaches the accuracy, by the second half of the run; None when not clear.

    Errors that fall by the same factor in equal times are carried on so; errors that slow down are taken for a power
    of the time, as the theorems promise.

    >>> round(remaining_seconds([1.0, 2.0, 3.0, 4.0], [1e-1, 1e-2, 1e-3, 1e-4], 1e-6), 6)
    2.0
    """
    if len(seconds) < 4:
        return None
    now = seconds[-1]
    half, later = (errors[bisect_left(seconds, share * now)] for share in (0.5, 0.75))
    last = errors[-1]
    if not all(math.isfinite(error) and error > 0.0 for error in (half, later, last)):
        return None
    end = math.log(last)
    gained, lately, missing = math.log(half) - end, math.log(later) - end, end - math.log(accuracy)
    if missing <= 0.0:
        return 0.0
    if gained <= 0.0:
        return None
    if lately >= SLOWING * (gained - lately):
        return 0.5 * now * missing / gained
    power = missing * math.log(2.0) / gained
    return now * math.expm1(power) if power < 40.0 else None


def duration(seconds: float | None) -> str:
    """Return a time to wait in words.

    >>> duration(45.2), duration(600.0), duration(9000.0), duration(1e7), duration(None)
    ('45 s', '10 min', '2.5 h', 'more than a day', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h" if seconds < 86400.0 else "more than a day"
