"""Submodular minimisation against all subsets and maximum flows, and its certificate."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd.apps.learning import CutFunction, minimise
from unipd.errors import InvalidInput, OracleError
from unipd.io import Graph


def random_cut(nodes: int, edges: int, seed: int) -> CutFunction:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    return CutFunction(Graph.of(nodes, *ends, rng.random(edges)), rng.standard_normal(nodes))


def cut_value(function: CutFunction, mask: np.ndarray) -> float:
    """Return F(S) from its definition."""
    graph = function.graph
    crossing = sum(w for i, j, w in zip(graph.rows, graph.cols, graph.weights, strict=True) if mask[i] != mask[j])
    return float(crossing + function.prices[mask].sum())


def least(value: Any, size: int) -> float:
    return min(value(np.array(bits, bool)) for bits in itertools.product([0, 1], repeat=size))


@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 9), edges=st.integers(0, 20))
@settings(max_examples=40)
def test_cuts_against_all_subsets(seed: int, nodes: int, edges: int) -> None:
    function = random_cut(nodes, edges, seed)
    found = minimise(function)
    mask = np.zeros(nodes, bool)
    mask[found.members] = True
    assert found.is_certified
    assert found.value == pytest.approx(cut_value(function, mask), abs=1e-9)
    assert found.value == pytest.approx(least(lambda s: cut_value(function, s), nodes), abs=1e-9)
    assert found.bound <= found.value + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_a_function_of_masks_against_all_subsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    covers, prices = rng.random((8, 12)) < 0.3, rng.uniform(0.5, 2.0, 8)

    def value(mask: np.ndarray) -> float:
        return float(covers[mask].any(axis=0).sum() - prices[mask].sum())

    found = minimise(value, 8)
    assert found.is_certified
    assert found.value == pytest.approx(least(value, 8), abs=1e-9)


def test_minimum_cut_with_terminals_against_a_flow() -> None:
    networkx = pytest.importorskip("networkx")
    function = random_cut(120, 500, 5)
    flow = networkx.DiGraph()
    flow.add_nodes_from(["source", "sink"])
    for i, j, weight in zip(function.graph.rows, function.graph.cols, function.graph.weights, strict=True):
        flow.add_edge(int(i), int(j), capacity=weight)
        flow.add_edge(int(j), int(i), capacity=weight)
    for node, price in enumerate(function.prices):
        ends = ("source", node) if price < 0 else (node, "sink")
        flow.add_edge(*ends, capacity=abs(price))
    value, _ = networkx.minimum_cut(flow, "source", "sink")
    found = minimise(function)
    assert found.is_certified
    assert found.value == pytest.approx(value + function.prices[function.prices < 0].sum(), rel=1e-9)


def test_a_run_that_is_cut_short_does_not_claim_more_than_it_proved() -> None:
    function = random_cut(60, 300, 1)
    short = minimise(function, stop=unipd.MaxIterations(1))
    full = minimise(function)
    assert not short.is_certified
    assert short.bound <= full.value <= short.value


def test_the_empty_set_is_best_when_everything_costs() -> None:
    found = minimise(CutFunction(Graph.of(3, [0, 1], [1, 2], [1.0, 1.0]), [1.0, 2.0, 0.5]))
    assert (found.members.size, found.value, found.is_certified) == (0, 0.0, True)


def test_bad_input() -> None:
    triangle = Graph.of(3, [0, 1, 2], [1, 2, 0], [1.0, -1.0, 2.0])
    with pytest.raises(InvalidInput, match="graph"):
        CutFunction(triangle)
    with pytest.raises(InvalidInput, match="prices"):
        CutFunction(Graph.of(2, [0], [1], [1.0]), [1.0])
    with pytest.raises(InvalidInput, match="size"):
        minimise(lambda mask: 0.0)
    with pytest.raises(InvalidInput, match="function"):
        minimise(3.0, 4)
    with pytest.raises(InvalidInput, match="accuracy"):
        minimise(lambda mask: 0.0, 3, accuracy=-1.0)
    with pytest.raises(OracleError, match="finite"):
        minimise(lambda mask: np.nan, 3)
