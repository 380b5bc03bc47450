"""Programs without a solution, or without a bound on the trace: what is proved, and what is said."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

import unipd
from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import SDP, Block, SdpData, find_ray, find_separation, measure_margins
from unipd.maps import Entries
from unipd.report import describe_certificate
from unipd.run import summary_rows

OFF = np.array([[0.0, 0.5], [0.5, 0.0]])
CORNER = np.diag([1.0, 0.0])


def linear(cost, rows, b, kind):
    """min <c, x>, A x = b, x a vector of one kind."""
    size = len(cost)
    matrices = Entries.from_matrices([np.diag(row) for row in rows])
    b = np.array(b, float)
    return SDP(SdpData(size, Entries.from_matrices([np.diag(cost)]), matrices, b, b, (Block(0, size, kind),)))


@pytest.mark.parametrize(
    "program",
    [
        SDP.from_matrices(np.eye(2), [np.array([[2.0, 1.0], [1.0, 1.0]]), 2.0 * OFF], [-1.0, 1.0]),
        SDP.from_matrices(np.eye(2), [np.array([[2.0, 1.0], [1.0, 1.0]])], [-1.0], "<="),
        linear([1.0, 1.0], [[1.0, 2.0]], [-1.0], "nonnegative"),
        linear([1.0, 0.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 5.0], "second_order"),
        linear([1.0, 0.0, 0.0], [[1.0, 0.0, 0.0]], [-1.0], "second_order"),
    ],
)
def test_infeasible_programs_come_with_a_proof(program):
    """A^*(y) lies in the dual cone and b^T y < 0, for whatever the bounds allow."""
    result = program.solve(1e-6)
    assert result.status is Status.INFEASIBLE, result.message
    assert program.data.support_of_bounds(result.dual) < 0.0
    margins = measure_margins(program.data.blocks, program.adjoint(result.dual))
    assert margins.min() >= -1e-6


@pytest.mark.parametrize("method", ["auto", "interior", "splitting", "factored"])
def test_constraints_of_zeros_alone_leave_the_cone(method):
    """<0, X> = 0 allows every X: the solution is X = 0, or there is none."""
    program = SDP.from_matrices(np.eye(2), [np.zeros((2, 2))], [0.0])
    result = program.solve(1e-6, method)
    assert result.status is Status.SOLVED, result.message
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert SDP.from_matrices(-CORNER, [np.zeros((2, 2))], [0.0]).solve().status is Status.UNBOUNDED


@pytest.mark.parametrize("seed", range(6))
def test_differences_of_nonnegative_variables_leave_a_proof_of_infeasibility(seed):
    """The multipliers of a proof vanish on the differences exactly, so none lies inside the dual cone."""
    random = np.random.default_rng(seed)
    multipliers, differences = random.standard_normal(5), random.standard_normal((5, 2))
    multipliers -= differences @ np.linalg.lstsq(differences, multipliers, rcond=None)[0]
    unit = multipliers / (multipliers @ multipliers)
    factor, others = random.standard_normal((3, 3)), random.standard_normal((5, 3, 3))
    separating = factor @ factor.T + 0.1 * np.eye(3)
    b = random.standard_normal(5)
    b -= unit * (1.0 + multipliers @ b)
    matrices = []
    for scale, other, pair in zip(unit, others, differences, strict=True):
        rest = other + other.T - scale * np.tensordot(multipliers, others + others.transpose(0, 2, 1), 1)
        matrices.append(block_diag(rest + scale * separating, np.diag(np.concatenate([pair, -pair]))))
    cost = np.diag(random.standard_normal(7))
    result = SDP.from_matrices(cost, matrices, b, blocks=[3, -4]).solve(1e-6)
    assert result.status is Status.INFEASIBLE, result.message


def test_a_separation_of_a_limited_trace_says_so():
    """diag(1, -d) y proves that no X of trace below 1 / d has X_11 - d X_22 = -1."""
    program = SDP.from_matrices(np.eye(2), [np.diag([1.0, -1e-3])], [-1.0])
    proof = find_separation(program.data, np.ones(1))
    assert proof.excluded == pytest.approx(1e3)
    assert find_separation(program.data, -np.ones(1)) is None


def test_an_infimum_that_is_not_attained_excludes_no_feasible_trace():
    """min X_11 with X_12 = 1 is 0, for ever larger X; the least feasible X, of ones, has trace 2."""
    result = SDP.from_matrices(CORNER, [2.0 * OFF], [2.0]).solve(1e-6)
    assert result.status is Status.STALLED
    excluded = re.search(r"No X of trace at most (\S+) is feasible \(proved\)", result.message)
    assert 1.9 < float(excluded[1]) < 2.0


@pytest.mark.parametrize(
    "program",
    [
        SDP.from_matrices(-np.eye(2), [2.0 * OFF], [2.0]),
        SDP.from_matrices(np.eye(2), [2.0 * OFF], [2.0], maximise=True),
        SDP.from_matrices(-CORNER, [np.eye(2)], [1.0], ">="),
        linear([-1.0, 0.0], [[1.0, -1.0]], [1.0], "nonnegative"),
        linear([0.0, 1.0, 0.0], [[0.0, 0.0, 1.0]], [1.0], "second_order"),
        linear([1.0, 1.0], [[1.0, -1.0]], [1.0], "free"),
        linear([-1.0, 0.0, 0.0], [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0], "second_order"),
    ],
)
def test_unbounded_programs_come_with_a_ray(program):
    """D lies in the cone, A(D) keeps the constraints, and the objective improves along D."""
    data = program.data
    result = program.solve(1e-6)
    assert result.status is Status.UNBOUNDED, result.message
    both = data.cost_and_constraints.image(result.x)
    assert both[0] < 0.0
    assert result.extras["ray_objective"] == pytest.approx(-both[0] if program.maximise else both[0])
    growth = np.where(np.isfinite(data.upper), both[1:], 0.0), np.where(np.isfinite(data.lower), -both[1:], 0.0)
    assert np.maximum(*growth).max() <= 1e-6 * -both[0]
    assert result.extras["ray_residual"] <= 1e-6
    part = data.block(result.x, 0)
    if data.blocks[0].kind == "psd":
        assert np.linalg.eigvalsh(part)[0] >= -1e-12
    elif data.blocks[0].kind == "second_order":
        assert part[0] >= np.linalg.norm(part[1:]) * (1.0 - 1e-12)
    assert len(result.history) > 0
    assert "unbounded" in result.message


def test_a_direction_that_changes_the_constraints_is_no_ray():
    data = SDP.from_matrices(-np.eye(2), [CORNER], [1.0]).data
    assert find_ray(data, data.point([np.diag([1.0, 1.0])])) is None
    assert find_ray(data, data.point([np.diag([0.0, 1.0])])).objective == pytest.approx(-1.0)


@pytest.mark.parametrize("share", [1e-3, 1e-5, 1e-7, 1e-9])
def test_a_direction_near_the_edge_of_a_second_order_cone_is_no_ray(share):
    """x_1 = x_2 allows multiples of (1, 1, 0) alone, but (1, 1 - t^2 / 2, t) is within t^2 of that."""
    program = linear([0.0, 0.0, -1.0], [[1.0, -1.0, 0.0]], [0.0], "second_order")
    direction = np.array([np.hypot(1.0, share), 1.0, share])
    assert find_ray(program.data, program.data.point([direction])) is None
    assert program.solve(1e-6).status is not Status.UNBOUNDED


def unit(order, i, j):
    """The symmetric matrix whose inner product with X is X_ij."""
    out = np.zeros((order, order))
    out[i, j] += 0.5
    out[j, i] += 0.5
    return out


def forced_zeros(depth):
    """X_11 = 0 and X_ii = X_{i-1,n}, which force zeros one after another: X_{n-1,n} = 0 at last."""
    last = depth
    return [unit(depth + 1, 0, 0)] + [unit(depth + 1, i, i) - unit(depth + 1, i - 1, last) for i in range(1, depth)]


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e4])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_fall_that_the_residual_of_a_ray_explains_is_not_called_unbounded(depth, size):
    """min 2 X_{n-1,n} is 0, but falls by r^(1 / 2^depth) where the constraints are off by r."""
    cost = 2.0 * size * unit(depth + 1, depth - 1, depth)
    result = SDP.from_matrices(cost, forced_zeros(depth), np.zeros(depth)).solve(1e-6)
    assert result.status in (Status.SOLVED, Status.STALLED), result.message
    assert result.status is Status.SOLVED or "may be unbounded, but no ray was proved" in result.message


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_weakly_infeasible_programs_are_not_called_infeasible(depth):
    rows = [*forced_zeros(depth), unit(depth + 1, depth - 1, depth)]
    result = SDP.from_matrices(np.eye(depth + 1), rows, np.eye(1, depth + 1, depth)[0]).solve(1e-6)
    assert result.status is Status.STALLED
    assert "No X of trace at most" in result.message


@pytest.mark.parametrize("turn", [0.0, 0.7])
@pytest.mark.parametrize("corner", [1e-6, 1e-8, 1e-10])
def test_large_feasible_points_are_not_excluded(corner, turn):
    """X_11 = e and X_12 = 1 need X_22 = 1 / e; in other coordinates too."""
    q = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    result = SDP.from_matrices(np.eye(2), [q @ CORNER @ q.T, q @ OFF @ q.T], [corner, 1.0]).solve(1e-6)
    assert result.status in (Status.SOLVED, Status.STALLED), result.message


def test_a_large_vector_is_not_excluded():
    """x_1 - 1e-11 x_2 = -1: no rounding explains the entry that is not zero."""
    proof = find_separation(linear([1.0, 1.0], [[1.0, -1e-11]], [-1.0], "nonnegative").data, np.ones(1))
    assert proof.excluded == pytest.approx(1e11, rel=1e-2)
    assert not proof.is_conclusive


def test_a_singular_separation_is_conditional_on_a_vast_trace():
    """X_11 = -1 is impossible, but diag(1, 0) is psd only up to what a factorisation proves."""
    result = SDP.from_matrices(np.eye(2), [CORNER], [-1.0]).solve(1e-6)
    assert result.status is Status.INFEASIBLE
    assert result.bound_kind == "conditional"
    assert result.extras["trace_bound"] > 1e10


def test_a_bound_for_a_limited_trace_says_so_everywhere(tmp_path):
    """min 2 X_12 + e X_22 with X_11 = 1 is -1 / e: no multiplier near the last one has a psd slack."""
    program = SDP.from_matrices(2.0 * OFF + np.diag([0.0, 1e-8]), [CORNER], [1.0])
    result = program.solve(1e-6)
    limit = result.extras["trace_bound"]
    assert result.bound_kind == result.summary()["bound_kind"] == "conditional"
    assert f"holds for X of trace at most {limit:.6g}" in result.message
    assert f"for X of trace at most {limit:.6g}" in dict(summary_rows(result.summary()))["dual bound"]
    assert any("Kind of bound: conditional" in line and f"{limit:.8g}" in line for line in describe_certificate(result))
    unipd.save(result, tmp_path / "result.npz")
    assert unipd.load(tmp_path / "result.npz").bound_kind == "conditional"


@pytest.mark.parametrize("method", ["factored", "auto"])
def test_a_trace_bound_of_the_user_is_a_condition(method):
    program = SDP.from_matrices(np.diag([-1.0, 2.0]), [np.eye(2)], [1.0], "<=")
    assert program.solve(1e-6, method, trace_bound=0.5).bound_kind == "conditional"
    assert program.solve(1e-6, method).bound_kind == "rigorous"


@pytest.mark.parametrize("limit", [2, 6])
def test_runs_whose_bounds_are_conditional_can_be_resumed(limit, tmp_path):
    program = SDP.from_matrices(2.0 * OFF + np.diag([0.0, 1e-6]), [CORNER], [1.0])
    with unipd.Checkpoint(tmp_path / "run.ckpt"):
        assert program.solve(1e-6, stop=unipd.MaxIterations(limit)).bound_kind == "conditional"
    with unipd.Checkpoint(tmp_path / "run.ckpt", resume=True):
        resumed = program.solve(1e-6)
    whole = program.solve(1e-6)
    assert (resumed.objective, resumed.dual_bound, resumed.status) == (whole.objective, whole.dual_bound, whole.status)


@pytest.mark.parametrize("cost", [np.eye(2), CORNER])
def test_weak_infeasibility_ends_with_what_is_proved(cost):
    """X_11 = 0 and X_12 = 1 are met arbitrarily closely by large X, but by none exactly."""
    result = SDP.from_matrices(cost, [CORNER, OFF], [0.0, 1.0]).solve(1e-6)
    assert result.status is Status.STALLED
    assert "No X of trace at most" in result.message
    assert result.infeasibility < 1e-2


def test_an_infimum_that_is_not_attained_ends_with_a_result():
    """X_11 tends to zero as X_22 grows: the bound 0 is true, no X attains it."""
    result = SDP.from_matrices(CORNER, [OFF], [1000.0]).solve(1e-6)
    assert result.status is Status.STALLED
    assert result.dual_bound <= 1e-9
    assert result.infeasibility <= 1e-6


def test_a_trace_that_the_objective_bounds():
    """The smallest trace with X_12 = 300 is 600; the bound holds for X of any trace."""
    program = SDP.from_matrices(np.eye(2), [OFF], [300.0])
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(600.0, rel=1e-5)
    assert result.extras["trace_bound"] is None


def test_by_the_factored_method_a_guess_of_the_trace_is_enlarged():
    program = SDP.from_matrices(np.eye(2), [OFF], [300.0])
    result = program.solve(1e-6, "factored")
    assert result.method == "factored"
    assert result.objective == pytest.approx(600.0, rel=1e-5)
    assert result.extras["trace_bound"] is None  # and C, which is positive definite, makes the guess unnecessary


def h_infinity(order=4, damping=1e-3):
    """The dual of min g, -[[A'P + PA + C'C, PB], [B'P, -g I]] psd, P psd: a lightly damped system has a large g."""
    random = np.random.default_rng(2)
    a = random.standard_normal((order, order))
    a -= (np.linalg.eigvals(a).real.max() + damping) * np.eye(order)
    b, c = random.standard_normal((order, 2)), random.standard_normal((2, order))
    rows = []
    for i, j in zip(*np.triu_indices(order), strict=True):
        p = np.zeros((order, order))
        p[i, j] = p[j, i] = 1.0
        rows.append(block_diag(-np.block([[a.T @ p + p @ a, p @ b], [b.T @ p, np.zeros((2, 2))]]), p))
    rows.append(block_diag(np.zeros((order, order)), np.eye(2), np.zeros((order, order))))
    cost = block_diag(c.T @ c, np.zeros((order + 2, order + 2)))
    return SDP.from_matrices(cost, rows, np.eye(1, len(rows), len(rows) - 1)[0], maximise=True)


def test_a_large_optimum_is_not_called_unbounded():
    result = h_infinity().solve(1e-6)
    assert result.status is not Status.UNBOUNDED
    assert result.objective == pytest.approx(6.92923e6, rel=1e-4)  # as CSDP


def free_variables(pairs):
    """min <C, X> + f'(p - q), <A_i, X> + a_i'(p - q) = b_i: free variables as differences of nonnegative ones."""
    random = np.random.default_rng(pairs)
    order, size = 6, pairs + 3
    symmetric = [(part + part.T) / 2 for part in random.standard_normal((size, order, order))]
    inner, slack = (part @ part.T / order for part in random.standard_normal((2, order, order)))
    free, y = random.standard_normal((size, pairs)), random.standard_normal(size)
    whole = [block_diag(part, np.diag(row), -np.diag(row)) for part, row in zip(symmetric, free, strict=True)]
    cost = block_diag(slack, np.zeros((2 * pairs, 2 * pairs))) - np.tensordot(y, whole, 1)
    return SDP.from_matrices(cost, whole, [float(np.sum(part * inner)) for part in symmetric])


@pytest.mark.parametrize("pairs", [1, 8])
def test_free_variables_as_differences_may_grow_for_ever(pairs):
    program = free_variables(pairs)
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


def test_a_point_of_an_unbounded_set_is_found():
    """No objective: any X with X_12 = 1 and X_11 = 2 will do, however large X_22."""
    program = SDP.from_matrices(np.zeros((2, 2)), [OFF, CORNER], [1.0, 2.0])
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == 0.0


def with_unused_block(cost):
    """max 2 X_12, X_11 = X_22 = 1, and a second block of order 3 that only the objective has entries in."""
    objective = np.zeros((5, 5))
    objective[0, 1] = objective[1, 0] = -1.0
    objective[2:, 2:] = cost
    matrices = [np.diag(row) for row in np.eye(5)[:2]]
    whole = SDP.from_matrices(objective, matrices, np.ones(2)).data
    return SDP(replace(whole, blocks=(Block(0, 2), Block(2, 3))))


@pytest.mark.parametrize("cost", [np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0]), 4.0 * np.eye(3)])
def test_a_block_without_constraints_is_zero_where_its_cost_is_psd(cost):
    program = with_unused_block(cost)
    result = program.solve(1e-7)
    check(program, result, 1e-7)
    assert result.objective == pytest.approx(-2.0, abs=1e-6)
    assert not program.block(result.x, 1).any()


def test_a_block_without_constraints_is_a_ray_where_its_cost_is_not_psd():
    program = with_unused_block(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 5.0]]))
    result = program.solve()
    assert result.status is Status.UNBOUNDED
    assert result.feasibility_scale is None  # of a ray
    assert np.sum(program.slack(np.zeros(2)).toarray() * result.x.dense()) == pytest.approx(-1.0)
    assert result.extras["ray_residual"] == 0.0


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("cost", [1e-12, 1.0, 1e6, 1e12])
def test_units_change_no_status(cost, size):
    unbounded = SDP.from_matrices(-cost * np.eye(3), [np.diag([1.0, 0.0, 0.0])], [size])
    infeasible = SDP.from_matrices(cost * np.eye(3), [np.eye(3)], [-size])
    solved = SDP.from_matrices(cost * np.eye(2), [CORNER, 2.0 * OFF], [size, size]).solve()
    free = linear([cost, 2.0 * cost], [[1.0, 2.0]], [3.0 * size], "free").solve()
    assert unbounded.solve().status is Status.UNBOUNDED
    assert infeasible.solve().status is Status.INFEASIBLE
    assert solved.status is free.status is Status.SOLVED
    np.testing.assert_allclose([solved.objective, free.objective], [1.25 * cost * size, 3.0 * cost * size], rtol=1e-4)


def test_a_program_without_bound_is_not_solved_at_the_largest_trace():
    """min 2 X_12 with X_11 = 1 falls as the square root of the trace."""
    program = SDP.from_matrices(np.array([[0.0, 1.0], [1.0, 0.0]]), [np.diag([1.0, 0.0])], [1.0])
    result = program.solve(method="factored")
    assert result.status is Status.STALLED
    assert "may be unbounded" in result.message


@pytest.mark.parametrize("seed", range(6))
def test_infeasible_and_unbounded_at_once_is_said(seed):
    """A ray improves the objective, and no X is feasible: where that is not proved, the message leaves it open."""
    generator = np.random.default_rng(seed)
    matrices = generator.standard_normal((3, 4, 4))
    matrices += matrices.transpose(0, 2, 1)
    matrices[:, 0, 0] = 0.0  # <A_i, D> = 0
    matrices[0] = np.diag([0.0, 1.0, 2.0, 3.0])  # <A_1, X> >= 0, and b_1 < 0
    cost = generator.standard_normal() ** 2 * np.eye(4) - 20.0 * np.diag([1.0, 0.0, 0.0, 0.0])
    result = SDP.from_matrices(cost, matrices, [-1.0, 0.5, -0.5]).solve(1e-6)
    assert result.status in (Status.INFEASIBLE, Status.UNBOUNDED)
    proof = "as well" if result.status is Status.UNBOUNDED else "proved by Cholesky factorisations"
    assert proof in result.message
