"""Theta programs solved by cliques: perfect graphs with known independent sets, and programs that are left alone."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_bipartite_matching

import unipd
from unipd.apps.graphs import theta_program
from unipd.apps.graphs.theta import theta
from unipd.apps.sdp import SDP, SdpData, cover_once, find_equal_pair, list_maximal_cliques, solve_by_cliques
from unipd.io import Graph
from unipd.maps import Entries

HIGHS_IS_OLD = int(scipy.__version__.split(".")[1]) < 15
"""The linear program then ends at whole numbers by itself, and nothing is left to a search."""


def bipartite_graph(sides=(40, 60), seed=0, density=0.05):
    """Return a random bipartite graph and the size of its largest independent set (König)."""
    mask = np.random.default_rng(seed).random(sides) < density
    row, col = np.nonzero(mask)
    matched = np.count_nonzero(maximum_bipartite_matching(sp.csr_matrix(mask), perm_type="column") >= 0)
    return Graph.of(sum(sides), row, sides[0] + col, np.ones(row.size)), sum(sides) - matched


def interval_graph(nodes=150, length=0.03, seed=0):
    """Return the graph of random intervals that meet, and the most that do not (by their ends, greedily)."""
    start = np.random.default_rng(seed).random(nodes)
    end = start + length * np.random.default_rng(seed + 1).random(nodes)
    meet = np.triu((start[:, None] <= end) & (start <= end[:, None]), 1)
    count, last = 0, -np.inf
    for index in np.argsort(end):
        if start[index] > last:
            count, last = count + 1, end[index]
    row, col = np.nonzero(meet)
    return Graph.of(nodes, row, col, np.ones(row.size)), count


def rescale(program, seed=0):
    """Return a theta program with constraints in other units and of either sign, and the costs multiplied by 3."""
    data = program.data
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, data.size) * np.resize([1.0, -1.0], data.size)
    value = data.constraints.value * scale[data.constraints.constraint]
    cost = replace(data.cost, value=3.0 * data.cost.value)
    entries, b = replace(data.constraints, value=value), 5.0 * data.b * scale
    return replace(program, data=replace(data, cost=cost, constraints=entries, lower=b, upper=b))


def bordered_program(graph, side=0.0, border=2):
    """Return max sum_i (1 - 2 side) X_ii + 2 side X_bi subject to X_bb = 1, X_ii = X_bi, X_ij = 0 for every edge."""
    n = graph.nodes
    nodes = np.delete(np.arange(n + 1), border)
    low, high = np.minimum(nodes, border), np.maximum(nodes, border)
    number = np.arange(1, n + 1)
    edges = n + 1 + np.arange(graph.edges)
    cost = Entries(np.zeros(2 * n, int), np.r_[nodes, low], np.r_[nodes, high], np.repeat([2.0 * side - 1.0, -side], n))
    entries = Entries(
        np.r_[0, number, number, edges],
        np.r_[border, nodes, low, nodes[graph.rows]],
        np.r_[border, nodes, high, nodes[graph.cols]],
        np.r_[np.ones(n + 1), np.full(n, -0.5), np.ones(graph.edges)],
    )
    b = np.eye(1, n + 1 + graph.edges)[0]
    return SDP(SdpData(n + 1, cost, entries, b, b), maximise=True)


@pytest.mark.parametrize("make", [bipartite_graph, interval_graph])
@pytest.mark.parametrize("seed", range(4))
def test_perfect_graphs(make, seed):
    graph, size = make(seed=seed)
    forms = [theta_program(graph), bordered_program(graph), bordered_program(graph, 0.5), bordered_program(graph, 0.25)]
    for program, value in [(form, size) for form in forms] + [(rescale(form, seed), 15.0 * size) for form in forms]:
        found = solve_by_cliques(program.data)
        assert found is not None
        checked = unipd.certify(program, found.dual, found.x, accuracy=1e-9, rigorous=True)
        assert checked.status.success
        assert checked.bound_kind == "rigorous"
        assert checked.objective == pytest.approx(value, rel=1e-9)


def test_programs_that_take_long_are_solved_by_cliques_and_others_by_what_was_asked_for():
    graph, size = interval_graph(450, 0.05)
    result = theta(graph, accuracy=1e-9)
    assert (result.method, result.status.value, result.bound_kind) == ("cliques", "solved", "rigorous")
    assert result.objective == pytest.approx(size, rel=1e-9)
    assert result.extras["independence_bound"] == size
    chosen = np.flatnonzero(result.x.left[:, 0])
    assert chosen.size == size
    assert not np.isin(graph.rows, chosen)[np.isin(graph.cols, chosen)].any()
    for options in ({"rank": 3}, {"method": "factored"}, {"trace_bound": 1.0}, {"start": result}):
        other = theta(graph, accuracy=1e-2, stop=unipd.MaxIterations(1), **options)
        assert other.method == "factored"


def test_a_gap_between_independent_sets_and_cliques_leaves_the_program_to_others():
    cycle = Graph.of(5, [0, 1, 2, 3, 0], [1, 2, 3, 4, 4], np.ones(5))
    assert solve_by_cliques(theta_program(cycle).data) is None


def test_other_programs_are_not_taken_for_theta():
    program = theta_program(bipartite_graph((3, 4), density=0.5)[0])
    data = program.data
    weighted = replace(data.cost, value=data.cost.value * np.arange(1, data.cost.value.size + 1))
    nonzero, inequality = data.b.copy(), data.b.copy()
    nonzero[-1], inequality[-1] = 0.1, -np.inf
    others = [
        replace(data, cost=weighted),
        replace(data, cost=replace(data.cost, value=-data.cost.value)),
        replace(data, lower=nonzero, upper=nonzero),
        replace(data, lower=inequality),
        replace(data, lower=-data.b, upper=-data.b),
        replace(data, constraints=data.constraints.select(slice(1, None))),
    ]
    assert solve_by_cliques(data) is not None
    assert [solve_by_cliques(other) for other in others] == [None] * len(others)
    border = bordered_program(bipartite_graph((3, 4), density=0.5)[0]).data
    unequal = replace(border.cost, value=border.cost.value * np.arange(1, border.cost.value.size + 1))
    assert solve_by_cliques(border) is not None
    assert solve_by_cliques(replace(border, cost=unequal)) is None
    several = SDP.from_matrices(-np.ones((2, 2)), [np.eye(2), np.diag([1.0, 0.0])], [1.0, 0.0])
    assert solve_by_cliques(several.data) is None


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_maximal_cliques_by_brute_force(nodes, seed):
    rng = np.random.default_rng(seed)
    mask = np.triu(rng.random((nodes, nodes)) < rng.random(), 1)
    mask |= mask.T
    subsets = [set(part) for size in range(1, nodes + 1) for part in combinations(range(nodes), size)]
    whole = [part for part in subsets if all(mask[i, j] for i, j in combinations(part, 2))]
    maximal = [part for part in whole if not any(part < other for other in whole)]
    found = list_maximal_cliques([set(np.flatnonzero(row).tolist()) for row in mask], 2**nodes)
    assert sorted(map(sorted, found)) == sorted(map(sorted, maximal))
    assert len(maximal) == 1 or list_maximal_cliques([set(np.flatnonzero(row).tolist()) for row in mask], 1) is None


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_covers_become_exact(nodes, seed):
    rng = np.random.default_rng(seed)
    given_weights = {frozenset(np.flatnonzero(rng.random(nodes) < 0.5).tolist()): float(rng.random()) for _ in range(6)}
    given_weights |= {frozenset([node]): 1.0 for node in range(nodes)}
    weights = cover_once(given_weights, nodes)
    assert sum(weights.values()) == pytest.approx(sum(given_weights.values()))
    covered = [sum(weight for clique, weight in weights.items() if node in clique) for node in range(nodes)]
    assert covered == pytest.approx(np.ones(nodes))
    assert all(weight > 0.0 and any(clique <= other for other in given_weights) for clique, weight in weights.items())


def test_nodes_that_the_linear_program_leaves_open_are_decided_by_a_search(monkeypatch):
    """Cycles of five nodes with a pendant one: 1/2 everywhere is a vertex as good as the independent sets of three."""
    cycles, sought = [], []
    for first in range(0, 60, 6):
        cycles += [(first + k, first + (k + 1) % 5) for k in range(5)] + [(first, first + 5)]
    path = [(node, node + 1) for node in range(60, 1000)]
    search = scipy.optimize.milp
    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **options: sought.append(1) or search(*args, **options))
    independent, weights = find_equal_pair(cycles + path, 1001)
    assert sought or HIGHS_IS_OLD
    assert independent.sum() == 3 * 10 + 471
    assert sum(weights.values()) == pytest.approx(501.0)
    assert all(independent[list(clique)].sum() <= 1 for clique in cycles + path)
