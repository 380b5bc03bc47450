"""Which points of a long curve are drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from unipd._typing import FloatArray

POINTS = 1500
"""Points drawn of a curve at most."""
BANDS = 120
"""Groups at most into which an oscillating curve is gathered."""
LARGEST = 1e250
"""Where a logarithmic axis ends: Matplotlib places ticks beyond its limits, which must be numbers too."""
LEAST = 1e-20
"""No relative error means anything below this, whatever the accuracy asked for."""


def thinned(size: int, limit: int = POINTS) -> Any:
    """Return indices of at most ``limit`` points, dense at the beginning, that include the first and the last.

    >>> thinned(3).tolist(), thinned(10**6).size <= POINTS
    ([0, 1, 2], True)
    """
    if size <= limit:
        return np.arange(size)
    return np.unique(np.round(np.geomspace(1, size, limit)).astype(int)) - 1


def banded(position: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return (position, least, median, greatest) of groups of neighbours; short curves keep every number.

    >>> banded(np.array([1.0, 2.0]), np.array([3.0, 4.0]))[2]
    array([3., 4.])
    """
    position, values = position[np.isfinite(values)], values[np.isfinite(values)]
    edges = np.append(thinned(position.size, BANDS), position.size)
    groups = [slice(first, last) for first, last in pairwise(edges)]
    columns = [(v.min(), np.median(v), v.max()) for v in (values[group] for group in groups)]
    least, median, greatest = np.array(columns).T
    return position[edges[:-1]], least, median, greatest


def raised(values: FloatArray, accuracy: float) -> FloatArray:
    """Return the values with those below a millionth of the accuracy (or :data:`LEAST`) raised to it: less is rounding.

    >>> raised(np.array([1e-16, 1.0]), 1e-3)
    array([1.e-09, 1.e+00])
    """
    floor = max(1e-6 * accuracy, LEAST) if np.isfinite(accuracy) else LEAST
    return np.where(values < floor, floor, values)


def shown_accuracy(accuracy: float) -> float:
    """Return the accuracy that a picture has a line for: nan when none was asked for, or one below :data:`LEAST`.

    >>> shown_accuracy(1e-6), shown_accuracy(1e-300)
    (1e-06, nan)
    """
    return accuracy if LEAST <= accuracy < np.inf else np.nan


def positive(values: FloatArray) -> FloatArray:
    """Return the values with nan where a logarithmic axis has no place for them.

    >>> positive(np.array([0.0, 1.0, 1e302]))
    array([nan,  1., nan])
    """
    return np.where((values > 0) & (values < LARGEST), values, np.nan)
