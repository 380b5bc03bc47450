"""From factors to cuts: random hyperplanes (Goemans and Williamson, 1995), then local search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.io import Graph
from unipd.run import interruption

FLOOR = 1e-9
"""Improvements below this share of the largest weight are rounding."""
TABU_STARTS = 8
"""Best rounded cuts that tabu search begins from."""
TENURE = 20
"""A node rests for one flip in so many nodes: long rests served sparse graphs best."""


def hyperplane_cuts(factor: Array, count: int, seed: int = 0) -> IntArray:
    """Return cuts by random hyperplanes, one a column: the signs of R g for Gaussian g.

    >>> int(hyperplane_cuts(np.array([[1.0], [-1.0]]), 1, seed=1).sum())
    0
    """
    columns = validate.integer("count", count, minimum=1)
    directions = np.random.default_rng(seed).standard_normal((factor.shape[1], columns))
    return np.where(factor @ directions >= 0.0, 1, -1).astype(np.int8)


def best_cut(
    graph: Graph, factor: Array, *, hyperplanes: int = 200, steps: int | None = None, seed: int = 0
) -> IntArray:
    """Return the sides (+1 or -1) of the best cut found from the factors of the semidefinite bound.

    Every rounded cut climbs by single flips; tabu search of ``steps`` flips goes on from the best few. A request to end
    (:mod:`unipd.run.interruption`) is looked at after every cut, and the best so far returned.

    Parameters
    ----------
    graph
        The graph.
    factor
        R of the solution X = R R^T, a row a node.
    hyperplanes
        Number of random hyperplanes.
    steps
        Flips of each tabu search; default 250 a node, at most 200,000 and less for large graphs.
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
    cuts = hyperplane_cuts(factor, hyperplanes, seed)
    flips = default_steps(graph.nodes) if steps is None else validate.integer("steps", steps, minimum=0)
    climbed = list(_until_requested(search.climbed(cuts[:, column]) for column in range(cuts.shape[1])))
    climbed.sort(key=lambda found: -found[0])
    best = climbed[:TABU_STARTS]
    searches = (search.searched(side, value, flips, seed + place) for place, (value, side) in enumerate(best))
    found = best if interruption.requested() else _until_requested(searches)
    return max(found, key=lambda pair: pair[0])[1].astype(np.int64)


def default_steps(nodes: int) -> int:
    """Return how many flips a tabu search makes: its work is nodes times flips.

    >>> default_steps(100), default_steps(20_000)
    (25000, 12500)
    """
    return int(min(250 * nodes, 200_000, max(250_000_000 // nodes, 1000)))


def _until_requested(cuts: Iterator[tuple[float, Array]]) -> Iterator[tuple[float, Array]]:
    """Give the cuts, at least one of them, until somebody asks to end."""
    for cut in cuts:
        yield cut
        if interruption.requested():
            return


class _Search:
    """Local search on one graph."""

    def __init__(self, graph: Graph) -> None:
        matrix = graph.adjacency()
        self._csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
        self._floor = FLOOR * float(np.abs(graph.weights).max()) if graph.edges else 0.0
        self._graph = graph

    def climbed(self, side: Array) -> tuple[float, Array]:
        """Return the cut after single flips, with its value."""
        from unipd.apps.maxcut import kernels

        out = side.astype(np.float64)
        gain = np.empty(out.size)
        kernels.gains(*self._csr, out, gain)
        kernels.ascend(*self._csr, out, gain, self._floor)
        return cut_value(self._graph, out), out

    def searched(self, side: Array, value: float, steps: int, seed: int) -> tuple[float, Array]:
        """Return the best cut of a tabu search, with its value."""
        from unipd.apps.maxcut import kernels

        if steps == 0:
            return value, side
        out, gain = side.copy(), np.empty(side.size)
        kernels.gains(*self._csr, out, gain)
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
