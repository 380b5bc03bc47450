"""MaxCut: kernels and rounding against brute force, the bound against every cut."""

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd.apps.graphs import MaxCut, best_cut, cut_value, hyperplane_cuts, kernels, maxcut_program
from unipd.apps.graphs.maxcut import _best_distinct, maxcut, plan_annealing
from unipd.apps.sdp import analyse
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.io import Graph
from unipd.memory import limited_memory, resident_memory
from unipd.status import Status


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
    middle = cut_value(graph, side)
    rise = kernels.anneal(*csr, side, gain, 2.0, 0.2, 30, np.uint64(seed + 1), 1e-9)
    assert rise >= 0.0
    assert cut_value(graph, side) == pytest.approx(middle + rise)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_a_combined_cut_has_the_better_side_of_every_component_of_the_difference(seed):
    graph = random_graph(seed, 14, 0.15)
    matrix = graph.adjacency()
    matrix.eliminate_zeros()
    csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    first, second = np.where(np.random.default_rng(seed).random((2, graph.nodes)) < 0.5, 1.0, -1.0)
    differ = np.flatnonzero(first != second)
    _, component = sp.csgraph.connected_components(matrix[differ][:, differ] != 0)
    best, groups = -np.inf, range(component.max() + 1 if differ.size else 0)
    for chosen in itertools.chain.from_iterable(itertools.combinations(groups, k) for k in range(len(groups) + 1)):
        mixed = first.copy()
        mixed[differ[np.isin(component, chosen)]] *= -1
        best = max(best, cut_value(graph, mixed))
    combined = first.copy()
    rise = kernels.combine(*csr, combined, second, 1e-9)
    assert cut_value(graph, combined) == pytest.approx(best) == pytest.approx(cut_value(graph, first) + rise)


def torus(rows, cols, seed):
    """A grid on a torus with random weights of -1 and 1, as G32, G67 and G81 of the G-set."""
    places = np.arange(rows * cols).reshape(rows, cols)
    ends = [np.roll(places, -1, axis).ravel() for axis in (0, 1)]
    weights = np.random.default_rng(seed).choice([-1.0, 1.0], 2 * places.size)
    return Graph.of(places.size, np.tile(places.ravel(), 2), np.concatenate(ends), weights)


def largest_torus_cut(rows, cols, graph):
    """The largest cut by dynamic programming over rows, for a fixed first row at a time."""
    states = np.where((np.arange(2**cols)[:, None] >> np.arange(cols)) & 1, 1.0, -1.0)
    weights = graph.adjacency().toarray()
    place = np.arange(rows * cols).reshape(rows, cols)

    def links(first, second):
        """Energy of the edges between two neighbouring rows, for every pair of their states."""
        return (states * weights[place[first], place[second]]) @ states.T

    inside = [np.sum(states * np.roll(states, -1, 1) * weights[line, np.roll(line, -1)], axis=1) for line in place]
    lowest = np.inf
    for state in range(2**cols):
        energy = np.where(np.arange(2**cols) == state, inside[0], np.inf)
        for row in range(1, rows):
            energy = np.min(energy[:, None] + links(row - 1, row), axis=0) + inside[row]
        lowest = min(lowest, float(np.min(energy + links(rows - 1, 0)[:, state])))
    return 0.5 * (graph.weights.sum() - lowest)


@pytest.mark.parametrize("seed", range(3))
def test_cuts_of_a_torus_are_the_largest(seed):
    graph = torus(30, 5, seed)
    factor = np.random.default_rng(seed).standard_normal((graph.nodes, 3))
    rounded = cut_value(graph, best_cut(graph, factor, hyperplanes=3, effort=0.0))
    found = cut_value(graph, best_cut(graph, factor, hyperplanes=3, effort=0.2))
    largest = largest_torus_cut(30, 5, graph)
    assert rounded < found <= largest
    assert found >= 0.99 * largest


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_more_effort_never_loses_what_rounding_gives(seed):
    graph = random_graph(seed, 40, 0.1)
    factor = np.random.default_rng(seed).standard_normal((40, 3))
    values = [cut_value(graph, best_cut(graph, factor, hyperplanes=5, effort=work)) for work in (0.0, 1e-4, 1e-3)]
    assert values[0] <= min(values[1:])


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
    with pytest.raises(InvalidInput, match="hyperplanes"):
        maxcut(graph, hyperplanes=0)
    with pytest.raises(InvalidInput, match="hyperplanes"):
        best_cut(graph, np.ones((graph.nodes, 2)), hyperplanes=0)
    for wrong in (np.ones((graph.nodes + 1, 2)), np.ones(graph.nodes)):
        with pytest.raises(InvalidInput, match="factor"):
            best_cut(graph, wrong)
    with pytest.raises(InvalidInput):
        maxcut(graph, -1.0)
    with pytest.raises(InvalidInput, match="effort"):
        maxcut(graph, effort=-1.0)
    with pytest.raises(InvalidInput):
        maxcut("graph")


def test_an_interrupted_run_is_rounded_without_a_long_search(monkeypatch):
    def interrupt(info):
        raise KeyboardInterrupt

    efforts = []

    def record_effort(*rest, **named):
        efforts.append(named["effort"])
        return best_cut(*rest, **named)

    monkeypatch.setitem(maxcut.__globals__, "best_cut", record_effort)
    pair = Graph.of(3, [0, 1], [1, 2], np.ones(2))
    found = maxcut(pair, 1e-9, callback=interrupt)
    assert found.result.status is Status.INTERRUPTED
    assert found.cut_value == 2.0
    assert maxcut(pair, 1e-6).result.status is Status.SOLVED
    assert efforts == [0.0, 1.0]


def test_nodes_without_edges_do_not_hold_up_the_search():
    random = np.random.default_rng(6)
    rows, cols = np.nonzero(np.triu(random.random((60, 60)) < 0.1, 1))
    weights, factor = random.random(rows.size), random.standard_normal((160, 3))
    alone = best_cut(Graph.of(60, rows, cols, weights), factor[:60], hyperplanes=1, effort=0.1)
    enlarged = best_cut(Graph.of(160, rows, cols, weights), factor, hyperplanes=1, effort=0.1)
    values = [float(weights @ (sides[rows] != sides[cols])) for sides in (alone, enlarged)]
    assert values[1] == pytest.approx(values[0], rel=1e-3)


def sparse_graph(nodes, seed=0):
    rows, cols = np.random.default_rng(seed).integers(0, nodes, (2, 3 * nodes))
    return Graph.of(nodes, rows[rows != cols], cols[rows != cols], np.ones(np.count_nonzero(rows != cols)))


def test_a_run_that_does_not_fit_is_refused_before_it_starts(monkeypatch):
    program, calls = maxcut_program(sparse_graph(60_000)), []
    problem, analysis = program.problem(), analyse(program.data)
    method = analysis.method(None, 0, analysis.trace_bound(), 1e-3)
    needed = method.workspace_bytes(problem, 1e-3)
    assert needed >= 8 * 4 * 60_000 * method.rank
    assert replace(method, rank=2 * method.rank).workspace_bytes(problem, 1e-3) == 2 * needed
    assert method.workspace_bytes(problem, 1e-6) == 2 * needed  # in double precision
    monkeypatch.setattr(unipd.Factored, "start", lambda *_: calls.append(1))
    with limited_memory(resident_memory() + needed // 2), pytest.raises(MemoryForecastError, match="memory limit"):
        program.solve(1e-3)
    monkeypatch.setattr("unipd.memory.machine_memory", lambda: needed // 2)
    with pytest.raises(MemoryForecastError, match="lower accuracy or a lower rank"):
        program.solve(1e-3)
    assert not calls


def test_the_forecast_knows_the_quasi_newton_pairs():
    problem = unipd.Problem(
        unipd.sharp.Spectrahedron(400), unipd.maps.Sampling([0], [0], (400, 400)), [1.0], unipd.couplings.LeastSquares()
    )
    few, many = (unipd.Factored(rank=5, memory=pairs).workspace_bytes(problem, 1e-6) for pairs in (2, 20))
    assert many - few == 36 * 400 * 5 * 8


@pytest.mark.parametrize("threshold", [1, 10**9])
def test_large_factors_are_in_single_precision_and_the_certificate_holds(monkeypatch, threshold):
    monkeypatch.setattr(sys.modules["unipd.methods.factored.factored"], "SINGLE_ENTRIES", threshold)
    graph = sparse_graph(600)
    found = maxcut(graph, 1e-3, hyperplanes=4, effort=0.0)
    assert found.result.x.left.dtype == (np.float32 if threshold == 1 else np.float64)
    assert found.result.status is Status.SOLVED
    assert found.result.infeasibility <= 1e-6
    accurate = maxcut_program(graph).solve(1e-7)
    assert accurate.x.left.dtype == np.float64
    assert accurate.objective <= found.sdp_bound
    assert found.result.objective <= accurate.dual_bound * (1.0 + 1e-6)
    assert maxcut(graph, 1e-4, hyperplanes=4, effort=0.0).result.status is Status.SOLVED


def test_starting_cuts_are_distinct_up_to_their_sign():
    rng = np.random.default_rng(5)
    sides = [np.where(rng.random(30) < 0.5, 1.0, -1.0) for _ in range(3)]
    pool = _best_distinct([(1.0, sides[0]), (3.0, sides[1]), (3.0, -sides[1]), (2.0, sides[2])])
    assert [value for value, _ in pool] == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("nodes", [100, 3000])
def test_without_a_compiler_the_search_makes_fewer_visits(nodes, monkeypatch):
    compiled = np.prod(plan_annealing(nodes, 1.0))
    module = sys.modules["unipd.apps.graphs.maxcut"]
    monkeypatch.setattr(module, "can_compile", lambda: False)
    assert 1 <= np.prod(plan_annealing(nodes, 1.0)) <= compiled / 150
