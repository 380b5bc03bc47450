"""Compiled kernels of the flow polytope: topological order and longest paths (imported on first use)."""

from __future__ import annotations

import numpy as np
from numba import njit

from unipd._typing import Array, IntArray


@njit(cache=True)
def topological_order(starts: IntArray, heads: IntArray) -> IntArray:  # pragma: no cover - compiled
    """Return the nodes in topological order by Kahn's algorithm; fewer than all when there is a cycle.

    ``heads[starts[v] : starts[v + 1]]`` are the heads of the edges that leave node v.
    """
    count = starts.size - 1
    waiting = np.zeros(count, np.int64)
    for head in heads:
        waiting[head] += 1
    order = np.empty(count, np.int64)
    filled = 0
    for node in range(count):
        if waiting[node] == 0:
            order[filled] = node
            filled += 1
    done = 0
    while done < filled:
        node = order[done]
        done += 1
        for place in range(starts[node], starts[node + 1]):
            head = heads[place]
            waiting[head] -= 1
            if waiting[head] == 0:
                order[filled] = head
                filled += 1
    return order[:filled]


@njit(cache=True)
def longest_paths(
    lengths: Array, edges: IntArray, tails: IntArray, heads: IntArray, source: int, count: int
) -> tuple[Array, IntArray]:  # pragma: no cover - compiled
    """Return the greatest length from the source to every node (-inf: out of reach) and the last edge taken.

    ``edges`` lists edge numbers so that an edge comes after every edge into its tail.
    """
    distance = np.full(count, -np.inf)
    distance[source] = 0.0
    last = np.full(count, -1, np.int64)
    for edge in edges:
        candidate = distance[tails[edge]] + lengths[edge]
        if candidate > distance[heads[edge]]:
            distance[heads[edge]] = candidate
            last[heads[edge]] = edge
    return distance, last


@njit(cache=True)
def path_back(last: IntArray, tails: IntArray, source: int, sink: int) -> IntArray:  # pragma: no cover - compiled
    """Return the edges of the longest path from the source to the sink in the order they are taken."""
    length = 0
    node = sink
    while node != source:
        node = tails[last[node]]
        length += 1
    path = np.empty(length, np.int64)
    node = sink
    while node != source:
        length -= 1
        path[length] = last[node]
        node = tails[last[node]]
    return path
