"""What the axes of a picture show: their scales and limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd.errors import InvalidInput

SCALES = ("auto", "log", "linear")
_SPAN = 30.0
"""Factor that the horizontal axis must span for a logarithmic one to be chosen."""


def set_log_limits(axes: Any, low: float, high: float) -> None:
    """Show the values from low to high on a logarithmic axis, with a whole decade at least."""
    if not (math.isfinite(low) and math.isfinite(high) and 0.0 < low <= high):
        return
    axes.set_autoscaley_on(False)  # a level line alone has no scale of its own
    if high < 10.0 * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        axes.set_ylim(low, high if high > low else 10.0 * low)
    else:
        axes.set_ylim(0.5 * low, 2.0 * high)


def set_horizontal(axes: Any, positions: Sequence[FloatArray], xscale: str, *, whole: bool) -> None:
    """Set scale, limits and ticks of the horizontal axis; ``whole`` when it counts something."""
    if xscale not in SCALES:
        raise InvalidInput("xscale", f"one of {', '.join(SCALES)}", repr(xscale))
    low = min(float(np.nanmin(position)) for position in positions)
    high = max(float(np.nanmax(position)) for position in positions)
    if xscale == "log" or (xscale == "auto" and 0.0 < _SPAN * low <= high):
        low = low if low > 0 else max(high, 1.0) * 1e-4
        axes.set_xscale("log")
        axes.set_xlim(low / 1.05, max(high, 2.0 * low) * 1.12)
        return
    axes.set_xlim(0.0, 1.03 * high if high > 0 else 1.0)
    axes.xaxis.get_major_locator().set_params(integer=whole)
