"""A weighted undirected graph as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph: edge k joins ``rows[k] < cols[k]`` with ``weights[k]``; nodes count from zero.

    Edges given more than once, in either direction, are one edge whose weight is the sum. Self-loops are
    dropped: they change no cut and no Laplacian.

    >>> triangle = Graph.of(3, [0, 1, 2], [1, 2, 0], [1.0, 1.0, 2.0])
    >>> triangle.laplacian().toarray()
    array([[ 3., -1., -2.],
           [-1.,  2., -1.],
           [-2., -1.,  3.]])
    """

    nodes: int
    rows: IntArray
    cols: IntArray
    weights: Array
    labels: Sequence[Any]
    """What each node was called where the graph came from."""

    @classmethod
    def of(cls, nodes: int, first: Any, second: Any, weights: Any, labels: Sequence[Any] | None = None) -> Graph:
        """Return the graph with the given ends of edges, in either order, duplicates summed, loops dropped."""
        size = validate.integer("nodes", nodes, minimum=1)
        values = validate.real_array("weights", weights, ndim=1)
        ends = [_ends(name, end, size, values.size) for name, end in (("first", first), ("second", second))]
        low, high = np.minimum(*ends), np.maximum(*ends)
        proper = low != high
        key, edge = np.unique(low[proper] * size + high[proper], return_inverse=True)
        total = np.zeros(key.size, values.dtype)
        np.add.at(total, edge, values[proper])
        rows, cols = np.divmod(key, size)
        return cls(size, rows, cols, total, range(size) if labels is None else labels)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.rows.size)

    def adjacency(self) -> Any:
        """Return the symmetric matrix of weights as a SciPy CSR array."""
        ends = np.concatenate([self.rows, self.cols]), np.concatenate([self.cols, self.rows])
        return sp.csr_array((np.concatenate([self.weights] * 2), ends), shape=(self.nodes, self.nodes))

    def laplacian(self) -> Any:
        """Return L = diag(W 1) - W as a SciPy CSR array: x^T L x = sum over edges of w_ij (x_i - x_j)^2."""
        matrix = self.adjacency()
        return sp.csr_array(sp.diags_array(matrix.sum(axis=1)) - matrix)

    def complement(self) -> Graph:
        """Return the graph whose edges are the pairs that are not joined, with unit weights.

        >>> Graph.of(3, [0], [1], [1.0]).complement().edges
        2
        """
        joined = np.zeros((self.nodes, self.nodes), bool)
        joined[self.rows, self.cols] = True
        rows, cols = np.nonzero(np.triu(~joined, 1))
        return Graph.of(self.nodes, rows, cols, np.ones(rows.size), self.labels)


def _ends(name: str, given: Any, nodes: int, edges: int) -> IntArray:
    array = np.asarray(given)
    if array.shape != (edges,):
        raise InvalidInput(name, f"{edges} nodes, one an edge", f"shape {array.shape}")
    if edges == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= nodes:
        got = f"{array.dtype}, {array.min()} to {array.max()}"
        raise InvalidInput(name, f"whole numbers from 0 to {nodes - 1}", got)
    return array.astype(np.int64)
