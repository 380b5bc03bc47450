"""Solved programs against an interior-point solver, every check in dense arithmetic."""

import sys
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from apps.sdp.checks import check, dense, reference
from unipd import Status
from unipd.apps.graphs import bisection_program, maxcut_program, theta_program
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem
from unipd.report import best_bound, compute_curves
from unipd.run import MaxIterations


@pytest.mark.parametrize("make", [maxcut_program, theta_program])
def test_graph_programs(graph, make):
    program = make(graph)
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.bound_kind == "rigorous"
    assert result.objective == pytest.approx(-reference(program), rel=1e-5)


def test_a_program_on_a_face(graph):
    """Interior-point methods need a strictly feasible point, so theirs is the reduced program."""
    program = bisection_program(graph)
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    order = program.order
    basis = np.linalg.qr(np.column_stack([np.ones(order), np.eye(order)[:, 1:]]))[0][:, 1:]
    cost, matrices = dense(program.data)
    z = cp.Variable((order - 1, order - 1), PSD=True)
    constraints = [cp.trace(basis.T @ matrix @ basis @ z) == 1.0 for matrix in matrices[:-1]]
    value = cp.Problem(cp.Minimize(cp.trace(basis.T @ cost @ basis @ z)), constraints).solve(solver="CLARABEL")
    assert result.objective == pytest.approx(value, rel=1e-5)
    assert np.abs(result.x.left.sum(axis=0)).max() <= 1e-9


def test_high_accuracy_on_request(graph):
    program = maxcut_program(graph)
    result = program.solve(1e-9)
    check(program, result, 1e-9)


def test_inequalities_and_ranges():
    generator = np.random.default_rng(4)
    root = generator.standard_normal((6, 6))
    cost = root + root.T
    other = np.diag(np.arange(6.0))
    program = SDP.from_matrices(
        cost, [np.eye(6), np.ones((6, 6)), other], [2.0, 1.0, 3.0], ["<=", ">=", "<="], lower=[-np.inf, 0, 1.0]
    )
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5)


def test_several_blocks_come_back(graph):
    blocks = SdpaProblem(
        [1.0, 2.0, 3.0],
        (2, -2, 2),
        [0, 0, 0, 1, 1, 2, 2, 3, 3],
        [0, 1, 2, 0, 0, 1, 1, 2, 2],
        [0, 0, 0, 0, 1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1, 0, 1, 0, 1],
        [1.0, 1.0, -2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    )
    program = SDP.from_sdpa(blocks)
    result = program.solve(1e-7)
    assert result.objective == pytest.approx(1.0 + 2.0 + 6.0, abs=1e-5)
    np.testing.assert_allclose(program.block(result.x, 0), 0.5 * np.ones((2, 2)), atol=1e-2)
    np.testing.assert_allclose(program.block(result.x, 1), [2.0, 0.0], atol=1e-3)
    assert program.block(result.x, 2).shape == (2, 2)


def test_trace_bound_from_the_objective():
    """min tr X subject to X_01 = 1: the constraint bounds no trace, the objective does."""
    program = SDP.from_matrices(np.eye(2), [np.array([[0.0, 1.0], [1.0, 0.0]])], [2.0])
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(2.0, rel=1e-5)


def test_given_trace_bound():
    program = SDP.from_matrices(-np.eye(2), [np.array([[0.0, 1.0], [1.0, 0.0]])], [2.0])
    result = program.solve(1e-6, trace_bound=5.0)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(-5.0, rel=1e-5)
    assert "user" in result.extras["trace_bound_reason"]


def test_a_trace_bound_below_the_trace_that_the_constraints_fix_is_refused():
    program = SDP.from_matrices(np.diag([1.0, 2.0]), [np.eye(2)], [1.0])
    with pytest.raises(InvalidInput, match="at least 1, the trace of every feasible X"):
        program.solve(trace_bound=0.5)
    assert program.solve(trace_bound=7.0).extras["trace_bound"] == 1.0


@pytest.mark.parametrize(("given", "used"), [(0.5, 0.5), (7.0, 1.0)])
def test_the_smaller_of_two_trace_bounds_is_used_and_stated(given, used):
    program = SDP.from_matrices(np.diag([-1.0, 2.0]), [np.eye(2)], [1.0], "<=")
    result = program.solve(trace_bound=given)
    assert result.objective == pytest.approx(-used, rel=1e-5)
    assert result.extras["trace_bound"] == pytest.approx(used)
    assert ("given by the user" in result.message) == (given < 1.0)


def test_an_option_that_does_not_exist_is_named():
    with pytest.raises(InvalidInput, match="foo: expected accuracy, method or one of trace_bound, rank"):
        SDP.from_matrices(np.eye(2), [np.eye(2)], [1.0]).solve(foo=1)


def test_nested_lists_are_matrices():
    program = SDP.from_matrices([[1, 0], [0, 2]], [[[1, 0], [0, 1]]], [1])
    assert program.solve().objective == pytest.approx(1.0, rel=1e-5)


def test_messages_speak_of_sdpa_where_the_program_came_from_such_a_file():
    """max Y_12 subject to Y_11 - Y_22 = 0: unbounded, and no x_1 F_1 - F_0 is psd."""
    program = SDP.from_sdpa(SdpaProblem([0.0], (2,), [0, 1, 1], [0] * 3, [0, 0, 1], [1, 0, 1], [1.0, 1.0, -1.0]))
    result = program.solve()
    assert result.status is Status.UNBOUNDED
    assert "X = 0 is feasible." in result.message
    assert "primal problem, min c'x, is infeasible and its dual, max <F0, Y>, unbounded" in result.message
    program = SDP.from_sdpa(SdpaProblem([-1.0], (2,), [0, 1, 1], [0] * 3, [0, 0, 1], [1, 0, 1], [1.0, 1.0, 2.0]))
    result = program.solve()
    assert result.status is Status.INFEASIBLE
    assert "the dual problem, max <F0, Y>, is infeasible" in result.message


def test_progress_has_the_sign_of_the_program(graph, capsys):
    result = maxcut_program(graph).solve(1e-4, verbose=True)
    line = capsys.readouterr().err.splitlines()[0]
    objective, bound = (float(line.split(word)[1].split()[0]) for word in ("objective", "bound"))
    assert 0.0 < objective <= bound * (1.0 + 1e-9)
    assert bound >= result.objective * (1.0 - 1e-4)


def test_unbounded_objective_is_recognised():
    program = SDP.from_matrices(-np.eye(2), [np.array([[0.0, 1.0], [1.0, 0.0]])], [2.0])
    result = program.solve(1e-6)
    assert result.status is Status.UNBOUNDED
    assert "dual problem is infeasible" in result.message
    assert "An X that meets the constraints up to" in result.message
    direction = result.x.dense()
    assert abs(direction[0, 1]) < 1e-5
    assert np.trace(direction) == pytest.approx(1.0)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_ray_of_an_unbounded_program_is_measured(maximise, scale):
    """X_22 and X_33 grow together; X_11 is fixed, and X_22 - X_33 <= 1 does not stop them."""
    sign = -1.0 if maximise else 1.0
    cost, matrices = sign * np.diag([1.0, -1.0, -1.0]), [np.diag([1.0, 0.0, 0.0]), scale * np.diag([0.0, 1.0, -1.0])]
    program = SDP.from_matrices(cost, matrices, [1.0, scale], ["=", "<="], maximise=maximise)
    result = program.solve(1e-6)
    assert result.status is Status.UNBOUNDED
    ray = result.x.dense()
    assert np.linalg.eigvalsh(ray)[0] >= -1e-12
    assert np.trace(ray) == pytest.approx(1.0)
    assert result.extras["ray_objective"] == pytest.approx(np.sum(cost * ray))
    assert sign * result.extras["ray_objective"] < -0.9
    changes = [np.sum(matrix * ray) / np.linalg.norm(matrix) for matrix in matrices]
    measured = np.hypot(changes[0], max(changes[1], 0.0))
    assert result.extras["ray_residual"] == pytest.approx(measured, abs=1e-12)
    assert measured < 1e-5
    assert result.dual_bound == -sign * np.inf


def test_an_improving_ray_without_a_feasible_point_is_infeasible():
    """X_11 = -1 has no psd solution, though X_22 grows forever."""
    program = SDP.from_matrices(-np.eye(2), [np.diag([1.0, 0.0])], [-1.0])
    assert program.solve(1e-6).status is Status.INFEASIBLE


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_equations_at_odds_are_infeasible(scale):
    """X_11 = 1, X_11 + X_22 = 2 and X_22 = 3: no symmetric X meets them, and no combination is definite."""
    first, second = np.diag([1.0, 0.0, 0.0]), np.diag([0.0, 1.0, 0.0])
    program = SDP.from_matrices(np.eye(3), [first, scale * (first + second), second], [1.0, 2.0 * scale, 3.0])
    result = program.solve(1e-6)
    assert result.status is Status.INFEASIBLE
    assert "contradict each other" in result.message
    assert result.dual @ program.data.b < 0.0
    np.testing.assert_allclose(program.adjoint(result.dual).toarray(), 0.0, atol=1e-12 * scale)


def test_equations_at_odds_by_less_than_the_accuracy_are_solved():
    program = SDP.from_matrices(np.eye(2), [np.eye(2), 2.0 * np.eye(2)], [1.0, 2.0 + 1e-7])
    assert program.solve(1e-6).status is Status.SOLVED


def test_inequalities_do_not_count_among_equations_at_odds():
    program = SDP.from_matrices(np.eye(2), [np.eye(2), np.eye(2)], [1.0, 3.0], ["=", "<="])
    assert program.solve(1e-6).status is Status.SOLVED


def test_other_methods_run_on_the_same_problem(graph):
    program = theta_program(graph)
    result = program.solve(0.5, "accunipdgrad", eps=5.0)
    assert result.method == "accunipdgrad"
    assert result.dual_bound >= program.solve(1e-4).objective - 1e-3


def test_runs_repeat_bit_for_bit(graph):
    first, second = (maxcut_program(graph).solve(1e-5, seed=7) for _ in range(2))
    assert first.objective == second.objective
    np.testing.assert_array_equal(first.dual, second.dual)


@pytest.mark.parametrize(
    "arguments",
    [
        {"C": np.eye(2), "A": [np.eye(3)], "b": [1.0]},
        {"C": np.eye(2), "A": [np.eye(2)], "b": [1.0, 2.0]},
        {"C": np.eye(2), "A": [np.eye(2)], "b": [np.nan]},
        {"C": np.eye(2), "A": [np.eye(2)], "b": [1.0], "senses": "<"},
        {"C": np.eye(2), "A": [np.eye(2)], "b": [1.0], "senses": ["=", "="]},
        {"C": np.eye(2), "A": [np.eye(2)], "b": [1.0], "senses": "<=", "lower": [2.0]},
        {"C": np.eye(2), "A": [], "b": []},
        {"C": np.eye(2), "A": np.eye(2), "b": [1.0, 1.0]},
        {"C": [1.0, 2.0], "A": [np.eye(2)], "b": [1.0]},
        {"C": "text", "A": [np.eye(2)], "b": [1.0]},
        {"C": np.eye(2), "A": 3.0, "b": [1.0]},
        {"C": np.array([[0.0, 1.0], [0.0, 0.0]]), "A": [np.eye(2)], "b": [1.0]},
    ],
)
def test_bad_matrices(arguments):
    with pytest.raises(InvalidInput):
        SDP.from_matrices(**arguments)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CVXPY 1.9 has left Python 3.10")
def test_cvxpy_problems():
    x = cp.Variable((3, 3), symmetric=True)
    cost = np.diag([1.0, 2.0, 3.0])
    problem = cp.Problem(cp.Maximize(cp.trace(cost @ x) + 1.0), [x >> 0, cp.diag(x) == 1, x[0, 1] >= 0.5, x[1, 2] <= 0])
    program = SDP.from_cvxpy(problem)
    assert program.constant == 1.0
    result = program.solve(1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-5)
    assert result.dual_bound == pytest.approx(result.objective, rel=1e-5)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CVXPY 1.9 has left Python 3.10")
def test_cvxpy_parameters_count_with_their_values():
    x, size = cp.Variable((2, 2), PSD=True), cp.Parameter(name="size")
    problem = cp.Problem(cp.Minimize(cp.trace(np.diag([1.0, 2.0]) @ x)), [cp.trace(x) == size])
    with pytest.raises(InvalidInput, match="a value for every parameter, got size without one"):
        SDP.from_cvxpy(problem)
    size.value = 3.0
    assert SDP.from_cvxpy(problem).solve().objective == pytest.approx(3.0, rel=1e-5)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CVXPY 1.9 has left Python 3.10")
def test_cvxpy_problems_that_do_not_fit():
    x, y = cp.Variable((2, 2), PSD=True), cp.Variable(2)
    for bad in (
        cp.Problem(cp.Minimize(cp.sum(cp.exp(y)) + cp.trace(x)), [cp.trace(x) + y == 1]),
        cp.Problem(cp.Maximize(cp.norm(x)), [cp.trace(x) == 1]),
        cp.Problem(cp.Minimize(cp.trace(x))),
        cp.Problem(cp.Minimize(cp.trace(x)), [cp.trace(x) == cp.Parameter()]),
        cp.Problem(cp.Minimize(1.0)),
        "no problem",
    ):
        with pytest.raises(InvalidInput):
            SDP.from_cvxpy(bad)


@pytest.mark.parametrize("make", [maxcut_program, theta_program])
def test_a_rank_that_is_too_small_grows(graph, make):
    program = make(graph)
    result = program.solve(1e-6, rank=2)
    check(program, result, 1e-6)
    assert result.x.rank > 2


@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan"), float("inf")])
def test_a_trace_bound_must_be_a_positive_number_even_where_none_is_needed(bound):
    diagonal = [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])]
    with pytest.raises(InvalidInput, match="trace_bound"):
        SDP.from_matrices(np.eye(2), diagonal, [1.0, 1.0]).solve(trace_bound=bound)


def test_a_diagonal_entry_that_must_vanish_ends_honestly():
    """No X is strictly feasible: multipliers grow forever, pairs of tiny steps are rounding errors."""
    program = SDP.from_matrices(
        -np.array([[1.0, 1.0], [1.0, 0.0]]), [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], [1.0, 0.0]
    )
    result = program.solve(1e-6, stop=MaxIterations(400))
    assert result.dual_bound <= -1.0 + 1e-9
    assert result.objective == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize(("sense", "b", "feasible"), [("=", 3.0, False), ("=", 0.0, True), ("<=", -1.0, False)])
@pytest.mark.parametrize("bounded", [True, False])
def test_a_constraint_on_nothing(sense: str, b: float, feasible: bool, bounded: bool) -> None:
    first = np.eye(2) if bounded else np.diag([1.0, 0.0])
    program = SDP.from_matrices(np.eye(2), [first, np.zeros((2, 2))], [1.0, b], ["=", sense])
    result = program.solve(accuracy=1e-6)
    assert result.status is (Status.SOLVED if feasible else Status.INFEASIBLE)
    if not feasible:
        assert "A_2 is zero" in result.message
        assert result.dual[1] * b < 0.0
        np.testing.assert_array_equal(program.adjoint(result.dual).toarray(), 0.0)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("method", ["factored", "interior"])
def test_the_history_has_the_sign_and_the_constant_of_the_program(maximise, method):
    program = SDP.from_matrices(np.diag([3.0, 1.0, 2.0]), [np.eye(3)], [1.0], maximise=maximise)
    result = replace(program, constant=10.0).solve(1e-6, method)
    assert result.objective == pytest.approx(13.0 if maximise else 11.0, rel=1e-5)
    assert result.history["objective"][-1] == pytest.approx(result.objective, rel=1e-5)
    assert result.history["dual_bound"][-1] == pytest.approx(result.dual_bound, rel=1e-5)
    curves = compute_curves(result)
    assert curves.residual[-1] == pytest.approx(abs(result.objective - result.dual_bound), abs=1e-5)


def test_the_best_bound_of_several_maximisations_is_the_smallest():
    program = SDP.from_matrices(np.diag([3.0, 1.0, 2.0]), [np.eye(3)], [1.0], maximise=True)
    results = {"a": program.solve(1e-6), "b": program.solve(1e-1, "accunipdgrad", stop=MaxIterations(2))}
    assert best_bound(results) == min(result.dual_bound for result in results.values())


@pytest.mark.parametrize("method", ["factored", "interior", "splitting"])
def test_an_absolute_tolerance_counts_in_the_units_of_the_program(graph, method):
    result = maxcut_program(graph).solve(1e-13, method, atol=1.0)
    assert (result.status, result.atol) == (Status.SOLVED, 1.0)
    assert result.relative_error > 1e-13
    assert max(abs(result.absolute_gap), result.violation) <= 1.0


@pytest.mark.parametrize("options", [{"stop": 3}, {"rank": 0}, {"method": "none"}, {"trace_bound": 0.0}])
def test_wrong_options_are_named(graph, options):
    (name,) = options
    with pytest.raises(InvalidInput, match=f"^{name}: expected"):
        maxcut_program(graph).solve(**options)
