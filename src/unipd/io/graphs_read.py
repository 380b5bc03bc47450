"""Reader of graph files: rudy (G-set) and plain edge lists."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.graphs_model import Graph
from unipd.io.sdpa_stream import BYTE_ORDER_MARK, Limits, Source, bounded, chunks
from unipd.io.sdpa_text import PLAIN, Layout, leading_numbers, number, numbers, shown, table

_COMMENTS = b"#%"
_LAYOUT = Layout(widths=(3, 2), comments=_COMMENTS, blanks=PLAIN)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_graph(source: Source, *, form: str = "auto", limits: Limits | None = None) -> Graph:
    r"""Read a weighted graph from a text file, compressed with gzip or not.

    Parameters
    ----------
    source
        A path, or a seekable binary stream.
    form
        "rudy": a first line ``nodes edges``, then one line ``i j`` or ``i j weight`` an edge, nodes counted from
        1 (the G-set files). "edges": such edge lines alone, with any labels between blanks; labels that are
        all whole numbers are sorted, others keep the order in which they appear. "auto" takes a first line of
        two whole numbers for the header of a rudy file, unless the next line also has two columns and some
        index does not fit it.
    limits
        What the file may ask for (:class:`~unipd.io.Limits`).

    Returns
    -------
    Graph
        Lines starting with ``#`` or ``%`` are comments, a missing weight is 1, edges given twice are summed
        and self-loops dropped. ``labels`` has the nodes' names in the file.

    Raises
    ------
    FileFormatError
        With the path and the line number.

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
    with bounded(source, bounds) as (stream, name):
        first, line = _first_line(stream, name)
        rest = list(chunks(stream, name, line + 1))
    header = _header(first) if form != "edges" else None
    if header is None and form == "rudy":
        raise FileFormatError(name, "expected the numbers of nodes and edges", line)
    if header is not None:
        rows, lines = _rows(rest, name)
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
    found = numbers(first.translate(PLAIN))
    if found is None or found.size != 2 or np.any(found != np.floor(found)) or found[0] < 1 or found[1] < 0:
        return None
    return float(found[0]), float(found[1])


def _rows(rest: list[tuple[bytes, int]], name: str) -> tuple[Array, IntArray]:
    parts = [table(text, _LAYOUT, name, line) for text, line in rest]
    rows = np.concatenate([part[0] for part in parts] or [np.zeros((0, 3))])
    lines = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.int64)])
    return rows, lines


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
        raise FileFormatError(name, f"{edges:.15g} edges are announced and {len(rows)} follow{hint}", line)
    ends = rows[:, :2]
    _require(np.all((ends >= 1) & (ends <= nodes), axis=1), lines, name, f"a node is not between 1 and {nodes:.15g}")
    _require(np.all(ends == np.floor(ends), axis=1), lines, name, "a node is not a whole number")
    _require(np.isfinite(rows[:, 2]), lines, name, "the weight is not finite")
    first, second = ends.astype(np.int64).T - 1
    return Graph.of(int(nodes), first, second, rows[:, 2], range(1, int(nodes) + 1))


def _edge_list(parts: list[tuple[bytes, int]], name: str) -> Graph:
    names: list[bytes] = []
    weights: list[float] = []
    for raw, line in _data_lines(parts):
        tokens = raw.split()
        if b"\0" in raw:
            raise FileFormatError(name, "a zero byte: the file is no plain text (is it UTF-16? save it as UTF-8)", line)
        if len(tokens) not in (2, 3):
            raise FileFormatError(name, f"expected two nodes and perhaps a weight, got {len(tokens)} words", line)
        names += tokens[:2]
        weights.append(_weight(tokens[2], name, line) if len(tokens) == 3 else 1.0)
    texts = [token.decode("utf-8", "backslashreplace") for token in names]
    if all(_WHOLE.fullmatch(text) for text in texts):
        labels, ids = np.unique(np.array([int(text) for text in texts]), return_inverse=True)
        return Graph.of(labels.size, ids[::2], ids[1::2], weights, labels.tolist())
    number: dict[str, int] = {}
    ids = np.array([number.setdefault(text, len(number)) for text in texts])
    return Graph.of(len(number), ids[::2], ids[1::2], weights, list(number))


def _data_lines(parts: list[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """Yield each line with data and its number."""
    for text, start in parts:
        for offset, raw in enumerate(text.split(b"\n")):
            data = raw.strip()
            if data and data[0] not in _COMMENTS:
                yield data, start + offset


def _weight(token: bytes, name: str, line: int) -> float:
    value = number(token)
    if value is None or not math.isfinite(value):
        raise FileFormatError(name, f"{shown(token)} is not a finite weight", line)
    return value


def _require(good: Any, lines: IntArray, name: str, problem: str) -> None:
    if not good.all():
        raise FileFormatError(name, problem, int(lines[np.argmin(good)]))
