"""Unit flows on a directed graph: the shortest-path polytope."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.lazy import compile_lazily
from unipd.atoms import SparsePoint
from unipd.errors import InvalidInput, OracleError
from unipd.sharp.base import SharpSet


class FlowPolytope(SharpSet):
    """Unit flows from a source to a sink on a directed graph; on an acyclic one, the convex hull of the paths.

    x has one entry per edge. [y]^# is the indicator of the path with the largest total y, found by dynamic
    programming in topological order in time linear in the number of edges. A graph with cycles also carries
    circulations, and X is unbounded: there every y must be nonpositive, that is -y a vector of lengths, and Dijkstra's
    method finds the shortest path (SciPy). Nonnegative costs with capacities, A x <= b for a nonnegative A, are of this
    kind; a positive entry of y is refused.

    Parameters
    ----------
    tails, heads
        The nodes, numbered from 0, that each edge leaves and enters. Parallel edges are allowed.
    source, sink
        The ends of the paths.
    nodes
        The number of nodes; by default the largest number met plus one.

    Raises
    ------
    InvalidInput
        ``sink``: expected a node other than the source; ``nodes``: expected an integer.

    See Also
    --------
    Birkhoff, unipd.maps.Incidence

    Examples
    --------
    >>> diamond = FlowPolytope([0, 0, 1, 2], [1, 2, 3, 3], source=0, sink=3)
    >>> diamond(np.array([1.0, 2.0, 1.0, 4.0])).atom.dense()
    array([0., 1., 0., 1.])

    With edges in both directions, y = -length:

    >>> street = FlowPolytope([0, 1, 1, 2, 0], [1, 0, 2, 1, 2], source=0, sink=2)
    >>> street(-np.array([1.0, 1.0, 1.0, 1.0, 3.0])).atom.dense()
    array([1., 0., 1., 0., 0.])
    """

    real_only = True

    def __init__(self, tails: Any, heads: Any, source: int, sink: int, nodes: int | None = None) -> None:
        self.tails, self.heads = _ends("tails", tails), _ends("heads", heads)
        if self.tails.size != self.heads.size:
            raise InvalidInput("heads", f"one for each of the {self.tails.size} edges", f"{self.heads.size}")
        super().__init__(self.tails.size)
        largest = int(max(self.tails.max(), self.heads.max()))
        self.nodes = largest + 1 if nodes is None else validate.integer("nodes", nodes, minimum=largest + 1)
        self.source, self.sink = self._node("source", source), self._node("sink", sink)
        if self.source == self.sink:
            raise InvalidInput("sink", "a node other than the source", repr(sink))
        order = self._topological_order()
        self._network = _Network(self.tails, self.heads, self.nodes) if order.size < self.nodes else None
        self._useful = self._sorted_edges(order) if self._network is None else np.zeros(0, np.intp)
        if self._network is not None and not np.isfinite(self._longest(np.zeros(self.size))[0][self.sink]):
            raise self._no_path()

    @property
    def atom_entries(self) -> int:
        """A path passes every node at most once."""
        return min(self.size, self.nodes - 1)

    def maximiser(self, direction: Array) -> Any:
        """Return the longest path (the edge met first among equals)."""
        _, last = self._longest(direction)
        path = np.sort(path_back(last, self.tails, self.source, self.sink))
        return SparsePoint(self.shape, path, np.ones(path.size, direction.dtype))

    def peak(self, direction: Array) -> float:
        """Return the length of the longest path; infinity where a cycle has a positive length."""
        if self._network is not None and direction.max() > 0.0:
            return -self._network.least_length(-direction.astype(np.float64), self.source, self.sink)
        return float(self._longest(direction)[0][self.sink])

    def potentials(self, direction: Any) -> FloatArray:
        """Return the longest length from the source to every node, -inf for those on no path to the sink.

        They are the multipliers of flow conservation: potential[head] >= potential[tail] + y on every edge of a
        path, with equality along the longest one.
        """
        return self._longest(self._validate_direction(direction))[0]

    def equations(self, places: Any) -> Any:
        """Return the balances of the nodes that the edges at these places meet."""
        ends = np.concatenate([self.tails[places], self.heads[places], [self.source, self.sink]])
        nodes, rows = np.unique(ends, return_inverse=True)
        balance = np.zeros(nodes.size)
        balance[rows[-2:]] = 1.0, -1.0
        count = places.size
        return np.repeat([1.0, -1.0], count), (rows[:-2], np.tile(np.arange(count), 2)), balance

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x >= 0, one unit leaves the source and enters the sink, and flow is conserved elsewhere."""
        point = self._point(x)
        if point is None or point.min() < -tolerance:
            return False
        balance = np.bincount(self.tails, point, self.nodes) - np.bincount(self.heads, point, self.nodes)
        balance[self.source] -= 1.0
        balance[self.sink] += 1.0
        return bool(np.abs(balance).max() <= tolerance)

    def _longest(self, direction: Array) -> tuple[FloatArray, IntArray]:
        lengths = np.ascontiguousarray(direction, np.float64)
        if self._network is not None:
            self._require_lengths(-lengths)
            distance, last = self._network.shortest_paths(-lengths, self.source)
            return -distance, last
        return longest_paths(lengths, self._useful, self.tails, self.heads, self.source, self.nodes)

    def _require_lengths(self, lengths: FloatArray) -> None:
        """Raise where an edge has a negative length."""
        edge = int(np.argmin(lengths))
        if lengths[edge] < 0.0:
            ends = f"edge {edge}, from node {self.tails[edge]} to {self.heads[edge]}"
            raise OracleError(
                f"{ends}, has the negative length {lengths[edge]:.4g} in a graph with cycles: "
                "FlowPolytope needs costs >= 0 and couplings whose multipliers keep lengths nonnegative "
                '(capacities "<="), or an acyclic graph'
            )

    def _no_path(self) -> InvalidInput:
        return InvalidInput("sink", f"a node that a path from node {self.source} reaches", repr(self.sink))

    def _node(self, name: str, node: Any) -> int:
        number = validate.integer(name, node, minimum=0)
        if number >= self.nodes:
            raise InvalidInput(name, f"a node below {self.nodes}", repr(node))
        return number

    def _sorted_edges(self, order: IntArray) -> IntArray:
        """Return the edges that lie on a path from source to sink, sorted by the topological place of their tail."""
        place = np.empty(self.nodes, np.int64)
        place[order] = np.arange(self.nodes)
        edges = np.argsort(place[self.tails], kind="stable")
        zeros = np.zeros(self.size)
        after = self._reachable_nodes(edges, self.tails, self.heads, self.source, zeros)
        by_head = np.argsort(-place[self.heads], kind="stable")
        before = self._reachable_nodes(by_head, self.heads, self.tails, self.sink, zeros)
        if not after[self.sink]:
            raise self._no_path()
        return edges[after[self.tails[edges]] & before[self.heads[edges]]]

    def _reachable_nodes(
        self, edges: IntArray, tails: IntArray, heads: IntArray, root: int, zeros: FloatArray
    ) -> Array:
        return np.isfinite(longest_paths(zeros, edges, tails, heads, root, self.nodes)[0])

    def _topological_order(self) -> IntArray:
        """Return the nodes in topological order, fewer than all when there is a cycle."""
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.tails, minlength=self.nodes))))
        return topological_order(starts, self.heads[np.argsort(self.tails, kind="stable")])


class _Network:
    """A graph with cycles in SciPy's form, which admits one edge between two nodes: the shortest of those given."""

    def __init__(self, tails: IntArray, heads: IntArray, nodes: int) -> None:
        self.tails, self.heads, self.nodes = tails, heads, nodes
        pairs = tails * nodes + heads
        self._order = np.argsort(pairs, kind="stable")
        self._first = np.flatnonzero(np.diff(pairs[self._order], prepend=-1))

    def shortest_paths(self, lengths: FloatArray, source: int) -> tuple[FloatArray, IntArray]:
        """Return the distance from the source to every node (inf: out of reach) and the last edge of the path there."""
        from scipy.sparse.csgraph import dijkstra

        distance, before = dijkstra(self._matrix(lengths), indices=source, return_predecessors=True)
        is_last = (before[self.heads] == self.tails) & (distance[self.tails] + lengths == distance[self.heads])
        edges, last = np.flatnonzero(is_last)[::-1], np.full(self.nodes, -1, np.int64)
        last[self.heads[edges]] = edges  # the first among equals
        return distance, last

    def least_length(self, lengths: FloatArray, source: int, sink: int) -> float:
        """Return the least length of a walk from source to sink, -inf where a cycle has a negative length."""
        from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

        try:
            return float(bellman_ford(self._matrix(lengths), indices=source)[sink])
        except NegativeCycleError:
            return -np.inf

    def _matrix(self, lengths: FloatArray) -> Any:
        least, first = np.minimum.reduceat(lengths[self._order], self._first), self._order[self._first]
        ends = self.tails[first].astype(np.int32), self.heads[first].astype(np.int32)  # SciPy 1.14 takes no others
        return scipy.sparse.csr_array((least, ends), shape=(self.nodes, self.nodes))


def _ends(name: str, nodes: Any) -> IntArray:
    try:
        array = np.asarray(nodes)
    except ValueError as error:
        raise InvalidInput(name, "a nonempty vector of node numbers", str(error)) from error
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise InvalidInput(name, "a nonempty vector of node numbers", f"{array.dtype} of shape {array.shape}")
    if array.min() < 0:
        raise InvalidInput(name, "node numbers from 0", f"{int(array.min())}")
    return np.ascontiguousarray(array, np.int64)


@compile_lazily()
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


@compile_lazily()
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


@compile_lazily()
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
