"""Cone programs that are the template: patterns are recognised, solved and mapped back; near misses are not taken."""

import numpy as np
import pytest

import unipd
from unipd import sharp
from unipd.apps.sdp import FallbackRule, find_template
from unipd.errors import InvalidInput
from unipd.status import Status

cp = pytest.importorskip("cvxpy", "1.9", "CVXPY 1.9 has left Python 3.10")

RANDOM = np.random.default_rng(4)
G, h, c = RANDOM.standard_normal((5, 8)), RANDOM.standard_normal(5), RANDOM.standard_normal(8)
H = RANDOM.standard_normal((2, 8))
INSIDE = H @ np.full(8, 1 / 8)
S = RANDOM.standard_normal((4, 4))
x, t, u, X, Y = cp.Variable(8), cp.Variable(8), cp.Variable(2), cp.Variable((4, 4), PSD=True), cp.Variable((3, 4))
FIT, POSITIVE, ROWS = cp.sum_squares(G @ x - h), x >= 0, H @ x <= INSIDE

MODELS = {
    "least squares on a simplex": (cp.Minimize(3 * FIT + c @ x), [POSITIVE, cp.sum(x) == 1], sharp.Simplex),
    "linear on a simplex": (cp.Minimize(c @ x), [POSITIVE, 2 * cp.sum(x) == 2, ROWS], sharp.Simplex),
    "simplex with 0": (cp.Minimize(FIT), [POSITIVE, cp.sum(x) <= 0.3, ROWS], sharp.UnitSimplex),
    "l1 ball": (cp.Minimize(FIT), [cp.norm1(x) <= 0.5], sharp.L1Ball),
    "scaled l1 ball": (cp.Maximize(c @ x), [2 * cp.norm1(3 * x) <= 5, H @ x == INSIDE], sharp.L1Ball),
    "Euclidean ball": (cp.Minimize(c @ x), [cp.norm2(x) <= 1, H @ x == INSIDE], sharp.L2Ball),
    "second-order cone": (cp.Minimize(FIT + cp.norm1(H @ x - 1)), [cp.SOC(2, -2 * x)], sharp.L2Ball),
    "maximum norm": (cp.Minimize(FIT + c @ x), [cp.norm_inf(x) <= 0.2], sharp.Box),
    "box": (cp.Minimize(cp.norm1(G @ x - h) + 2), [x >= -0.1, x <= np.arange(8), ROWS], sharp.Box),
    "trace ball": (cp.Minimize(cp.sum_squares(X - S)), [cp.trace(X) <= 1, X[0, 1] >= -0.01], sharp.TraceBall),
    "sparse components": (
        cp.Maximize(cp.trace((S + S.T) @ X) - 0.3 * cp.sum(cp.abs(X))),
        [cp.trace(X) == 1],
        sharp.Spectrahedron,
    ),
    "nuclear ball": (
        cp.Minimize(cp.sum_squares(Y - S[:3]) / 2 + cp.sum_squares(Y[0])),
        [cp.normNuc(Y) <= 1, Y[1, 1] == 0.1],
        sharp.TraceBall,
    ),
}

OTHERS = {
    "no set": (cp.Minimize(FIT), [ROWS]),
    "a penalty": (cp.Minimize(FIT + cp.norm1(x)), []),
    "no rows": (cp.Minimize(c @ x), [POSITIVE, cp.sum(x) == 1]),
    "weighted sum": (cp.Minimize(FIT), [POSITIVE, np.arange(1.0, 9.0) @ x == 1]),
    "part of a simplex": (cp.Minimize(FIT), [x[:7] >= 0, cp.sum(x) == 1]),
    "shifted simplex": (cp.Minimize(FIT), [x >= 0.01, cp.sum(x) == 1]),
    "weighted l1 ball": (cp.Minimize(FIT), [cp.norm1(cp.multiply(np.arange(1.0, 9.0), x)) <= 1]),
    "moving l1 ball": (cp.Minimize(FIT), [cp.norm1(x) <= 1 + x[0]]),
    "shifted ball": (cp.Minimize(FIT), [cp.norm2(x - 1) <= 1]),
    "two balls": (cp.Minimize(FIT), [cp.norm2(x) <= 1, cp.norm2(G @ x) <= 1]),
    "ball of a part": (cp.Minimize(FIT), [cp.norm2(x[:5]) <= 1]),
    "empty box": (cp.Minimize(FIT), [x >= 1, x <= 0]),
    "ratio": (cp.Minimize(cp.quad_over_lin(G @ x - h, 1 + x[0])), [POSITIVE, cp.sum(x) == 1]),
    "norm": (cp.Minimize(cp.norm2(G @ x - h)), [POSITIVE, cp.sum(x) == 1]),
    "asymmetric": (cp.Minimize(cp.sum(cp.maximum(G @ x - h, -2 * (G @ x - h)))), [POSITIVE, cp.sum(x) == 1]),
    "semidefinite program": (cp.Minimize(cp.trace(S @ X)), [cp.trace(X) == 1, X[0, 1] == 0]),
    "weighted trace": (cp.Minimize(cp.sum_squares(X - S)), [cp.trace(np.diag([1, 2, 1, 1]) @ X) <= 1]),
    "sum of other variables": (
        cp.Minimize(FIT),
        [x <= t, -x <= t, cp.sum(t) + cp.sum(u) <= 1, cp.sum(u) >= 0, u[0] + u[1] >= 0],
    ),
    "constant end of a matrix": (cp.Minimize(x[0]), [cp.bmat([[x[0], 1.0], [1.0, 2.0]]) >> 0]),
    "constant end of a cone": (cp.Minimize(c @ x), [cp.norm2(cp.hstack([x, 1])) <= 3]),
    "shifted matrix": (cp.Minimize(cp.sum_squares(X - S)), [cp.trace(X) <= 9, X >> 0.1 * np.eye(4)]),
}


def read(objective, constraints):
    problem = cp.Problem(objective, constraints)
    return problem, unipd.cvxpy.read_program(problem.get_problem_data(unipd.cvxpy.Solver())[0])


@pytest.mark.parametrize("name", MODELS)
def test_solutions_satisfy_the_optimality_conditions(name):
    *model, kind = MODELS[name]
    _, program = read(*model)
    template = find_template(program)
    assert template is not None
    assert type(template.shape.oracle) is kind
    solution = template.solve(1e-7)
    assert solution.status is Status.SOLVED
    x, y, s = solution.x, solution.y, program.b - program.A @ solution.x
    np.testing.assert_allclose(program.c + program.A.T @ y, 0.0, atol=1e-9)
    np.testing.assert_allclose(s[: program.cones.zero], 0.0, atol=1e-6)
    assert program.c @ x + program.b @ y == pytest.approx(0.0, abs=2e-6 * max(1.0, abs(program.c @ x)))
    for vector in (s, y):
        assert distance_from_cone(vector, program.cones) <= 1e-6


def distance_from_cone(vector, cones):
    """Return how far a vector lies outside the cones after the zero cone."""
    place = cones.zero + cones.nonnegative
    worst = max(0.0, -vector[cones.zero : place].min(initial=0.0))
    for size in cones.second_order:
        worst = max(worst, np.linalg.norm(vector[place + 1 : place + size]) - vector[place])
        place += size
    for order in cones.psd:
        matrix, (col, row) = np.zeros((order, order)), np.triu_indices(order)
        matrix[row, col] = vector[place : place + row.size] * np.where(row == col, 1.0, np.sqrt(0.5))
        worst = max(worst, -np.linalg.eigvalsh(matrix)[0])
        place += row.size
    return worst


@pytest.mark.parametrize("name", MODELS)
def test_models_agree_with_clarabel(name):
    objective, constraints, _ = MODELS[name]
    problem = cp.Problem(objective, constraints)
    value = problem.solve(solver=unipd.cvxpy.Solver(), accuracy=1e-7)
    assert problem.status == cp.OPTIMAL
    assert problem.solver_stats.extra_stats.method != "interior"
    assert max(np.max(limit.violation()) for limit in constraints) <= 1e-6
    duals = [limit.dual_value for limit in constraints]
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6, abs=1e-6)
    for ours, limit in zip(duals, constraints, strict=True):
        if not isinstance(ours, list) and np.size(ours) == 1:
            assert ours == pytest.approx(limit.dual_value, abs=1e-3)


@pytest.mark.parametrize("name", OTHERS)
def test_near_misses_are_not_taken(name):
    assert find_template(read(*OTHERS[name])[1]) is None


def test_interior_points_take_over_where_the_template_stalls(monkeypatch):
    monkeypatch.setattr(FallbackRule, "iterations", 1)
    problem = cp.Problem(*MODELS["least squares on a simplex"][:2])
    value = problem.solve(solver=unipd.cvxpy.Solver(), accuracy=1e-7)
    stats = problem.solver_stats
    assert stats.extra_stats.method == "interior"
    problem.solve(solver=unipd.cvxpy.Solver(method="interior"), accuracy=1e-7)
    assert stats.num_iters == 1 + problem.solver_stats.num_iters
    with pytest.raises(InvalidInput, match="stop"):
        problem.solve(solver=unipd.cvxpy.Solver(), stop=3)
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)


def test_changed_models_start_from_the_last_solution():
    offset = cp.Parameter(5, value=h)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(G @ x - offset)), [cp.norm1(x) <= 0.5])
    solver = unipd.cvxpy.Solver()
    problem.solve(solver=solver, warm_start=True)
    offset.value = 1.001 * h
    value = problem.solve(solver=solver, warm_start=True)
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-5)
