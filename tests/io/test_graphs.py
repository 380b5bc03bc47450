"""Graphs from files and from other libraries."""

import gzip
import io
import os
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.errors import FileFormatError, InvalidInput
from unipd.io import Graph, Limits, as_graph, read_graph


def dense(graph: Graph) -> np.ndarray:
    """Return the adjacency matrix, edge by edge."""
    out = np.zeros((graph.nodes, graph.nodes))
    for i, j, weight in zip(graph.rows, graph.cols, graph.weights, strict=True):
        assert i < j
        out[i, j] += weight
        out[j, i] += weight
    return out


def read(text: bytes, **options: Any) -> Graph:
    return read_graph(io.BytesIO(text), **options)


TRIANGLE = np.array([[0.0, 1.0, -2.5], [1.0, 0.0, 0.5], [-2.5, 0.5, 0.0]])
FILES = {
    "rudy": b"3 3\n1 2 1\n3 1 -2.5\n2 3 5e-1\n",
    "comments": b"# a\n% b\n 3\t3 \n\n1 2 1\n#x\n3 1 -2.5\n2 3 5e-1",
    "summed": b"3 5\n1 2 2\n2 1 -1\n3 1 -2.5\n2 3 0.5\n2 2 7\n",
    "mixed widths": b"3 3\n3 1 -2.5\n1 2\n2 3 .5\r\n",
    "edges": b"1 2 1\n1 3 -2.5\n2 3 .5\n",
    "sparse labels": b"-10 7 1\n9000000000 -10 -2.5\n7 9000000000 .5\n",
    "windows": b"\xef\xbb\xbf3 3\r\n1 2 1\r\n3 1 -2.5\r\n2 3 .5\r\n",
    "windows edges": b"\xef\xbb\xbf# a\r\n1 2 1\r\n1 3 -2.5\r\n2 3 .5\r\n",
    "words": b"ann bob 1\nann eve -2.5\neve bob .5\neve eve 3\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pack", [False, True])
def test_files_give_the_triangle(name: str, pack: bool) -> None:
    text = gzip.compress(FILES[name]) if pack else FILES[name]
    graph = read(text)
    order = [graph.labels.index(label) for label in ("ann", "bob", "eve")] if name == "words" else [0, 1, 2]
    np.testing.assert_array_equal(dense(graph)[np.ix_(order, order)], TRIANGLE)


def test_edges_in_utf_16_are_refused() -> None:
    with pytest.raises(FileFormatError, match=r"line 1: a zero byte: .* UTF-8"):
        read("1 2\n2 3\n".encode("utf-16"))


def test_labels_are_those_of_the_file() -> None:
    assert list(read(FILES["rudy"]).labels) == [1, 2, 3]
    assert read(FILES["sparse labels"]).labels == [-10, 7, 9000000000]
    assert read(FILES["words"]).labels == ["ann", "bob", "eve"]
    assert read(b"7 x\nx 8\n").labels == ["7", "x", "8"]


def test_the_form_of_a_file_of_two_columns() -> None:
    assert read(b"4 2\n1 2\n3 4\n").nodes == 4
    assert read(b"1 2\n2 3\n").nodes == 3
    assert read(b"4 2\n1 2\n3 4\n", form="edges").edges == 3
    assert read(b"5 0\n").edges == 0
    assert read(b"5 0\n", form="edges").labels == [0, 5]
    with pytest.raises(FileFormatError, match='form="edges"') as caught:
        read(b"4 3\n1 2\n3 4\n")
    assert caught.value.line == 1


WRONG = {
    "empty": (b"", {}, None, "no data"),
    "only comments": (b"# a\n", {}, 1, "no data"),
    "no header": (b"a b\n", {"form": "rudy"}, 1, "nodes and edges"),
    "three in the header": (b"3 1 1\n1 2 1\n", {"form": "rudy"}, 1, "nodes and edges"),
    "too few edges": (b"3 2\n1 2 1\n", {}, 1, "2 edges are declared and 1 follow"),
    "too many edges": (b"3 1\n1 2 1\n2 3 1\n", {}, 1, "1 edges are declared and 2 follow"),
    "node too large": (b"3 2\n1 2 1\n\n1 4 1\n", {}, 4, "between 1 and 3"),
    "node zero": (b"3 1\n0 2 1\n", {}, 2, "between 1 and 3"),
    "node fraction": (b"3 1\n1.5 2 1\n", {}, 2, "whole number"),
    "not a number": (b"3 2\n1 2 1\n1 3 one\n", {}, 3, "'one' is not a number"),
    "node word": (b"3 1\nx 2 1\n", {}, 2, "'x' is not a number"),
    "punctuation": (b"3 1\n1, 2, 1\n", {}, 2, "'1,' is not a number"),
    "nan": (b"3 1\n1 2 nan\n", {}, 2, "'nan' is not a number"),
    "infinite": (b"3 1\n1 2 1e999\n", {}, 2, "not finite"),
    "one column": (b"3 1\n1\n", {}, 2, "expected 3 or 2 numbers, got 1"),
    "four columns": (b"3 1\n1 2 3 4\n", {}, 2, "got 4"),
    "huge": (b"999999999 0\n", {}, 1, "more than the limit"),
    "limited": (b"9 0\n", {"limits": Limits(order=8)}, 1, "more than the limit of 8"),
    "long word list": (b"a b\na b c d\n", {}, 2, "got 4 words"),
    "word weight": (b"a b\n\na b heavy\n", {}, 3, "'heavy' is not a finite weight"),
    "nan weight": (b"a b nan\n", {}, 1, "'nan' is not a finite weight"),
    "infinite weight": (b"a b 1e999\n", {}, 1, "not a finite weight"),
    "damaged": (gzip.compress(FILES["rudy"])[:-9], {}, None, "damaged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_line(name: str) -> None:
    text, options, line, message = WRONG[name]
    with pytest.raises(FileFormatError, match=message) as caught:
        read(text, **options)
    assert caught.value.line == line


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InvalidInput, match="form"):
        read(b"1 1\n", form="dimacs")


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=60), st.text("0123456789 .-e#%x\n", max_size=60).map(str.encode)))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    try:
        graph = read(text, limits=Limits(order=100))
    except FileFormatError:
        return
    assert np.isfinite(graph.weights).all()
    assert np.all(graph.rows < graph.cols)
    assert len(graph.labels) == graph.nodes


edge_lists = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-3, 3).map(float)), min_size=1, max_size=12
)


@settings(max_examples=100)
@given(edge_lists)
def test_every_source_gives_the_same_graph(edges: list[tuple[int, int, float]]) -> None:
    naive = np.zeros((6, 6))
    for i, j, weight in edges:
        if i != j:
            naive[i, j] += weight
            naive[j, i] += weight
    other = nx.MultiGraph()
    other.add_nodes_from(range(6))
    other.add_weighted_edges_from(edges)
    text = f"6 {len(edges)}\n" + "".join(f"{i + 1} {j + 1} {weight!r}\n" for i, j, weight in edges)
    pairs = np.array([edge[:2] for edge in edges])
    weights = np.array([edge[2] for edge in edges])
    loops = sp.csr_array(naive + np.diag(np.arange(6.0)))
    sources = (as_graph((pairs, weights), nodes=6), as_graph(other), as_graph(loops), read(text.encode()))
    for graph in sources:
        np.testing.assert_array_equal(dense(graph), naive)
        np.testing.assert_array_equal(graph.adjacency().toarray(), naive)
        np.testing.assert_array_equal(graph.laplacian().toarray(), np.diag(naive.sum(axis=1)) - naive)


def test_networkx_attributes_and_labels() -> None:
    other = nx.Graph()
    other.add_edge("a", "b", cost=2.0)
    other.add_edge("b", "c")
    graph = as_graph(other, weight="cost")
    assert list(graph.labels) == ["a", "b", "c"]
    assert graph.weights.tolist() == [2.0, 1.0]
    assert as_graph(graph) is graph


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nx.DiGraph([(0, 1)]), "undirected"),
        (sp.csr_array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (sp.csr_array(np.ones((2, 3))), "square"),
        (sp.csr_array([[0.0, np.nan], [np.nan, 0.0]]), "finite"),
        ((np.array([[0.5, 1.0]]), None), "whole numbers"),
        ((np.array([[0, 1, 2]]), None), "shape"),
        ((np.array([[-1, 1]]), None), "whole numbers from 0"),
        ((np.array([[0, 1]]), [1.0, 2.0]), "one per edge"),
        ((np.array([[0, 1]]), [np.inf]), "finite"),
        (np.eye(2), "networkx graph"),
    ],
)
def test_bad_graphs_are_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        as_graph(value)


def test_weights_of_single_precision_stay_so() -> None:
    graph = as_graph((np.array([[0, 1], [1, 0]]), np.array([0.5, 0.25], np.float32)))
    assert graph.weights.dtype == np.float32
    assert graph.laplacian().dtype == np.float32


@pytest.mark.skipif("UNIPD_DATA" not in os.environ, reason="UNIPD_DATA does not point to the real instances")
@pytest.mark.parametrize(("name", "nodes", "edges"), [("G1", 800, 19176), ("G11", 800, 1600), ("G51", 1000, 5909)])
def test_gset_files_have_their_published_sizes(name: str, nodes: int, edges: int) -> None:
    graph = read_graph(Path(os.environ["UNIPD_DATA"], "gset", f"{name}.txt"))
    assert (graph.nodes, graph.edges) == (nodes, edges)
