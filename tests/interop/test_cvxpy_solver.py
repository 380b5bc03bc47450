"""unipd as a solver of CVXPY models: values, variables, dual values, statuses, options."""

import subprocess
import sys

import numpy as np
import pytest

import unipd
from cvxpy_models import FAMILIES, compare, maxcut
from unipd.apps.sdp import ConeProgram, Cones, Primal
from unipd.errors import InvalidInput
from unipd.status import Status

cp = pytest.importorskip("cvxpy", "1.9", "CVXPY 1.9 has left Python 3.10")


@pytest.fixture
def solver():
    return unipd.cvxpy.Solver()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_models_agree_with_clarabel(family, solver):
    assert compare(family(np.random.default_rng(7)), solver, 1e-7) == "right"


def dual_values(problem, **options):
    problem.solve(**options)
    assert problem.status == cp.OPTIMAL
    values = [limit.dual_value for limit in problem.constraints]
    return [
        np.concatenate([np.ravel(part) for part in value]) if isinstance(value, list) else value for value in values
    ]


def models_with_unique_duals():
    generator = np.random.default_rng(3)
    A, b = generator.standard_normal((7, 4)), generator.standard_normal(7)
    matrices = [matrix + matrix.T for matrix in generator.standard_normal((5, 4, 4))]
    x, X, Y, H = cp.Variable(4), cp.Variable((4, 4), PSD=True), cp.Variable((3, 4)), cp.Variable((3, 3), hermitian=True)
    pencil = 6 * np.eye(4) + sum(x[k] * matrices[k] for k in range(4))
    phase = np.array([[1.0, 1j, 2.0], [-1j, 0.0, 1 - 1j], [2.0, 1 + 1j, -1.0]])
    fit = cp.sum_squares(A @ x - b)
    return {
        "equation and bounds": (cp.Minimize(fit), [cp.sum(x) == 2, x >= 0.1, x[0] <= 0.3]),
        "second-order": (cp.Minimize(fit), [cp.norm(x) <= 0.2, cp.SOC(0.3 + x[0], x[1:])]),
        "linear matrix inequality": (cp.Minimize(A[0] @ x), [pencil >> 0]),
        "psd variable": (cp.Minimize(cp.trace(matrices[4] @ X)), [cp.diag(X) == 1, X[0, 1] >= 0.2]),
        "psd constraint": (cp.Maximize(cp.trace(matrices[4] @ X)), [X << np.eye(4), cp.trace(X) == 1.5]),
        "nuclear": (cp.Minimize(cp.normNuc(Y)), [Y[:2, :2] == A[:2, :2], cp.sum(Y) == 3]),
        "hermitian": (cp.Minimize(cp.real(cp.trace(phase @ H))), [H >> 0, cp.real(cp.trace(H)) == 1]),
    }


@pytest.mark.parametrize("name", models_with_unique_duals())
def test_dual_values_are_those_of_clarabel(name, solver):
    problem = cp.Problem(*models_with_unique_duals()[name])
    ours = dual_values(problem, solver=solver, accuracy=1e-9)
    variables = [variable.value for variable in problem.variables()]
    theirs = dual_values(problem, solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    for found, expected in zip(ours, theirs, strict=True):
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, atol=2e-4)
    for found, variable in zip(variables, problem.variables(), strict=True):
        np.testing.assert_allclose(found, variable.value, atol=2e-4)


def test_dual_values_of_complex_constraints_are_hermitian(solver):
    generator = np.random.default_rng(5)
    cost, variable = generator.standard_normal((2, 3, 3)), cp.Variable((3, 3), hermitian=True)
    cost = cost[0] + cost[0].T + 1j * (cost[1] - cost[1].T)
    problem = cp.Problem(
        cp.Minimize(cp.real(cp.trace(cost @ variable))), [variable >> 0, cp.norm(variable, "fro") <= 2]
    )
    problem.solve(solver=solver, accuracy=1e-8)
    dual = problem.constraints[0].dual_value
    np.testing.assert_allclose(dual, dual.conj().T, atol=1e-12)
    rest = cost + problem.constraints[1].dual_value * variable.value / 2.0  # the gradient of the Lagrangian
    np.testing.assert_allclose(dual, rest, atol=1e-4)


def random_cone_program(seed):
    """Return a program with interior points on both sides, and rows of one entry in every cone."""
    generator = np.random.default_rng(seed)
    cones = Cones(2, 5, (4, 1, 3), (1, 3))
    rows, columns = 2 + 5 + 8 + 7, 9
    A = generator.standard_normal((rows, columns)) * (generator.random((rows, columns)) < 0.4)
    A[[3, 8, 11, 17]] = 0.0
    A[[3, 8, 11, 17], [0, 1, 2, 3]] = generator.standard_normal(4)
    A[12], A[:, 4] = 0.0, 0.0
    A[12, [4, 5]] = 2.0, 1.0
    inside = np.concatenate([np.ones(5), [3, 1, 0, 1], [1], [2, 1, 0], [1], [1, 0, 0, 1, 0, 1]])
    x, y = generator.standard_normal(columns), np.concatenate([generator.standard_normal(2), inside])
    return ConeProgram(-A.T @ y, A, A @ x + np.concatenate([np.zeros(2), inside]), cones)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_primal", [True, False])
def test_both_forms_satisfy_the_optimality_conditions(seed, is_primal):
    program = random_cone_program(seed)
    if is_primal:
        program.form = Primal(program)
        assert program.form.pivot_rows.size >= 5
    assert isinstance(program.form, Primal) == is_primal
    solution = program.solve(1e-8)
    assert solution.status is Status.SOLVED
    x, y, s = solution.x, solution.y, program.b - program.A @ solution.x
    assert np.abs(program.c + program.A.T @ y).max() <= 1e-6
    assert np.abs(s[:2]).max() <= 1e-6
    assert program.c @ x + program.b @ y == pytest.approx(0.0, abs=1e-5)
    for vector in (s, y):
        assert vector[2:7].min() >= -1e-6
        for cone in (vector[7:11], vector[12:15]):
            assert cone[0] - np.linalg.norm(cone[1:]) >= -1e-6
        assert min(vector[11], vector[15]) >= -1e-6
        matrix = np.zeros((3, 3))
        matrix[np.triu_indices(3)] = vector[16:] / np.array([1, 2**0.5, 2**0.5, 1, 2**0.5, 1])
        assert np.linalg.eigvalsh(matrix, "U").min() >= -1e-6


@pytest.mark.parametrize("seed", [0, 34, 54])
def test_unbounded_models_with_rays_on_the_edge_of_a_cone(seed, solver):
    """A geometric mean with a constant stays feasible only along an edge of its second-order cone."""
    generator, x, y = np.random.default_rng(seed), cp.Variable(3), cp.Variable(3)
    rows = generator.standard_normal((3, 3))
    form = generator.standard_normal((6, 3)) @ y + generator.standard_normal(6)
    other = generator.standard_normal((4, 3)) @ x + generator.standard_normal((4, 3)) @ y
    limits = [rows[0] @ x + rows[1] @ y == 1, cp.geo_mean(cp.hstack([2, x[0] + 3])) >= 0.1]
    problem = cp.Problem(cp.Minimize(cp.max(form) + cp.max(other)), limits)
    problem.solve(solver=solver)
    assert problem.status == cp.UNBOUNDED


def statuses():
    x, X, M = cp.Variable(3), cp.Variable((3, 3), PSD=True), np.random.default_rng(2).standard_normal((10, 3))
    return [
        (cp.Problem(cp.Minimize(x[0]), [x >= 1, x[0] <= 0]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 1, cp.sum(x) == 2]), "infeasible"),
        (cp.Problem(cp.Minimize(X[0, 1]), [X[0, 0] == -1]), "infeasible"),
        (cp.Problem(cp.Minimize(x[0]), [0 * x >= 1]), "infeasible"),
        (cp.Problem(cp.Minimize(x[0]), [x <= 1]), "unbounded"),
        (cp.Problem(cp.Minimize(x[0])), "unbounded"),
        (cp.Problem(cp.Maximize(cp.trace(X)), [X[0, 0] == 1]), "unbounded"),
        (cp.Problem(cp.Minimize(0 * x[0]), [0 * x >= -1]), "optimal"),
        (cp.Problem(cp.Minimize(0), [x >= 1]), "optimal"),
        (cp.Problem(cp.Minimize(cp.sum_squares(x)), [x[0] >= 1, x[0] <= -1]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 0, cp.sum(x) == -1]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.norm1(x)), [x[0] + x[1] >= 1, x[0] + x[1] <= -1]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.norm(x) <= 1, cp.sum(x) >= 10]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.sum(cp.huber(x - 3))), [x >= 0, cp.sum(x) == -1]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.sum(cp.huber(M @ x - 1))), [M[0] @ x >= 1, M[0] @ x <= -1]), "infeasible"),
        (cp.Problem(cp.Minimize(cp.sum_squares(x[0]) - x[1]), [x[1] >= 0]), "unbounded"),
        (cp.Problem(cp.Minimize(cp.sum(cp.huber(x[:2])) - x[2]), [x >= 0]), "unbounded"),
    ]


@pytest.mark.parametrize("index", range(len(statuses())))
def test_statuses(index, solver):
    problem, status = statuses()[index]
    problem.solve(solver=solver)
    assert problem.status == status


def test_a_low_rank_model_reaches_the_factored_method(solver):
    problem = maxcut(200)
    problem.solve(solver=solver, accuracy=1e-6)
    stats = problem.solver_stats
    assert stats.solver_name == "UNIPD"
    assert stats.extra_stats.method == "factored"
    assert stats.extra_stats.status is Status.SOLVED
    assert (stats.solve_time, stats.num_iters) == (stats.extra_stats.seconds, stats.extra_stats.iterations)
    X = problem.variables()[0].value
    assert np.abs(np.diag(X) - 1.0).max() <= 1e-6
    assert np.linalg.eigvalsh(X).min() >= -1e-9
    assert problem.value <= -stats.extra_stats.dual_bound * (1.0 + 1e-9)


def test_options_are_passed_on(solver, capsys):
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.norm1(x)), [np.arange(8.0).reshape(2, 4) @ x == 1])
    with pytest.warns(UserWarning, match="inaccurate"):
        problem.solve(solver=solver, accuracy=1e-6, max_iters=2)
    assert problem.status == "user_limit"
    assert problem.solver_stats.extra_stats.iterations == 2
    with pytest.warns(UserWarning, match="inaccurate"):
        problem.solve(solver=solver, time_limit=1e-9)
    assert problem.solver_stats.extra_stats.status is Status.TIME_LIMIT
    problem.solve(solver=unipd.cvxpy.Solver(method="interior"), verbose=True)
    assert "interior" in capsys.readouterr().err
    for options, message in [({"bogus": 1}, "bogus"), ({"time_limit": -1}, "time_limit"), ({"max_iters": 0}, "max_it")]:
        with pytest.raises(InvalidInput, match=message):
            problem.solve(solver=solver, **options)


def test_methods_that_do_not_apply_are_refused():
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 1, x >= cp.norm(x) - 3])
    for method, message in [("bogus", "one of auto, interior"), ("factored", "second-order cones")]:
        with pytest.raises(InvalidInput, match=message):
            problem.solve(solver=unipd.cvxpy.Solver(method=method))


def test_a_stalled_run_is_inaccurate(solver):
    problem = FAMILIES[0](np.random.default_rng(0))
    with pytest.warns(UserWarning, match="inaccurate"):
        problem.solve(solver=solver, accuracy=1e-16)
    assert problem.status == "optimal_inaccurate"
    assert problem.value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)


def test_an_optimal_value_of_zero_is_no_failure(solver):
    """Robust regression without noise: errors are relative to 1, not to the value."""
    problem = FAMILIES[1](np.random.default_rng([11, 76]))
    assert problem.solve(solver=solver, accuracy=1e-6) == pytest.approx(0.0, abs=1e-8)
    assert problem.status == "optimal"


@pytest.mark.parametrize("scale", [1e7, 1e9, 1e11])
@pytest.mark.parametrize("norm", [cp.norm, cp.norm_inf, cp.sum_squares])
def test_a_value_of_zero_is_found_far_from_the_origin(norm, scale, solver):
    """The gap of the program is relative to its data, which are larger than the value by far."""
    x, centre = cp.Variable(20), scale * np.random.default_rng(0).standard_normal(20)
    problem = cp.Problem(cp.Minimize(norm(x - centre)))
    assert problem.solve(solver=solver) == pytest.approx(0.0, abs=1e-3)
    assert problem.status == "optimal"
    np.testing.assert_allclose(x.value, centre, rtol=1e-6)


def models_with_a_far_bound(far):
    """The bound is inactive, and feasibility or gaps relative to it would say nothing."""
    generator, x = np.random.default_rng(1), cp.Variable(8)
    cost, rows, point = 0.5 + generator.random(8), 0.1 + generator.random((5, 8)), generator.random(8)
    return {
        "prices": cp.Problem(cp.Maximize(cost @ x), [rows @ x <= 1, x >= 0, x <= far]),
        "covering": cp.Problem(cp.Minimize(cost @ x), [rows @ x >= rows @ point, x >= -1, x <= far]),
        "fit": cp.Problem(cp.Minimize(cp.norm1(rows @ (x - point)) + 0.1 * cp.norm_inf(x)), [x >= -far, x <= far]),
        "ball": cp.Problem(cp.Minimize(cp.norm(rows @ (x - 1)) + cp.sum(x)), [x >= 0, cp.norm(x) <= far]),
    }


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("name", models_with_a_far_bound(1.0))
def test_bounds_far_from_the_solution_change_nothing(name, far, solver):
    problem, near = models_with_a_far_bound(far)[name], models_with_a_far_bound(100.0)[name]
    value = near.solve(solver="CLARABEL")
    assert problem.solve(solver=solver, accuracy=1e-7) == pytest.approx(value, abs=1e-6)
    assert problem.status == "optimal"
    for ours, theirs in zip(problem.constraints, near.constraints, strict=True):
        np.testing.assert_allclose(ours.dual_value, theirs.dual_value, atol=1e-4)


def test_far_bounds_that_matter_are_kept(solver):
    x = cp.Variable(2)
    highest = cp.Problem(cp.Maximize(x[0] - x[1]), [x <= 1e9, x >= -1])
    assert highest.solve(solver=solver) == pytest.approx(1e9, rel=1e-6)
    distant = cp.Problem(cp.Minimize(cp.norm1(x - 3e9)), [x <= 1e9, x >= 0])
    assert distant.solve(solver=solver) == pytest.approx(4e9, rel=1e-6)
    assert cp.Problem(cp.Minimize(x[0]), [x[1] >= 3, x <= 1e9]).solve(solver=solver) == -np.inf
    assert cp.Problem(cp.Minimize(x[0]), [x[1] >= 3, x[1] <= 2, x <= 1e9]).solve(solver=solver) == np.inf
    between = cp.Problem(cp.Minimize(cp.abs(x[0] - 2e7) + cp.abs(x[1])), [x <= 1e7])
    assert between.solve(solver=solver, max_iters=1000) == pytest.approx(1e7, rel=1e-6)


def test_other_cones_and_integers_are_refused_by_name(solver):
    x, z = cp.Variable(3), cp.Variable(3, integer=True)
    for problem, name in [
        (cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), "ExpCone"),
        (cp.Problem(cp.Minimize(x[0]), [cp.PowCone3D(x[0], x[1], x[2], 0.3)]), "PowCone3D"),
        (cp.Problem(cp.Minimize(cp.sum(z)), [z >= 0.5]), "mixed-integer"),
    ]:
        with pytest.raises(cp.error.SolverError, match=name):
            problem.solve(solver=solver)


def test_parameters_may_change(solver):
    x, bound = cp.Variable(2), cp.Parameter(value=1.0)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= bound])
    assert problem.solve(solver=solver) == pytest.approx(2.0, rel=1e-5)
    bound.value = 3.0
    assert problem.solve(solver=solver) == pytest.approx(6.0, rel=1e-5)


@pytest.mark.parametrize("objective", [cp.sum, cp.sum_squares])
def test_bounds_may_be_infinite(objective, solver):
    x = cp.Variable(3)
    bounds = [x <= np.array([np.inf, 2, 2]), x >= np.array([1, 1, -np.inf]), x[2] >= 1.5]
    problem = cp.Problem(cp.Minimize(objective(x)), bounds)
    problem.solve(solver=solver, accuracy=1e-8)
    np.testing.assert_allclose(x.value, [1, 1, 1.5], atol=1e-5)
    assert bounds[0].dual_value == pytest.approx(np.zeros(3), abs=1e-5)


def test_cvxpy_is_imported_on_first_use():
    code = "import sys, unipd; assert 'cvxpy' not in sys.modules; unipd.cvxpy.Solver(); assert 'cvxpy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_changed_models_start_from_the_last_solution(solver):
    random = np.random.default_rng(3)
    weights = np.triu(random.random((60, 60)) < 0.2, 1) * 1.0
    cost, X = cp.Parameter((60, 60), symmetric=True), cp.Variable((60, 60), PSD=True)
    cost.value = weights + weights.T
    problem = cp.Problem(cp.Minimize(cp.trace(cost @ X)), [cp.diag(X) == 1])

    def solve(warm_start):
        problem.solve(solver=solver, accuracy=1e-5, warm_start=warm_start)
        return problem.value, problem.solver_stats.extra_stats.counts.matvecs

    solve(True)
    cost.value = 1.001 * cost.value + 1e-3 * np.eye(60)
    cold, warm = solve(False), solve(True)
    assert warm[0] == pytest.approx(cold[0], rel=1e-4)
    assert warm[1] < 0.7 * cold[1]


@pytest.mark.parametrize("width", [1e4, 1e8, 1e10])
@pytest.mark.parametrize("is_packing", [False, True])
def test_bounds_far_from_the_solution_change_no_answer(solver, width, is_packing):
    """The gap of x = 0 is not relative to the cost over the whole box."""
    random, x = np.random.default_rng(1), cp.Variable(20)
    rows, cost = 0.1 + random.random((5, 20)), 0.5 + random.random(20)
    limits = rows @ random.uniform(0.0, 1.0, 20)
    sides, cost = ([rows @ x <= 1.0], -cost) if is_packing else ([rows @ x == limits], cost)
    known = cp.Problem(cp.Minimize(cost @ x), [*sides, x >= 0.0]).solve(solver=cp.CLARABEL)
    model = cp.Problem(cp.Minimize(cost @ x), [*sides, x >= 0.0, x <= width])
    assert model.solve(solver=solver, accuracy=1e-6) == pytest.approx(known, rel=1e-5)
    assert model.status == cp.OPTIMAL
