"""Compiled passes of coordinate descent; this module is imported when a coordinate method first runs.

Both minimise q(x) + T(N(x)) over the bounds by one update per group, with q a convex quadratic function and

    T(N) = base N + (max(0, mu + rho (N - budget))^2 - mu^2) / (2 rho)      (without the max where N = budget on X):

an augmented Lagrangian of the budget, or the objective's own v N^2 with mu = budget = 0 and rho = 2 v.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._util.lazy import REORDER, njit


@njit(cache=True, inline="always")
def shrink(length: float, lipschitz: float, weight: float, rest: float, terms: Any, is_tight: bool) -> float:
    """Return the t >= 0 that minimises L/2 (t - length)^2 + T(w t + rest)."""
    base, mu, rho, budget = terms[0], terms[1], terms[2], terms[3]
    if lipschitz <= 0.0:
        return 0.0
    below = mu + rho * (rest - budget)
    t = max(0.0, (lipschitz * length - weight * (base + below)) / (lipschitz + rho * weight * weight))
    if is_tight or below + rho * weight * t >= 0.0:
        return t
    free = max(0.0, length - weight * base / lipschitz)
    if below + rho * weight * free <= 0.0:
        return free
    return max(0.0, -below / (rho * weight))


@njit(cache=True, inline="always")
def move_group(
    x: Any, slope: Any, first: int, last: int, lipschitz: float, weight: float, lower: float,
    upper: float, rest: float, terms: Any, is_tight: bool, step: Any,
) -> float:  # fmt: skip
    """Set ``step`` to the change of a group by a proximal gradient step, exact for one entry; return its new norm."""
    length = 0.0
    for j in range(first, last):
        step[j - first] = x[j] - slope[j - first] / lipschitz if lipschitz > 0.0 else x[j]
        length += step[j - first] * step[j - first]
    length = math.sqrt(length)
    if last - first == 1:
        z = step[0]
        if weight > 0.0 and lower < 0.0:
            z = math.copysign(shrink(abs(z), lipschitz, weight, rest, terms, is_tight), z)
        elif weight > 0.0:
            z = shrink(z, lipschitz, weight, rest, terms, is_tight)
        z = min(max(z, lower), upper)
        step[0] = z - x[first]
        return abs(z)
    t = shrink(length, lipschitz, weight, rest, terms, is_tight)
    share = t / length if length > 0.0 else 0.0
    for j in range(first, last):
        step[j - first] = share * step[j - first] - x[j]
    return t


@njit(cache=True, nogil=True, fastmath=REORDER)
def descend_dense(
    rows: Any, updates: Any, slopes: Any, is_gram: bool, order: Any, x: Any,
    norms: Any, starts: Any, weights: Any, lower: Any, upper: Any,
    lipschitz: Any, terms: Any, is_tight: bool, epochs: int,
) -> None:  # fmt: skip
    """Do passes over some groups, in place.

    ``slopes`` is the gradient of q itself, and ``updates`` the Gram matrix; or it is the gradient in A x, with the
    columns a_j as ``rows`` and D a_j as ``updates``.
    """
    widest = _widest(starts)
    step, slope = np.zeros(widest), np.zeros(widest)
    total = float(weights @ norms)
    for _ in range(epochs):
        for g in order:
            first, last = starts[g], starts[g + 1]
            for j in range(first, last):
                if is_gram:
                    slope[j - first] = slopes[j]
                else:
                    value = 0.0
                    for i in range(slopes.size):
                        value += rows[j, i] * slopes[i]
                    slope[j - first] = value
            rest = total - weights[g] * norms[g]
            length = move_group(
                x, slope, first, last, lipschitz[g], weights[g], lower[first], upper[first], rest, terms, is_tight, step
            )
            for j in range(first, last):
                delta = step[j - first]
                if delta != 0.0:
                    x[j] += delta
                    for i in range(slopes.size):
                        slopes[i] += delta * updates[j, i]
            norms[g] = length
            total = rest + weights[g] * length


@njit(cache=True, nogil=True, fastmath=REORDER)
def descend_sparse(
    data: Any, indices: Any, ends: Any, diagonal: Any, slopes: Any, order: Any,
    x: Any, norms: Any, starts: Any, weights: Any, lower: Any, upper: Any,
    lipschitz: Any, terms: Any, is_tight: bool, epochs: int,
) -> None:  # fmt: skip
    """Do what ``descend_dense`` does for compressed columns; ``slopes`` is the gradient of q in A x, D its Hessian."""
    widest = _widest(starts)
    step, slope = np.zeros(widest), np.zeros(widest)
    total = float(weights @ norms)
    for _ in range(epochs):
        for g in order:
            first, last = starts[g], starts[g + 1]
            for j in range(first, last):
                value = 0.0
                for i in range(ends[j], ends[j + 1]):
                    value += data[i] * slopes[indices[i]]
                slope[j - first] = value
            rest = total - weights[g] * norms[g]
            length = move_group(
                x, slope, first, last, lipschitz[g], weights[g], lower[first], upper[first], rest, terms, is_tight, step
            )
            for j in range(first, last):
                delta = step[j - first]
                if delta != 0.0:
                    x[j] += delta
                    for i in range(ends[j], ends[j + 1]):
                        slopes[indices[i]] += delta * diagonal[indices[i]] * data[i]
            norms[g] = length
            total = rest + weights[g] * length


@njit(cache=True)
def _widest(starts: Any) -> int:
    """Return the number of entries of the largest group."""
    widest = 1
    for g in range(starts.size - 1):
        widest = max(widest, starts[g + 1] - starts[g])
    return widest
