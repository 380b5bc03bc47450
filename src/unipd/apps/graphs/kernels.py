"""Compiled local search for cuts: one-flip ascent, annealing and crossover, on the adjacency matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._util.lazy import njit


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
def anneal(
    starts: Any,
    indices: Any,
    weights: Any,
    side: Any,
    gain: Any,
    hot: float,
    cold: float,
    sweeps: int,
    seed: Any,
    floor: float,
) -> float:
    """Do Metropolis sweeps at temperatures from ``hot`` to ``cold``; leave the best cut seen, return its improvement.

    The cut is compared with the best after every sweep. Random bits come from a xorshift generator (Marsaglia, 2003),
    whose ``seed`` is any positive 64-bit number.
    """
    bits, unit = np.uint64(seed), 1.0 / 2.0**53
    best_side, value, best = side.copy(), 0.0, 0.0
    for sweep in range(sweeps):
        temperature = hot + (cold - hot) * sweep / max(1, sweeps - 1)
        for node in range(side.size):
            rise = gain[node]
            if rise <= 0.0:
                bits ^= bits << np.uint64(13)
                bits ^= bits >> np.uint64(7)
                bits ^= bits << np.uint64(17)
                chance = 0.5 if rise == 0.0 else np.exp(rise / temperature)
                if (bits >> np.uint64(11)) * unit >= chance:
                    continue
            value += rise
            flip(starts, indices, weights, side, gain, node)
        if value > best + floor:
            best = value
            best_side[:] = side
    side[:] = best_side
    return best


@njit(cache=True, nogil=True)
def combine(starts: Any, indices: Any, weights: Any, side: Any, other: Any, floor: float) -> float:
    """Improve a cut by what another does better: return the improvement.

    The nodes on which the two differ fall into connected components, and flipping one of them changes the cut by
    an amount that does not depend on the rest: those that improve it are flipped.
    """
    size = side.size
    seen, improves, queue = np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.empty(size, np.int64)
    improvement = 0.0
    for root in range(size):
        if seen[root] or side[root] == other[root]:
            continue
        seen[root] = True
        queue[0] = root
        head, tail, rise = 0, 1, 0.0
        while head < tail:
            node = queue[head]
            head += 1
            for place in range(starts[node], starts[node + 1]):
                near = indices[place]
                if side[near] == other[near]:
                    rise += weights[place] * side[node] * side[near]
                elif not seen[near]:
                    seen[near] = True
                    queue[tail] = near
                    tail += 1
        if rise > floor:
            improvement += rise
            improves[queue[:tail]] = True
    for node in range(size):
        if improves[node]:
            side[node] = -side[node]
    return improvement
