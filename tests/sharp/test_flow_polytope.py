"""The flow polytope."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd.atoms import SparsePoint
from unipd.errors import InvalidInput, OracleError
from unipd.sharp import FlowPolytope

from .models import paths


@st.composite
def graphs(draw: Any) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return an acyclic graph whose nodes are numbered at random, with at least one path between two of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    count = draw(st.integers(2, 6))
    ends = np.sort(np.array([rng.choice(count, 2, replace=False) for _ in range(draw(st.integers(1, 10)))]), axis=1)
    source, sink = ends[rng.integers(len(ends))]
    numbering = rng.permutation(count)
    return numbering[ends[:, 0]], numbering[ends[:, 1]], int(numbering[source]), int(numbering[sink])


@settings(max_examples=60)
@given(graph=graphs(), seed=st.integers(0, 2**16))
def test_against_all_paths(graph: Any, seed: int) -> None:
    tails, heads, source, sink = graph
    oracle = FlowPolytope(tails, heads, source, sink)
    y = np.random.default_rng(seed).integers(-4, 5, tails.size).astype(float)
    every = paths(tails.tolist(), heads.tolist(), source, sink)
    answer = oracle(y)
    assert answer.value == (every @ y).max()
    assert answer.atom.dense().tolist() in every.tolist()
    assert oracle.contains(every.mean(axis=0))
    # The potentials solve the dual linear programme, so they certify the path on their own.
    potentials = oracle.potentials(y)
    used = (np.isfinite(potentials[tails])) & (np.isfinite(potentials[heads]))
    assert (potentials[heads[used]] >= potentials[tails[used]] + y[used]).all()
    assert potentials[sink] - potentials[source] == answer.value


def test_the_path_is_sparse_and_in_the_order_of_the_edges() -> None:
    oracle = FlowPolytope([2, 0, 1], [3, 1, 2], source=0, sink=3)
    atom = oracle(np.zeros(3, np.float32)).atom
    assert isinstance(atom, SparsePoint)
    assert atom.indices.tolist() == [0, 1, 2]
    assert atom.dtype == np.float32


def test_the_first_of_parallel_edges_wins_a_tie() -> None:
    oracle = FlowPolytope([0, 0, 0], [1, 1, 1], source=0, sink=1)
    assert oracle(np.array([1.0, 2.0, 2.0])).atom.dense().tolist() == [0.0, 1.0, 0.0]


def test_edges_off_every_path_have_no_potential_and_no_flow() -> None:
    oracle = FlowPolytope([0, 0, 3], [1, 2, 1], source=0, sink=1, nodes=5)
    potentials = oracle.potentials(np.array([1.0, 100.0, 100.0]))
    assert potentials.tolist() == [0.0, 1.0, -np.inf, -np.inf, -np.inf]
    assert not oracle.contains(np.array([0.0, 1.0, 1.0]))


def test_long_paths_need_no_recursion() -> None:
    count = 5000
    oracle = FlowPolytope(np.arange(count), np.arange(1, count + 1), source=0, sink=count)
    assert oracle.value(np.ones(count)).value == count


@settings(max_examples=60)
@given(seed=st.integers(0, 2**16))
def test_cycles_and_nonnegative_lengths(seed: int) -> None:
    """Against the shortest of all simple paths, with parallel edges, self-loops and lengths of zero."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 5, (12, 2))
    tails, heads = np.append(ends[:, 0], [1, 2]), np.append(ends[:, 1], [2, 1])
    lengths = rng.integers(0, 4, tails.size).astype(float)
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(5))
    graph.add_edges_from((tail, head, {"length": w}) for tail, head, w in zip(tails, heads, lengths, strict=True))
    if not networkx.has_path(graph, 0, 4):
        with pytest.raises(InvalidInput, match="a path from node 0 reaches"):
            FlowPolytope(tails, heads, 0, 4, nodes=5)
        return
    oracle = FlowPolytope(tails, heads, 0, 4, nodes=5)
    answer = oracle(-lengths)
    assert answer.value == -networkx.shortest_path_length(graph, 0, 4, "length")
    assert answer.value == oracle.value(-lengths).value
    assert oracle.contains(answer.atom.dense())
    assert answer.atom.inner(-lengths) == answer.value
    potentials = oracle.potentials(-lengths)
    used = np.isfinite(potentials[tails])
    assert (potentials[heads[used]] >= potentials[tails[used]] - lengths[used]).all()


def test_negative_lengths_on_a_cycle_are_refused_by_name() -> None:
    oracle = FlowPolytope([0, 1, 2, 3, 3], [1, 2, 3, 1, 4], source=0, sink=4)
    with pytest.raises(OracleError, match=r"edge 1, from node 1 to 2, has the negative length -0.5"):
        oracle(np.array([-1.0, 0.5, 0.0, -1.0, 0.0]))
    assert oracle.support(np.array([1.0, 0.5, 0.0, -1.0, 0.0])) == 1.5  # no cycle gains
    assert oracle.support(np.array([1.0, 0.5, 0.6, -1.0, 0.0])) == np.inf


def test_capacities_on_two_way_streets() -> None:
    """Route two units over a grid of two-way streets with capacities; the optimum by a linear program."""
    rng, side = np.random.default_rng(1), 6
    nodes = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in [(nodes[:-1], nodes[1:]), (nodes[:, :-1], nodes[:, 1:])]]
    )
    tails, heads = np.append(pairs[:, 0], pairs[:, 1]), np.append(pairs[:, 1], pairs[:, 0])
    costs, capacity = rng.uniform(1.0, 2.0, tails.size), np.full(tails.size, 0.7)
    flows = [FlowPolytope(tails, heads, 0, side * side - 1), FlowPolytope(tails, heads, side * side - 1, 0)]
    blocks = [unipd.sharp.Linear(costs, flow) for flow in flows]
    problem = unipd.Problem(blocks, [unipd.maps.Identity(tails.size)] * 2, capacity, "<=")
    result = unipd.solve(problem, accuracy=1e-7)
    values, places, right = flows[0].equations(np.arange(tails.size))
    balance = scipy.sparse.csc_array((values, places))
    both = scipy.sparse.block_diag([balance, balance])
    limits = scipy.sparse.hstack([scipy.sparse.eye_array(tails.size)] * 2)
    best = scipy.optimize.linprog(np.tile(costs, 2), limits, capacity, both, np.append(right, -right))
    assert result.status.success
    assert result.objective == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (([0, 1], [1, 2], 2, 0), "sink"),
        (([0], [1], 0, 0), "sink"),
        (([0], [1], 0, 2), "sink"),
        (([0], [1], -1, 1), "source"),
        (([0], [1, 2], 0, 1), "heads"),
        (([], [], 0, 1), "tails"),
        (([0.5], [1], 0, 1), "tails"),
        (([-1], [1], 0, 1), "tails"),
        (([0], [1], 0, 1, 1), "nodes"),
    ],
)
def test_bad_graphs(arguments: Any, argument: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        FlowPolytope(*arguments)
    assert caught.value.argument == argument
