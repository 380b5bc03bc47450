"""Who does what: work divided evenly."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from unipd._typing import IntArray


def shares(count: int, parts: int) -> IntArray:
    """Return the sizes of ``parts`` nearly equal parts of ``count`` things.

    >>> shares(7, 3)
    array([3, 2, 2])
    """
    sizes = np.full(parts, count // parts, np.int64)
    sizes[: count % parts] += 1
    return sizes


def contiguous(work: Any, parts: int) -> IntArray:
    """Return the bounds of ``parts`` runs of things with about equal work; runs may be empty.

    >>> contiguous([1, 1, 4, 1, 1], 3)
    array([0, 2, 3, 5])
    """
    total = np.concatenate([[0], np.cumsum(np.asarray(work, np.float64))])
    goals = np.linspace(0.0, total[-1], parts + 1)
    bounds = np.minimum(np.searchsorted(total, goals), total.size - 1)
    closer = np.maximum(bounds - 1, 0)
    bounds = np.where(goals - total[closer] < total[bounds] - goals, closer, bounds)
    bounds[0], bounds[-1] = 0, total.size - 1
    return np.maximum.accumulate(bounds)


def scattered(work: Any, parts: int) -> IntArray:
    """Return the part of each thing: the largest first, each to the part with the least work so far.

    >>> scattered([5.0, 1.0, 1.0, 3.0], 2)
    array([0, 1, 1, 1])
    """
    sizes = np.asarray(work, np.float64)
    if (sizes == sizes[0]).all():
        return np.arange(sizes.size) % parts
    owners = np.zeros(sizes.size, np.int64)
    loads = [(0.0, part) for part in range(parts)]
    for thing in np.argsort(-sizes, kind="stable").tolist():
        load, owner = loads[0]
        owners[thing] = owner
        heapq.heapreplace(loads, (load + float(sizes[thing]), owner))
    return owners
