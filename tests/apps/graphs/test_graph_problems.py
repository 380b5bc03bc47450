"""Theta and bisection against known values and brute force."""

import itertools

import numpy as np
import pytest

from unipd.apps.graphs import bisect, cut_value
from unipd.apps.graphs.theta import theta
from unipd.errors import InvalidInput
from unipd.io import Graph


def cycle(nodes):
    here = np.arange(nodes)
    return Graph.of(nodes, here, (here + 1) % nodes, np.ones(nodes))


@pytest.mark.parametrize("nodes", [5, 7])
def test_theta_of_odd_cycles(nodes):
    angle = np.pi / nodes
    value = nodes * np.cos(angle) / (1 + np.cos(angle))
    result = theta(cycle(nodes))
    assert result.objective == pytest.approx(value, rel=1e-5)
    assert result.dual_bound >= value - 1e-9
    other = theta(cycle(nodes).complement())
    assert result.objective * other.objective == pytest.approx(nodes, rel=1e-5)
    assert theta(cycle(nodes), complement=True).objective == other.objective


def test_theta_of_perfect_graphs_is_the_independence_number():
    assert theta(cycle(6)).objective == pytest.approx(3.0, rel=1e-5)
    assert theta(Graph.of(4, [], [], [])).objective == pytest.approx(4.0, rel=1e-5)


def test_bisection_against_every_one():
    generator = np.random.default_rng(2)
    rows, cols = np.triu_indices(8, 1)
    graph = Graph.of(8, rows, cols, generator.integers(0, 4, rows.size).astype(float))
    values = []
    for half in itertools.combinations(range(1, 8), 3):
        side = -np.ones(8)
        side[[0, *half]] = 1
        values.append(cut_value(graph, side))
    found = bisect(graph)
    assert found.sides.sum() == 0
    assert found.sdp_bound <= min(values) + 1e-6
    assert found.cut_value == pytest.approx(min(values))


def test_bisection_needs_an_even_number_of_nodes():
    with pytest.raises(InvalidInput):
        bisect(cycle(5))
