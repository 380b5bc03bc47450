"""Graphs from what other libraries hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd.errors import InvalidInput
from unipd.io.graphs_model import Graph

_SYMMETRY = 1e-12
"""Largest difference between a weight and its mirror, relative to the largest weight."""


def as_graph(value: Any, *, nodes: int | None = None, weight: str = "weight") -> Graph:
    """Return a graph from what other libraries hold.

    Parameters
    ----------
    value
        A :class:`Graph`; an undirected networkx graph; a symmetric SciPy sparse adjacency matrix; or a pair
        (edges, weights) with edges of shape (e, 2), nodes counted from zero, and e weights (or None for ones).
    nodes
        Number of nodes of a pair (edges, weights); by default the largest index plus one.
    weight
        Name of the edge attribute of a networkx graph; an edge without it weighs 1.

    Examples
    --------
    >>> as_graph((np.array([[0, 1], [1, 2]]), None)).nodes
    3
    """
    if isinstance(value, Graph):
        return value
    if sp.issparse(value):
        return _from_adjacency(value)
    if hasattr(value, "is_directed") and hasattr(value, "edges"):
        return _from_networkx(value, weight)
    if isinstance(value, tuple) and len(value) == 2:
        return _from_edges(value[0], value[1], nodes)
    raise InvalidInput("graph", "a networkx graph, a SciPy sparse matrix or (edges, weights)", type(value).__name__)


def _from_edges(edges: Any, weights: Any, nodes: int | None) -> Graph:
    ends = np.asarray(edges)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
        raise InvalidInput("edges", "whole numbers of shape (e, 2)", f"{ends.dtype} of shape {ends.shape}")
    if nodes is None:
        nodes = int(ends.max()) + 1 if ends.size else 1
    values = np.ones(len(ends)) if weights is None else weights
    return Graph.of(nodes, ends[:, 0], ends[:, 1], values)


def _from_adjacency(matrix: Any) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput("adjacency", "a square matrix", f"shape {matrix.shape}")
    array: Any = sp.coo_array(matrix)
    validate.real_array("adjacency", array.data)
    gap = abs(array - array.T)
    if gap.nnz and gap.max() > _SYMMETRY * abs(array).max():
        raise InvalidInput("adjacency", "a symmetric matrix (an undirected graph)", "one that is not")
    upper: Any = sp.triu(array, 1, format="coo")
    return Graph.of(int(array.shape[0]), upper.row, upper.col, upper.data)


def _from_networkx(graph: Any, weight: str) -> Graph:
    if graph.is_directed():
        raise InvalidInput("graph", "an undirected graph", "a directed one (see its to_undirected)")
    labels = list(graph.nodes)
    number = {label: index for index, label in enumerate(labels)}
    edges = [(number[u], number[v], given) for u, v, given in graph.edges(data=weight, default=1.0)]
    values = validate.real_array(f"edge attribute {weight!r}", [edge[2] for edge in edges])
    ends = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2)
    return Graph.of(len(labels), ends[:, 0], ends[:, 1], values, labels)
