"""Compiled local search for cuts: one-flip ascent and tabu search, on the adjacency matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def flip(starts: Any, indices: Any, weights: Any, side: Any, gain: Any, node: int) -> None:
    """Move a node to the other side and update the gains."""
    side[node] = -side[node]
    gain[node] = -gain[node]
    for place in range(starts[node], starts[node + 1]):
        other = indices[place]
        gain[other] += 2.0 * weights[place] * side[node] * side[other]


@njit(cache=True, nogil=True)
def ascend(starts: Any, indices: Any, weights: Any, side: Any, gain: Any, floor: float) -> float:
    """Flip nodes while one flip improves the cut by more than ``floor``; return the improvement."""
    improvement = 0.0
    moved = True
    while moved:
        moved = False
        for node in range(side.size):
            if gain[node] > floor:
                improvement += gain[node]
                flip(starts, indices, weights, side, gain, node)
                moved = True
    return improvement


@njit(cache=True, nogil=True)
def tabu(
    starts: Any, indices: Any, weights: Any, side: Any, gain: Any, steps: int, tenure: int, noise: Any, floor: float
) -> float:
    """Flip the best node that was not flipped lately, ``steps`` times; leave the best cut and return its improvement.

    A node that gives a new best cut may be flipped at any time, one without edges (which would always look better than
    a flip that costs something) never. Ties are broken, and rests varied, by ``noise``: random whole numbers, read in
    turn.
    """
    drawn = 0
    size = side.size
    free = np.where(starts[1:] > starts[:-1], 0, steps)
    best_side = side.copy()
    value, best = 0.0, 0.0
    for step in range(steps):
        chosen, most, ties = -1, -np.inf, 0
        for node in range(size):
            allowed = free[node] <= step or value + gain[node] > best + floor
            if not allowed or gain[node] < most:
                continue
            if gain[node] > most:
                chosen, most, ties = node, gain[node], 1
            else:
                ties += 1
                drawn = (drawn + 1) % noise.size
                if noise[drawn] % ties == 0:
                    chosen = node
        if chosen < 0:
            continue
        value += gain[chosen]
        flip(starts, indices, weights, side, gain, chosen)
        drawn = (drawn + 1) % noise.size
        free[chosen] = step + tenure + noise[drawn] % 10
        if value > best + floor:
            best = value
            best_side[:] = side
    side[:] = best_side
    return best
