"""The theta number of a graph (Lovász, 1979): between its independence number and the complement's chromatic number."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import validate
from unipd.apps.sdp import SDP, SdpResult
from unipd.apps.sdp.data import Block, SdpData
from unipd.io.graphs import Graph, as_graph
from unipd.maps.sdp import Entries


def theta_program(graph: Any) -> SDP:
    """Return max <11^T, X> subject to tr X = 1, X_ij = 0 for every edge ij, X psd.

    >>> theta_program(Graph.of(3, [0], [1], [1.0]))
    SDP(max, order=3, constraints=2, blocks=1)
    """
    known = as_graph(graph)
    nodes = np.arange(known.nodes)
    row, col = np.triu_indices(known.nodes)
    zeros = np.zeros_like(row)
    cost = Entries(zeros, zeros, row, col, -np.ones(row.size))
    constraint = np.concatenate([np.zeros_like(nodes), np.arange(1, known.edges + 1)])
    places = np.concatenate([nodes, known.rows]), np.concatenate([nodes, known.cols])
    entries = Entries(constraint, np.zeros_like(constraint), *places, np.ones(constraint.size))
    b = np.eye(1, known.edges + 1)[0]
    return SDP(SdpData(known.nodes, cost, entries, b, b, (Block(0, known.nodes, False),)), maximise=True)


def complement(graph: Any) -> Graph:
    """Return the graph whose edges are the pairs that are not joined, with unit weights.

    >>> complement(Graph.of(3, [0], [1], [1.0])).edges
    2
    """
    return as_graph(graph).complement()


def theta(
    graph: Any, accuracy: float = 1e-6, method: Any = "auto", *, complement: bool = False, **options: Any
) -> SdpResult:
    """Return the theta number as ``objective``, with a certified upper bound in ``dual_bound``.

    No independent set has more nodes than ``floor(dual_bound)``, and no colouring of the complement needs fewer
    colours than the theta number.

    Parameters
    ----------
    graph
        A :class:`~unipd.io.Graph`, a networkx graph, a symmetric SciPy sparse matrix or (edges, weights); weights
        do not count.
    complement
        Whether to take the graph of the missing edges: a bound of the size of the cliques of ``graph``, and of its
        chromatic number from below.
    accuracy, method, options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Examples
    --------
    The cycle of five nodes has theta = sqrt(5):

    >>> result = theta(Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], np.ones(5)))
    >>> round(result.objective, 4)
    2.2361
    """
    known = as_graph(graph)
    taken = known.complement() if validate.flag("complement", complement) else known
    return theta_program(taken).solve(accuracy, method, **options)
