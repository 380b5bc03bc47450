"""The flow polytope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import SparsePoint
from unipd.errors import InvalidInput
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


def test_a_cycle_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"cycle through node [123]"):
        FlowPolytope([0, 1, 2, 3, 3], [1, 2, 3, 1, 4], source=0, sink=4)
    with pytest.raises(InvalidInput, match="cycle through node 1"):
        FlowPolytope([0, 1], [1, 1], source=0, sink=1)


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
