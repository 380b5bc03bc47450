"""MaxCut: kernels and rounding against brute force, the bound against every cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import Status
from unipd.apps.graphs import MaxCut, best_cut, cut_value, hyperplane_cuts, kernels
from unipd.apps.graphs.maxcut import _best_distinct, _crossover, maxcut, maxcut_program
from unipd.apps.sdp.formulation import analyse
from unipd.errors import InvalidInput
from unipd.io import Graph
from unipd.memory import limited_memory, resident_memory


def random_graph(seed, nodes=9, density=0.6):
    generator = np.random.default_rng(seed)
    rows, cols = np.triu_indices(nodes, 1)
    keep = generator.random(rows.size) < density
    keep[0] = True
    return Graph.of(nodes, rows[keep], cols[keep], generator.integers(-2, 5, keep.sum()).astype(float))


def every_cut(graph):
    """Values of all cuts, one by one over the edges."""
    for bits in itertools.product((-1, 1), repeat=graph.nodes - 1):
        side = (1, *bits)
        yield sum(w for i, j, w in zip(graph.rows, graph.cols, graph.weights, strict=True) if side[i] != side[j])


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_bound_and_cut_bracket_the_maximum(seed):
    graph = random_graph(seed)
    best = max(every_cut(graph))
    found = maxcut(graph, 1e-4, hyperplanes=10)
    assert found.cut_value <= best <= found.sdp_bound + 1e-9
    assert found.cut_value == pytest.approx(best)
    assert cut_value(graph, found.sides) == pytest.approx(found.cut_value)
    assert set(found.sides) <= {-1, 1}


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_gains_and_flips_are_those_of_the_cut(seed):
    graph = random_graph(seed)
    matrix = graph.adjacency()
    csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    side = np.where(np.random.default_rng(seed).random(graph.nodes) < 0.5, 1.0, -1.0)
    gain = side * (matrix @ side)
    for node in range(graph.nodes):
        turned = side.copy()
        turned[node] *= -1
        assert gain[node] == pytest.approx(cut_value(graph, turned) - cut_value(graph, side))
    before = cut_value(graph, side)
    rise = kernels.ascend(*csr, side, gain, 1e-9)
    assert cut_value(graph, side) == pytest.approx(before + rise)
    assert gain.max() <= 1e-9
    np.testing.assert_allclose(gain, side * (matrix @ side), atol=1e-9)
    noise = np.random.default_rng(seed).integers(0, 1000, 101)
    middle = cut_value(graph, side)
    rise = kernels.tabu(*csr, side, gain, 200, 3, noise, 1e-9)
    assert rise >= 0.0
    assert cut_value(graph, side) == pytest.approx(middle + rise)


def test_rounding_repeats_and_differs_by_seed():
    factor = np.random.default_rng(0).standard_normal((20, 4))
    first, again, other = (next(hyperplane_cuts(factor, 5, number)) for number in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    graph = random_graph(1, 20)
    np.testing.assert_array_equal(best_cut(graph, factor, seed=3), best_cut(graph, factor, seed=3))


def test_rounding_is_the_same_on_one_and_two_threads():
    import numba

    graph, factor = random_graph(2, 30), np.random.default_rng(1).standard_normal((30, 4))
    before = numba.get_num_threads()
    found = []
    try:
        for threads in {1, min(2, numba.config.NUMBA_NUM_THREADS)}:
            numba.set_num_threads(threads)
            found.append(best_cut(graph, factor, hyperplanes=100, seed=5))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[-1])


def test_graph_without_edges():
    found = maxcut(Graph.of(3, [], [], []))
    assert found.cut_value == 0.0
    assert 0.0 <= found.sdp_bound <= 1e-3


def test_estimator_takes_other_libraries_graphs():
    networkx = pytest.importorskip("networkx")
    model = MaxCut(accuracy=1e-5).fit(networkx.complete_bipartite_graph(3, 4))
    assert model.cut_value_ == 12.0
    assert model.bound_ >= 12.0
    assert len(set(model.labels_[:3])) == 1


def test_bad_arguments():
    graph = random_graph(0)
    with pytest.raises(InvalidInput):
        maxcut(graph, hyperplanes=0)
    with pytest.raises(InvalidInput):
        maxcut(graph, -1.0)
    with pytest.raises(InvalidInput):
        maxcut("graph")


def test_an_interrupted_run_is_rounded_without_a_long_search(monkeypatch):
    def interrupt(info):
        raise KeyboardInterrupt

    steps = []

    def record_steps(*rest, **named):
        steps.append(named["steps"])
        return best_cut(*rest, **named)

    monkeypatch.setitem(maxcut.__globals__, "best_cut", record_steps)
    pair = Graph.of(3, [0, 1], [1, 2], np.ones(2))
    found = maxcut(pair, 1e-9, callback=interrupt)
    assert found.result.status is Status.INTERRUPTED
    assert found.cut_value == 2.0
    assert maxcut(pair, 1e-6).result.status is Status.SOLVED
    assert steps == [0, None]


def test_nodes_without_edges_do_not_hold_up_the_search():
    random = np.random.default_rng(6)
    rows, cols = np.nonzero(np.triu(random.random((60, 60)) < 0.1, 1))
    weights, factor = random.random(rows.size), random.standard_normal((160, 3))
    alone = best_cut(Graph.of(60, rows, cols, weights), factor[:60], hyperplanes=1, steps=5000)
    enlarged = best_cut(Graph.of(160, rows, cols, weights), factor, hyperplanes=1, steps=5000)
    values = [float(weights @ (sides[rows] != sides[cols])) for sides in (alone, enlarged)]
    assert values[1] == pytest.approx(values[0], rel=1e-3)


def test_cuts_that_are_crossed_are_different_and_keep_what_their_parents_share():
    rng = np.random.default_rng(5)
    sides = [np.where(rng.random(30) < 0.5, 1.0, -1.0) for _ in range(3)]
    pool = _best_distinct([(1.0, sides[0]), (3.0, sides[1]), (3.0, -sides[1]), (2.0, sides[2])])
    assert [value for value, _ in pool] == [3.0, 2.0, 1.0]
    first, second = pool[0][1], pool[1][1]
    child = _crossover(pool[:2], rng)
    aligned = second if first @ second >= 0 else -second
    shared = first == aligned
    parent = first if np.array_equal(child[shared], first[shared]) else -first
    np.testing.assert_array_equal(child[shared], parent[shared])
    assert set(np.unique(child)) == {-1.0, 1.0}
    assert _crossover(pool[:1], rng) @ pool[0][1] == 30.0


def test_a_factor_takes_no_more_columns_than_fit_in_memory():
    nodes = 1 << 16
    program = maxcut_program(Graph.of(nodes, np.arange(nodes - 1), np.arange(1, nodes), np.ones(nodes - 1)))
    analysis = analyse(program.data)
    trace = analysis.trace_bound()
    wide = analysis.method(None, 0, trace).rank
    with limited_memory(resident_memory() + 60 * 16 * 8 * nodes):
        narrow = analysis.method(None, 0, trace).rank
    assert 32 < narrow <= 60 < wide
    with limited_memory(resident_memory() + 1):
        assert analysis.method(None, 0, trace).rank == 32
