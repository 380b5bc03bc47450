"""Weighted undirected graphs: rudy (G-set) files, edge lists, and the graphs of other libraries."""

from __future__ import annotations

import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import (
    BYTE_ORDER_MARK,
    LINE_LIMIT,
    PLAIN,
    Limits,
    Source,
    TableLayout,
    leading_numbers,
    open_bounded,
    parse_number,
    parse_numbers,
    quote_token,
    read_chunks,
    read_table,
    require_rows,
)
from unipd.memory import require_room


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph: edge k joins ``rows[k] < cols[k]`` with ``weights[k]``; nodes count from zero.

    Edges given more than once, in either direction, are one edge whose weight is the sum. Self-loops are
    dropped: they change no cut and no Laplacian.

    Parameters
    ----------
    nodes
        Number of nodes.
    rows
        Smaller end of each edge, from 0.
    cols
        Larger end of each edge, from 0.
    weights
        Weight of each edge.
    labels
        Name of each node in the source.

    See Also
    --------
    read_graph, as_graph, unipd.MaxCut

    Examples
    --------
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

    @classmethod
    def of(cls, nodes: int, first: Any, second: Any, weights: Any, labels: Sequence[Any] | None = None) -> Graph:
        """Return the graph with the given ends of edges, in either order, duplicates summed, loops dropped.

        Parameters
        ----------
        nodes
            Their number.
        first, second
            The ends of the edges, integers from 0.
        weights
            The weights of the edges.
        labels
            Names of the nodes; default: their numbers.
        """
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
        raise InvalidInput(name, f"{edges} nodes, one per edge", f"shape {array.shape}")
    if edges == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= nodes:
        got = f"{array.dtype}, {array.min()} to {array.max()}"
        raise InvalidInput(name, f"whole numbers from 0 to {nodes - 1}", got)
    return array.astype(np.int64)


_COMMENTS = b"#%"
_LAYOUT = TableLayout(widths=(3, 2), comments=_COMMENTS, blanks=PLAIN)
_GROWTH = 12.0
"""Bytes of arrays per byte of the text of a table: two numbers of eight bytes each for "1 2", and copies."""
_LOOK, _EDGE_BYTES = 1 << 16, 500
"""Edges between two looks at the available memory, and bytes of an edge of two new labels."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_graph(source: Source, *, form: str = "auto", limits: Limits | None = None) -> Graph:
    r"""Read a weighted graph from a text file, compressed with gzip or not.

    Parameters
    ----------
    source
        A path, or a binary stream.
    form
        "rudy": a first line ``nodes edges``, then one line ``i j`` or ``i j weight`` per edge, nodes counted from
        1 (the G-set files). "edges": such edge lines alone, with any labels between blanks; labels that are
        all whole numbers are sorted, others keep the order in which they appear. "auto" takes a first line of
        two whole numbers for the header of a rudy file, unless the next line also has two columns and some
        index does not fit it.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    Graph
        Lines starting with ``#`` or ``%`` are comments, a missing weight is 1, edges given twice are summed
        and self-loops dropped. ``labels`` has the nodes' names in the file.

    Raises
    ------
    InvalidInput
        If ``form`` is unknown.
    FileFormatError
        With the path and the line number.

    See Also
    --------
    Graph, as_graph

    Examples
    --------
    >>> read_graph(io.BytesIO(b"3 2\n1 2 1.5\n2 3 -1\n")).weights
    array([ 1.5, -1. ])
    >>> read_graph(io.BytesIO(b"% friends\nann bob\nbob eve\n")).labels
    ['ann', 'bob', 'eve']
    """
    if form not in ("auto", "rudy", "edges"):
        raise InvalidInput("form", '"auto", "rudy" or "edges"', repr(form))
    bounds = limits or Limits()
    with open_bounded(source, bounds, LINE_LIMIT) as (stream, name):
        first, line = _first_line(stream, name)
        rest = list(read_chunks(stream, name, line + 1))
    require_room(name, _GROWTH * sum(len(text) for text, _ in rest))
    header = _header(first) if form != "edges" else None
    if header is None and form == "rudy":
        raise FileFormatError(name, "expected the numbers of nodes and edges", line)
    if header is not None:
        parts = [read_table(text, _LAYOUT, name, number) for text, number in rest or [(b"", 0)]]
        rows, lines = (np.concatenate(column) for column in zip(*parts, strict=True))
        if form == "rudy" or _fits(header, rest, rows):
            return _rudy(header, rows, lines, name, line, bounds)
    return _edge_list([(first + b"\n", line), *rest], name)


def _first_line(stream: io.BufferedReader, name: str) -> tuple[bytes, int]:
    """Return the first line with data and its number."""
    line = 0
    while raw := stream.readline():
        line += 1
        data = (raw.removeprefix(BYTE_ORDER_MARK) if line == 1 else raw).strip()
        if data and data[0] not in _COMMENTS:
            return data, line
    raise FileFormatError(name, "the file has no data", line or None)


def _header(first: bytes) -> tuple[float, float] | None:
    """Return (nodes, edges) when the line can be a rudy header."""
    found = parse_numbers(first.translate(PLAIN))
    is_header = found is not None and found.size == 2 and np.all(found == np.floor(found)) and np.all(found >= (1, 0))
    return (float(found[0]), float(found[1])) if found is not None and is_header else None


def _fits(header: tuple[float, float], rest: list[tuple[bytes, int]], rows: Array) -> bool:
    """Whether the lines after a possible rudy header can be its edges."""
    columns = next((leading_numbers(raw)[0].size for raw, _ in _data_lines(rest)), 3)
    ends = rows[:, :2]
    return columns == 3 or bool(np.all((ends >= 1) & (ends <= header[0])))


def _rudy(header: tuple[float, float], rows: Array, lines: IntArray, name: str, line: int, limits: Limits) -> Graph:
    nodes, edges = header
    if nodes > limits.order:
        raise FileFormatError(name, f"{nodes:g} nodes are more than the limit of {limits.order}", line)
    if edges != len(rows):
        hint = ' (if this line is an edge, give form="edges", in the shell --form edges)'
        raise FileFormatError(name, f"{edges:.15g} edges are declared and {len(rows)} follow{hint}", line)
    ends = rows[:, :2]
    inside = np.all((ends >= 1) & (ends <= nodes), axis=1)
    require_rows(inside, lines, name, f"a node is not between 1 and {nodes:.15g}")
    require_rows(np.all(ends == np.floor(ends), axis=1), lines, name, "a node is not a whole number")
    require_rows(np.isfinite(rows[:, 2]), lines, name, "the weight is not finite")
    first, second = ends.astype(np.int64).T - 1
    return Graph.of(int(nodes), first, second, rows[:, 2], range(1, int(nodes) + 1))


def _edge_list(parts: list[tuple[bytes, int]], name: str) -> Graph:
    number: dict[bytes, int] = {}
    ends, weights = array("q"), array("d")
    for raw, line in _data_lines(parts):
        tokens = raw.split()
        if len(tokens) not in (2, 3):
            raise FileFormatError(name, f"expected two nodes and perhaps a weight, got {len(tokens)} words", line)
        ends.extend(number.setdefault(token, len(number)) for token in tokens[:2])
        weight = parse_number(tokens[2]) if len(tokens) == 3 else 1.0
        if weight is None or not math.isfinite(weight):
            raise FileFormatError(name, f"{quote_token(tokens[2])} is not a finite weight", line)
        weights.append(weight)
        if len(weights) % _LOOK == 0:
            require_room(name, _LOOK * _EDGE_BYTES)
    labels, place = _sort_labels([token.decode("utf-8", "backslashreplace") for token in number])
    first, second = place[np.array(ends, np.int64)].reshape(-1, 2).T
    return Graph.of(len(labels), first, second, np.array(weights), labels)


def _sort_labels(texts: list[str]) -> tuple[list[Any], IntArray]:
    """Return the labels of the nodes, and the node of each text: 1 and 01 are the same whole number."""
    if all(_WHOLE.fullmatch(text) for text in texts):
        labels, place = np.unique(np.array([int(text) for text in texts]), return_inverse=True)
        return labels.tolist(), place
    number: dict[str, int] = {}
    place = np.array([number.setdefault(text, len(number)) for text in texts])
    return list(number), place


def _data_lines(parts: list[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """Yield each line with data and its number."""
    for text, start in parts:
        for offset, raw in enumerate(text.split(b"\n")):
            data = raw.strip()
            if data and data[0] not in _COMMENTS:
                yield data, start + offset


def as_graph(value: Any, *, nodes: int | None = None, weight: str = "weight") -> Graph:
    """Convert a graph of another library.

    Parameters
    ----------
    value
        A :class:`Graph`; an undirected networkx graph; a symmetric SciPy sparse adjacency matrix; or a pair
        (edges, weights) with edges of shape (e, 2), nodes counted from zero, and e weights (or None for ones).
    nodes
        Number of nodes of a pair (edges, weights); by default the largest index plus one.
    weight
        Name of the edge attribute of a networkx graph; an edge without it weighs 1.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidInput
        If the value is none of these, a graph is directed, an adjacency matrix is not square and symmetric, edges are
        not pairs of nodes counted from zero (below ``nodes``), or there is not one finite weight for every edge.

    See Also
    --------
    Graph, read_graph

    Examples
    --------
    >>> as_graph((np.array([[0, 1], [1, 2]]), None)).nodes
    3
    """
    if isinstance(value, Graph):
        return value
    if sp.issparse(value):
        return _from_adjacency(value)
    if hasattr(value, "is_directed"):
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
    if gap.nnz and gap.max() > validate.SYMMETRY * abs(array).max():
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
