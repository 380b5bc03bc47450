"""Graph bisection: two halves of equal size with little weight between them, and a certified lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.printing import ReprMixin
from unipd.apps.graphs.maxcut import cut_value, maxcut_program
from unipd.apps.sdp import SDP, SdpData
from unipd.errors import InvalidInput
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries
from unipd.run import Result


@dataclass(frozen=True, repr=False)
class BisectionResult(ReprMixin):
    """A bisection and a lower bound on the weight of any.

    Parameters
    ----------
    sides
        +1 or -1 for each node, equally many.
    cut_value
        Total weight of the edges between the sides.
    sdp_bound
        No bisection is lighter: the certified bound from the semidefinite relaxation.
    result
        Result of the relaxation, with the figures of the bisection among its extras.

    See Also
    --------
    unipd.apps.graphs.bisect

    Examples
    --------
    >>> path = bisect(([(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0]))
    >>> path.cut_value, path.sdp_bound <= 1.0
    (1.0, True)
    """

    sides: IntArray
    cut_value: float
    sdp_bound: float
    result: Result = field(repr=False)


def bisection_program(graph: Any) -> SDP:
    """Return min <L / 4, X> subject to diag(X) = 1, <11^T, X> = 0, X psd (an even number of nodes).

    Parameters
    ----------
    graph
        A :class:`unipd.io.Graph`, a networkx graph, a symmetric sparse matrix, or (edges, weights).

    Raises
    ------
    InvalidInput
        If the number of nodes is odd.

    See Also
    --------
    maxcut_program, bisect

    Examples
    --------
    >>> from unipd.io import Graph
    >>> bisection_program(Graph.of(2, [0], [1], [1.0]))
    SDP(min, order=2, constraints=3, blocks=1)
    """
    known = as_graph(graph)
    if known.nodes % 2:
        raise InvalidInput("graph", "an even number of nodes", str(known.nodes))
    cut = maxcut_program(known).data
    row, col = np.triu_indices(known.nodes)
    balance = Entries(np.full(row.size, known.nodes), row, col, np.ones(row.size))
    entries = Entries.concatenate([cut.constraints, balance])
    b = np.append(cut.b, 0.0)
    return SDP(SdpData(known.nodes, replace(cut.cost, value=-cut.cost.value), entries, b, b))


def bisect(
    graph: Any, accuracy: float = 1e-6, *, hyperplanes: int = 50, seed: int = 0, **options: Any
) -> BisectionResult:
    """Bound the bisection width of a graph and find a bisection: hyperplanes split at the median, then swaps.

    Parameters
    ----------
    graph
        As in :func:`unipd.apps.graphs.maxcut.maxcut`.
    accuracy
        Relative accuracy of the bound.
    hyperplanes, seed
        Number of random directions, and their seed.
    options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Returns
    -------
    BisectionResult

    See Also
    --------
    bisection_program, unipd.apps.graphs.maxcut.maxcut

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
    bisections = [_swap_pairs(matrix, _halves(column)) for column in (result.x.left @ directions).T]
    sides = min(bisections, key=lambda side: cut_value(known, side))
    value, bound = cut_value(known, sides), result.dual_bound
    extras: dict[str, Any] = {"cut_value": value, "sdp_bound": bound, "sides": sides}
    result = result.with_extras(**extras, nodes=known.nodes, edges=known.edges)
    return BisectionResult(sides, value, bound, result)


def _halves(values: Array) -> IntArray:
    """Return +1 for the larger half of the values and -1 for the rest."""
    sides = np.ones(values.size, np.int64)
    sides[np.argsort(values, kind="stable")[: values.size // 2]] = -1
    return sides


def _swap_pairs(matrix: Any, sides: IntArray) -> IntArray:
    """Swap the best pair of nodes while the cut decreases."""
    side = sides.copy()
    while True:
        gain = -side * (matrix @ side)
        plus, minus = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
        i, j = plus[np.argmax(gain[plus])], minus[np.argmax(gain[minus])]
        if gain[i] + gain[j] - 2.0 * matrix[i, j] <= 1e-12:
            return side
        side[i], side[j] = -1, 1
