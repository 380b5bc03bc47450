"""From factors to cuts: random hyperplanes (Goemans and Williamson, 1995), then local search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.io import Graph
from unipd.maps.chunks import available_threads, run_chunks
from unipd.run import interruption

BATCH = 64
"""Hyperplanes drawn at a time."""
FLOOR = 1e-9
"""Improvements below this share of the largest weight are rounding."""
POOL = 8
"""Best cuts that tabu search begins from, and that are crossed with one another."""
GENERATIONS = 5
"""How often new cuts are crossed from the best; the flips are shared out evenly."""
CROSSING_STREAM = 1
"""Second word of the seed of the crossings."""
TENURE = 20
"""A node rests for one flip in so many nodes: long rests served sparse graphs best."""


Cut = tuple[float, Array]
"""The value of a cut, and the side of each node."""


def hyperplane_cuts(factor: Array, count: int, seed: int = 0) -> Iterator[IntArray]:
    """Yield cuts by random hyperplanes, a batch at a time and one a column: the signs of R g for Gaussian g.

    >>> [cuts.shape for cuts in hyperplane_cuts(np.array([[1.0], [-1.0]]), 70, seed=1)]
    [(2, 64), (2, 6)]
    """
    rng = np.random.default_rng(seed)
    for first in range(0, validate.integer("count", count, minimum=1), BATCH):
        directions = rng.standard_normal((factor.shape[1], min(BATCH, count - first)))
        yield np.where(factor @ directions >= 0.0, 1, -1).astype(np.int8)


def best_cut(
    graph: Graph, factor: Array, *, hyperplanes: int = 200, steps: int | None = None, seed: int = 0
) -> IntArray:
    """Return the sides (+1 or -1) of the best cut found from the factors of the semidefinite bound.

    Every rounded cut climbs by single flips; tabu search goes on from the best few, and from cuts crossed from the best
    of these, which share the sides on which their parents agree. Cuts are worked on in parallel by Numba's number of
    threads, which changes no result. A request to end (:mod:`unipd.run.interruption`) is looked at before every cut,
    and the best so far returned.

    Parameters
    ----------
    graph
        The graph.
    factor
        R of the solution X = R R^T, a row a node.
    hyperplanes
        Number of random hyperplanes.
    steps
        Flips of tabu search for each of the best cuts, those of its successors included; default 250 a node, at most
        200,000 and less for large graphs.
    seed
        Seed of the hyperplanes and of the tie breaks.

    Examples
    --------
    >>> path = Graph.of(3, [0, 1], [1, 2], [1.0, 1.0])
    >>> sides = best_cut(path, np.array([[1.0, 0.1], [-1.0, 0.2], [1.0, 0.0]]), hyperplanes=3)
    >>> int(abs(np.diff(sides)).sum())
    4
    """
    search = _Search(graph)
    flips = default_steps(graph.nodes) if steps is None else validate.integer("steps", steps, minimum=0)
    best: list[Cut] = []
    for cuts in hyperplane_cuts(factor, hyperplanes, seed):
        climbed = _in_parallel(lambda column, cuts=cuts: search.climbed(cuts[:, column]), cuts.shape[1])
        best = _distinct(best + climbed)
        if interruption.requested():
            break
    starts, rng = tuple(side for _, side in best), np.random.default_rng([seed, CROSSING_STREAM])
    for generation in range(GENERATIONS + 1 if flips else 0):
        if interruption.requested():
            break
        seeds, share = seed + POOL * generation, -(-flips // (GENERATIONS + 1))
        searched = _in_parallel(lambda k, s=starts, n=share, o=seeds: search.searched(s[k], n, o + k), len(starts))
        best = _distinct(best + searched)
        starts = tuple(_crossed(best, rng) for _ in range(POOL))
    return best[0][1].astype(np.int64)


def _distinct(cuts: list[Cut]) -> list[Cut]:
    """Return the best cuts, the best first, no two of them the same."""
    found: list[Cut] = []
    for value, side in sorted(cuts, key=lambda cut: -cut[0]):
        if len(found) < POOL and all(abs(float(side @ other)) < side.size for _, other in found):
            found.append((value, side))
    return found


def _crossed(cuts: list[Cut], rng: np.random.Generator) -> Array:
    """Return the sides of two of the cuts where they agree, those of either where they do not."""
    first, second = (cuts[place][1] for place in rng.choice(len(cuts), 2, replace=len(cuts) < 2))
    return np.where(rng.random(first.size) < 0.5, first, second if first @ second >= 0.0 else -second)


def default_steps(nodes: int) -> int:
    """Return how many flips a tabu search makes: its work is nodes times flips.

    >>> default_steps(100), default_steps(20_000)
    (25000, 12500)
    """
    return int(min(250 * nodes, 200_000, max(250_000_000 // nodes, 1000)))


def _in_parallel(work: Callable[[int], Cut], count: int) -> list[Cut]:
    """Return work(0), work(1), ... in this order; after a request to end, the first and those that were done."""
    found: list[Cut | None] = [None] * count

    def do(place: int) -> None:
        if place == 0 or not interruption.requested():
            found[place] = work(place)

    run_chunks(do, count, available_threads(None))
    return [cut for cut in found if cut is not None]


class _Search:
    """Local search on one graph."""

    def __init__(self, graph: Graph) -> None:
        matrix = graph.adjacency()
        self._csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
        self._floor = FLOOR * float(np.abs(graph.weights).max()) if graph.edges else 0.0
        self._graph = graph

    def climbed(self, side: Array) -> Cut:
        """Return the cut after single flips, with its value."""
        from unipd.apps.maxcut import kernels

        out = side.astype(np.float64)
        gain = np.empty(out.size)
        kernels.gains(*self._csr, out, gain)
        kernels.ascend(*self._csr, out, gain, self._floor)
        return cut_value(self._graph, out), out

    def searched(self, side: Array, steps: int, seed: int) -> Cut:
        """Return the best cut of single flips and a tabu search, with its value."""
        from unipd.apps.maxcut import kernels

        out, gain = side.copy(), np.empty(side.size)
        kernels.gains(*self._csr, out, gain)
        kernels.ascend(*self._csr, out, gain, self._floor)
        tenure = max(3, out.size // TENURE)
        noise = np.random.default_rng(seed).integers(0, 2**31, 65_521)
        kernels.tabu(*self._csr, out, gain, steps, tenure, noise, self._floor)
        return cut_value(self._graph, out), out


def cut_value(graph: Graph, sides: Any) -> float:
    """Return the total weight of the edges between the two sides (+1 and -1).

    >>> cut_value(Graph.of(3, [0, 1], [1, 2], [1.0, 2.5]), np.array([1, 1, -1]))
    2.5
    """
    side = np.asarray(sides)
    return float(graph.weights[side[graph.rows] != side[graph.cols]].sum())
