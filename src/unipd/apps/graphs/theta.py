"""The theta number of a graph (Lovász, 1979): between independence number and the complement's chromatic number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._util import validate
from unipd.apps.sdp import SDP, SdpData
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries
from unipd.run import Result

ROUNDING = 1e-9
"""Added to the bound before it is rounded down: an integer may lie below itself by rounding errors."""


def theta_program(graph: Any) -> SDP:
    """Return max <11^T, X> subject to tr X = 1, X_ij = 0 for every edge ij, X psd.

    Parameters
    ----------
    graph
        A :class:`unipd.io.Graph`, a networkx graph, a symmetric sparse matrix, or (edges, weights).

    See Also
    --------
    maxcut_program, unipd.SDP

    Examples
    --------
    >>> from unipd.io import Graph
    >>> theta_program(Graph.of(3, [0], [1], [1.0]))
    SDP(max, order=3, constraints=2, blocks=1)
    """
    known = as_graph(graph)
    nodes = np.arange(known.nodes)
    row, col = np.triu_indices(known.nodes)
    cost = Entries(np.zeros_like(row), row, col, -np.ones(row.size))
    constraint = np.concatenate([np.zeros_like(nodes), np.arange(1, known.edges + 1)])
    places = np.concatenate([nodes, known.rows]), np.concatenate([nodes, known.cols])
    entries = Entries(constraint, *places, np.ones(constraint.size))
    b = np.eye(1, known.edges + 1)[0]
    return SDP(SdpData(known.nodes, cost, entries, b, b), maximise=True)


def theta(
    graph: Any, accuracy: float = 1e-6, method: Any = "auto", *, complement: bool = False, **options: Any
) -> Result:
    """Return the theta number as ``objective``, with a certified upper bound in ``dual_bound``.

    No independent set has more nodes than ``extras["independence_bound"]``, and no colouring of the complement needs
    fewer colours than the theta number.

    Parameters
    ----------
    graph
        A :class:`~unipd.io.Graph`, a networkx graph, a symmetric SciPy sparse matrix or (edges, weights); weights
        are ignored.
    accuracy, method, options
        As in :meth:`unipd.apps.sdp.SDP.solve`.
    complement
        Whether to use the complement graph: an upper bound on the clique number of ``graph``, and a lower bound on
        its chromatic number.

    Raises
    ------
    InvalidInput
        ``complement``: expected True or False.

    See Also
    --------
    unipd.apps.graphs.theta_program, unipd.MaxCut

    Examples
    --------
    The cycle of five nodes has theta = sqrt(5):

    >>> from unipd.io import Graph
    >>> result = theta(Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], np.ones(5)))
    >>> round(result.objective, 4)
    2.2361
    """
    content = as_graph(graph)
    program = theta_program(content.complement() if validate.flag("complement", complement) else content)
    result = program.solve(accuracy, method, **options)
    bound = math.floor(result.dual_bound + ROUNDING) if math.isfinite(result.dual_bound) else None
    return result.with_extras(theta=result.objective, theta_bound=result.dual_bound, independence_bound=bound)
