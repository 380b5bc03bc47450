"""Graph bisection: two halves of equal size with as little weight between them as possible, and a lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.apps.maxcut import cut_value
from unipd.apps.maxcut.cut import maxcut_program
from unipd.apps.sdp import SDP, SdpResult
from unipd.apps.sdp.data import SdpData
from unipd.errors import InvalidInput
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries


@dataclass(frozen=True)
class BisectionResult:
    """Two halves, and a lower bound of the weight between any two."""

    sides: IntArray
    cut_value: float
    sdp_bound: float
    sdp: SdpResult = field(repr=False)


def bisection_program(graph: Any) -> SDP:
    """Return min <L / 4, X> subject to diag(X) = 1, <11^T, X> = 0, X psd (an even number of nodes).

    >>> from unipd.io import Graph
    >>> bisection_program(Graph.of(2, [0], [1], [1.0]))
    SDP(min, order=2, constraints=3, blocks=1)
    """
    known = as_graph(graph)
    if known.nodes % 2:
        raise InvalidInput("graph", "an even number of nodes", str(known.nodes))
    cut = maxcut_program(known).data
    row, col = np.triu_indices(known.nodes)
    old = cut.constraints
    rows, cols = np.concatenate([old.row, row]), np.concatenate([old.col, col])
    constraint = np.concatenate([old.constraint, np.full(row.size, known.nodes)])
    values = np.concatenate([old.value, np.ones(row.size)])
    entries = Entries(constraint, np.zeros_like(constraint), rows, cols, values)
    cost = Entries(cut.cost.constraint, cut.cost.block, cut.cost.row, cut.cost.col, -cut.cost.value)
    b = np.concatenate([np.ones(known.nodes), np.zeros(1)])
    return SDP(SdpData(known.nodes, cost, entries, b, b, cut.blocks))


def bisect(
    graph: Any, accuracy: float = 1e-6, *, hyperplanes: int = 50, seed: int = 0, **options: Any
) -> BisectionResult:
    """Bound the bisection width of a graph and find a bisection: hyperplanes split at the median, then swaps.

    Parameters
    ----------
    graph
        As in :func:`unipd.apps.maxcut.maxcut`.
    accuracy
        Relative accuracy of the bound.
    hyperplanes, seed
        Random directions tried, and their seed.
    options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Examples
    --------
    Two triangles joined by an edge:

    >>> from unipd.io import Graph
    >>> found = bisect(Graph.of(6, [0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], np.ones(7)))
    >>> found.cut_value, found.sdp_bound <= 1.0
    (1.0, True)
    """
    known = as_graph(graph)
    result = bisection_program(known).solve(accuracy, seed=seed, **options)
    directions = np.random.default_rng(seed).standard_normal((result.x.left.shape[1], hyperplanes))
    matrix = known.adjacency()
    found = [_swapped(matrix, _halves(column)) for column in (result.x.left @ directions).T]
    sides = min(found, key=lambda side: cut_value(known, side))
    return BisectionResult(sides, cut_value(known, sides), result.dual_bound, result)


def _halves(values: Array) -> IntArray:
    """Return +1 for the larger half of the values and -1 for the rest."""
    sides = np.ones(values.size, np.int64)
    sides[np.argsort(values, kind="stable")[: values.size // 2]] = -1
    return sides


def _swapped(matrix: Any, sides: IntArray) -> IntArray:
    """Swap the best pair of nodes while that lowers the cut."""
    side = sides.copy()
    while True:
        gain = -side * (matrix @ side)
        plus, minus = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
        i, j = plus[np.argmax(gain[plus])], minus[np.argmax(gain[minus])]
        if gain[i] + gain[j] - 2.0 * matrix[i, j] <= 1e-12:
            return side
        side[i], side[j] = -1, 1
