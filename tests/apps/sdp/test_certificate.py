"""Certificates of solutions that others found: bounds checked in exact or dense arithmetic."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from apps.sdp.checks import dense
from unipd import SDP, Status, certify
from unipd.apps.graphs import maxcut_program, theta_program
from unipd.apps.sdp import Block, SdpData, find_combination
from unipd.errors import InvalidInput
from unipd.maps import Entries


def solve_by_cvxpy(program):
    """Return y (of the slack C + A^*(y)), X and the optimal value by Clarabel."""
    cost, matrices = dense(program.data)
    X = cp.Variable(cost.shape, PSD=True)
    constraints = [cp.trace(matrix @ X) == b for matrix, b in zip(matrices, program.data.b, strict=True)]
    value = cp.Problem(cp.Minimize(cp.trace(cost @ X)), constraints).solve(solver="CLARABEL")
    return np.array([part.dual_value for part in constraints]), X.value, value


@pytest.mark.parametrize("make", [maxcut_program, theta_program])
@pytest.mark.parametrize("rigorous", [False, True])
def test_solutions_of_another_solver(graph, make, rigorous):
    program = make(graph)
    y, X, value = solve_by_cvxpy(program)
    result = certify(program, y, X, rigorous=rigorous)
    assert result.status is Status.SOLVED
    assert result.bound_kind == "rigorous"
    sign = -1.0 if program.maximise else 1.0
    assert sign * result.dual_bound == pytest.approx(value, rel=1e-6)
    assert sign * result.dual_bound <= value * (1.0 + 1e-6 * np.sign(value))
    assert np.linalg.eigvalsh(program.slack(result.dual).toarray())[0] >= 0.0
    assert max(map(abs, result.extras["dimacs_errors"])) < 1e-6


def test_either_sign_convention_proves_the_same(graph):
    program = maxcut_program(graph)
    y, X, _ = solve_by_cvxpy(program)
    assert certify(program, -y, X).dual_bound == certify(program, y, X).dual_bound


def test_random_multipliers_prove_a_valid_bound(graph):
    program = maxcut_program(graph)
    _, X, value = solve_by_cvxpy(program)
    for seed in range(5):
        result = certify(program, np.random.default_rng(seed).standard_normal(program.data.size), X)
        assert result.status is Status.STALLED
        assert "Not certified" in result.message
        assert -result.dual_bound <= value
        assert np.isfinite(result.dual_bound)


def test_wrong_points_are_not_certified(graph):
    program = maxcut_program(graph)
    y, X, _ = solve_by_cvxpy(program)
    assert certify(program, y, 1.001 * X).status is Status.STALLED
    indefinite = X - 1e-2 * np.eye(program.order)
    result = certify(program, y, indefinite)
    assert result.status is Status.STALLED
    outside = -np.linalg.eigvalsh(indefinite)[0]
    assert result.extras["dimacs_errors"][1] == pytest.approx(outside / 2.0, rel=1e-6)


def test_a_bound_without_a_point_is_proved_but_not_certified(graph):
    program = maxcut_program(graph)
    y, _, value = solve_by_cvxpy(program)
    result = certify(program, y)
    assert result.status is Status.STALLED
    assert "without X" in result.message
    assert -result.dual_bound == pytest.approx(value, rel=1e-6)
    assert np.isnan(result.gap)


@pytest.mark.parametrize("shift", [0.0, 1e-17, 1e-12])
def test_rigorous_bounds_hold_in_exact_arithmetic(shift):
    """min <C, X>, tr X = 1 with C = v v^T in rationals: the slack is psd at y = 0 and not below."""
    program = SDP.from_matrices(np.array([[0.01, 0.1], [0.1, 1.0]]), [np.eye(2)], [0.1])
    result = certify(program, [shift], rigorous=True)
    y = Fraction(float(result.dual[0]))
    c11, c12, c22 = Fraction(0.01) + y, Fraction(0.1), Fraction(1.0) + y
    assert c11 > 0
    assert c11 * c22 - c12 * c12 >= 0
    assert Fraction(result.dual_bound) <= -y * Fraction(0.1)


def test_rounding_of_the_slack_is_counted():
    """The slack 1 - 1e-17 y_1 - y_2 at y = (1, 1) is zero in floating point, and negative."""
    rows = Entries([0, 1], [0, 0], [0, 0], [-1e-17, -1.0])
    data = SdpData(1, Entries([0], [0], [0], [1.0]), rows, rows.value, rows.value, (Block(0, 1, "nonnegative"),))
    loose, strict = (certify(SDP(data), [1.0, 1.0], [np.ones(1)], rigorous=mode).dual for mode in (False, True))
    slacks = [1 - Fraction(1e-17) * Fraction(float(y[0])) - Fraction(float(y[1])) for y in (loose, strict)]
    assert slacks[0] < 0 <= slacks[1] < 1e-12


def test_results_of_this_library_are_certified_as_they_are(graph):
    program = theta_program(graph)
    result = program.solve(1e-7)
    again = certify(program, result, accuracy=1e-6, rigorous=True)
    assert again.status is Status.SOLVED
    assert again.objective == pytest.approx(result.objective, rel=1e-9)


def test_free_and_second_order_blocks():
    """min x_1 with x_1 >= ||(x_2, x_3)||, x_2 = 3 + u, x_3 = 4, u = 0: 5, with y = (-3/5, -4/5, -3/5)."""
    blocks = (Block(0, 3, "second_order"), Block(3, 1, "free"))
    rows = Entries([0, 0, 1, 2], [1, 3, 2, 3], [1, 3, 2, 3], [1.0, -1.0, 1.0, 1.0])
    b = np.array([3.0, 4.0, 0.0])
    program = SDP(SdpData(4, Entries([0], [0], [0], [1.0]), rows, b, b, blocks), constant=1.0)
    x = [np.array([5.0, 3.0, 4.0]), np.zeros(1)]
    result = certify(program, [-0.6, -0.8, -0.6], x, rigorous=True)
    assert result.status is Status.SOLVED
    assert result.dual_bound <= 6.0
    assert result.objective == pytest.approx(6.0, rel=1e-14)
    low = certify(program, [-0.6, -0.8, -0.6], [np.array([4.0, 3.0, 4.0]), np.zeros(1)])
    assert low.extras["dimacs_errors"][1] == pytest.approx(1.0 / 5.0)


def test_a_bound_for_bounded_points_says_so():
    """min X_11, X_12 = 1 has no positive definite combination: a slack that is not psd excludes large X only."""
    program = SDP.from_matrices(np.diag([1.0, 0.0]), [np.array([[0.0, 0.5], [0.5, 0.0]])], [1.0])
    assert find_combination(program.data) is None
    result = certify(program, [-1e-9], np.array([[1e-6, 1.0], [1.0, 1e6]]))
    assert "holds for X of trace at most 1e+07" in result.message
    assert certify(program, [-1.0]).dual_bound == -np.inf


def test_inequalities_have_signs():
    """min X_11 subject to X_11 >= 1: y <= 0, and the other sign is ignored."""
    program = SDP.from_matrices(np.diag([1.0, 1.0]), [np.diag([1.0, 0.0])], [1.0], ">=")
    assert certify(program, [-1.0], np.diag([1.0, 0.0])).status is Status.SOLVED
    assert certify(program, [0.5]).dual_bound <= 1.0


def test_arguments_are_checked(graph):
    program = maxcut_program(graph)
    with pytest.raises(InvalidInput, match="dual"):
        certify(program, np.zeros(program.data.size + 1))
    with pytest.raises(InvalidInput, match="x"):
        certify(program, np.zeros(program.data.size), np.eye(2))
    with pytest.raises(InvalidInput, match="an SDP"):
        certify(3.0, np.zeros(2))


@pytest.mark.parametrize("method", ["interior", "factored"])
def test_homogeneous_constraints_have_one_scale(method):
    """With b = 0, the same X has the same infeasibility in every result: that of a program of unit size."""
    program = SDP.from_matrices(np.diag([1.0, 2.0]), [1e6 * np.diag([1.0, -1.0])], [0.0])
    solved = program.solve(1e-6, method)
    checked = certify(program, solved, accuracy=1e-6)
    other = certify(program, solved.dual, np.diag([1.0, 1.01]))
    assert solved.feasibility_scale == checked.feasibility_scale == other.feasibility_scale == 1.0
    assert checked.infeasibility == pytest.approx(solved.infeasibility, abs=1e-15)
    assert other.infeasibility == pytest.approx(other.violation) == pytest.approx(0.01 / np.sqrt(2.0))


@pytest.mark.parametrize("loose", [1e3, 1e6, 1e9])
def test_loose_inequalities_excuse_no_violation_of_the_equations(loose):
    """Seventy bounds that X does not come near, beside three equations; nothing bounds the trace."""
    generator = np.random.default_rng(0)
    matrices = [matrix + matrix.T for matrix in generator.standard_normal((73, 6, 6))]
    factor, root = generator.standard_normal((6, 2)), generator.standard_normal((6, 6))
    b = [float(np.sum(matrix * (factor @ factor.T))) for matrix in matrices[:3]]
    plain = SDP.from_matrices(root @ root.T, matrices[:3], b)
    program = SDP.from_matrices(root @ root.T, matrices, b + 70 * [loose], 3 * ["="] + 70 * ["<="])
    known, result = plain.solve(1e-6), program.solve(1e-6)
    assert known.status is result.status is Status.SOLVED
    assert result.objective == pytest.approx(known.objective, rel=1e-5)
    empty = certify(program, result.dual, np.zeros((6, 6)))
    assert empty.infeasibility == pytest.approx(1.0)
    assert empty.feasibility_scale == pytest.approx(certify(plain, known, accuracy=1e-6).feasibility_scale)
    moved = certify(program, result.dual, 1.1 * (factor @ factor.T), accuracy=1e-3)
    assert not moved.status.success


@pytest.mark.parametrize("method", ["factored", "interior", "splitting"])
@pytest.mark.parametrize("matrix", [np.eye(4), np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([100.0, 100.0, 100.0, 1000.0])])
def test_a_gap_has_one_scale_where_the_optimal_value_is_zero(method, matrix):
    """However the trace of X is bounded: a result that is solved is certified as well."""
    program = SDP.from_matrices(np.diag([0.0, 1.0, 2.0, 3.0]), [matrix], [1.0], "<=" if matrix[0, 0] > 1.0 else "=")
    result = program.solve(1e-6, method)
    checked = certify(program, result)
    assert result.status is checked.status is Status.SOLVED
    assert result.gap_scale == checked.gap_scale
    assert result.gap == pytest.approx(checked.gap, rel=1e-2, abs=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_farkas_vector_of_either_sign_is_a_certificate(sign):
    """y = 1 with <I, X> = -1: A^*(y) = I, b^T y = -1."""
    result = certify(SDP.from_matrices(np.eye(2), [np.eye(2)], [-1.0]), [sign * 1e3])
    assert (result.status, result.bound_kind, result.method) == (Status.INFEASIBLE, "rigorous", "certify")
    assert result.dual[0] > 0.0


def test_a_ray_is_a_certificate():
    """X_22 may grow forever with X_11 = 1; X = diag(1, 1e9) is near the ray, and X = I is feasible but no ray."""
    program = SDP.from_matrices(np.diag([0.0, -1.0]), [np.diag([1.0, 0.0])], [1.0])
    result = certify(program, [0.0], np.diag([1.0, 1e9]))
    assert result.status is Status.UNBOUNDED
    np.testing.assert_allclose(program.block(result.x, 0), np.diag([0.0, 1.0]), atol=1e-8)
    assert certify(program, [0.0], np.eye(2)).status is Status.STALLED
