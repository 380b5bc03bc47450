"""Splitting: every kind of cone, high ranks, and what it does when it is interrupted."""

import sys

import numpy as np
import pytest

import unipd
from apps.sdp.checks import check, reference
from apps.sdp.test_interior_point import check_conic, conic_data, conic_reference
from unipd import Status
from unipd.apps.graphs import theta_program
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput
from unipd.io import Graph
from unipd.run import MaxIterations


def dense_graph(nodes, seed=0, density=0.5):
    row, col = np.triu_indices(nodes, 1)
    chosen = np.random.default_rng(seed).random(row.size) < density
    return Graph.of(nodes, row[chosen], col[chosen], np.ones(np.count_nonzero(chosen)))


@pytest.mark.parametrize("sense", ["=", ">=", "range"])
def test_every_cone_and_sense(sense):
    data = conic_data(1, sense)
    result = SDP(data).solve(1e-5, method="splitting")
    assert result.method == "splitting"
    check_conic(data, result, 1e-5)
    assert result.objective == pytest.approx(conic_reference(data), rel=1e-4, abs=1e-4)


def test_redundant_constraints():
    matrices = [np.eye(4), np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])]
    cost = np.random.default_rng(3).standard_normal((4, 4))
    program = SDP.from_matrices(cost + cost.T, matrices, [3.0, 1.0, 2.0])
    result = program.solve(1e-6, method="splitting")
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5)


def test_theta_of_a_dense_graph_takes_it():
    """Some X of rank sqrt(2 m), near the order of X, is all that is known of the solution."""
    program = theta_program(dense_graph(90))
    chosen, by_factors = (program.solve(1e-6, method=method) for method in ("auto", "factored"))
    assert (chosen.method, by_factors.method) == ("splitting", "factored")
    check(program, chosen, 1e-6)
    assert chosen.bound_kind == "rigorous"
    assert chosen.objective == pytest.approx(by_factors.objective, rel=3e-6)


def test_without_interior_points_cones_are_open_to_it(monkeypatch):
    """It needs no QICS."""
    for name in ("qics", "qics.cones"):
        monkeypatch.setitem(sys.modules, name, None)
    assert SDP(conic_data(0)).solve(1e-4, method="splitting").status is Status.SOLVED


def test_resumed_runs_are_the_same(tmp_path):
    program, path = theta_program(dense_graph(16)), tmp_path / "run.ckpt"
    whole = program.solve(method="splitting")
    part = program.solve(method="splitting", stop=MaxIterations(3), checkpoint=path, every="1it")
    assert part.status is Status.ITERATION_LIMIT
    again = program.solve(method="splitting", checkpoint=path, every="1it", resume=True)
    np.testing.assert_array_equal(again.x.left, whole.x.left)
    assert (again.objective, again.iterations) == (whole.objective, whole.iterations)


def test_a_program_without_solution_is_never_solved():
    program = SDP.from_matrices(np.eye(2), [np.eye(2), np.diag([1.0, 0.0])], [1.0, 2.0])
    result = program.solve(1e-6, method="splitting")
    assert result.status in (Status.INFEASIBLE, Status.STALLED)


def test_it_takes_no_trace_bound():
    with pytest.raises(InvalidInput, match="trace_bound: expected none"):
        unipd.SDP(conic_data(0)).solve(method="splitting", trace_bound=5.0)


def test_small_programs_of_high_rank_begin_with_interior_points():
    """As the factored method would not solve this one within the iterations after which it hands over."""
    program = theta_program(dense_graph(30, density=0.7))
    result = program.solve(1e-6)
    assert (result.status, result.method) == (Status.SOLVED, "interior")
    assert result.iterations < 50
    assert program.solve(1e-2, rank=20, stop=MaxIterations(1)).method == "factored"


def test_a_block_without_constraints_is_zero():
    program = SDP.from_matrices(np.diag([1.0, 2.0, 1.0, 2.0]), [np.diag([1.0, 1.0, 0.0, 0.0])], [1.0], blocks=[2, 2])
    result = program.solve(1e-6, method="splitting")
    assert result.status is Status.SOLVED, result.message
    assert result.objective == pytest.approx(1.0, rel=1e-5)
