"""Random small programs through CVXPY: several blocks, nonnegative vectors, equations, inequalities and ranges."""

import numpy as np
import pytest

from unipd import Status
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput

cp = pytest.importorskip("cvxpy", "1.9", "CVXPY 1.9 has left Python 3.10")


def symmetric(generator, order):
    matrix = generator.standard_normal((order, order))
    return (matrix + matrix.T) / 2


def random_problem(seed):
    """Return a feasible problem with two psd blocks and a nonnegative vector, and its variables."""
    generator = np.random.default_rng(seed)
    X, Y = cp.Variable((4, 4), PSD=True), cp.Variable((3, 3), symmetric=True)
    t = cp.Variable(3, nonneg=True)
    interior = [np.eye(4), np.eye(3), np.ones(3)]

    def form():
        parts = [symmetric(generator, 4), symmetric(generator, 3), generator.standard_normal(3)]
        value = sum(float(np.sum(part * point)) for part, point in zip(parts, interior, strict=True))
        return cp.trace(parts[0] @ X) + cp.trace(parts[1] @ Y) + parts[2] @ t, value

    constraints = [Y >> 0, cp.trace(X) + cp.trace(Y) + cp.sum(t) <= 12]
    for kind in range(6):
        expression, value = form()
        if kind % 3 == 0:
            constraints.append(expression == value)
        elif kind % 3 == 1:
            constraints.append(expression <= value + 0.3)
        else:
            constraints += [expression >= value - 0.2, expression <= value + 0.1]
    objective, _ = form()
    kind = cp.Maximize if seed % 2 else cp.Minimize
    return cp.Problem(kind(objective + 0.5), constraints), (X, Y, t)


@pytest.mark.parametrize("seed", range(6))
def test_random_problems_have_the_same_optimum(seed):
    problem, variables = random_problem(seed)
    program = SDP.from_cvxpy(problem)
    assert sorted((block.kind, block.size) for block in program.data.blocks) == sorted(
        ("nonnegative" if variable.ndim == 1 else "psd", variable.shape[0]) for variable in variables
    )
    result = program.solve(1e-6)
    optimum = problem.solve(solver="CLARABEL")
    assert result.status is Status.SOLVED, result.message
    assert result.objective == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert result.dual_bound == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert (result.dual_bound >= optimum - 1e-6) == bool(seed % 2) or abs(result.dual_bound - optimum) <= 1e-5


def test_ranges_from_matrices_agree_with_inequalities_of_cvxpy():
    generator = np.random.default_rng(9)
    cost, matrices = symmetric(generator, 5), [symmetric(generator, 5) for _ in range(3)]
    centre = np.array([np.trace(matrix) for matrix in matrices])
    program = SDP.from_matrices(
        cost, [np.eye(5), *matrices], np.concatenate([[5.0], centre + 0.2]), "<=",
        lower=np.concatenate([[-np.inf], centre - 0.1]), maximise=True,
    )  # fmt: skip
    X = cp.Variable((5, 5), PSD=True)
    images = cp.hstack([cp.trace(matrix @ X) for matrix in matrices])
    limits = [cp.trace(X) <= 5, images <= centre + 0.2, images >= centre - 0.1]
    result = program.solve(1e-7)
    assert result.status is Status.SOLVED
    optimum = cp.Problem(cp.Maximize(cp.trace(cost @ X)), limits).solve(solver="CLARABEL")
    assert result.objective == pytest.approx(optimum, rel=1e-5)


def test_nonnegative_variables_are_one_block():
    t, x, X = cp.Variable(), cp.Variable((2, 1)), cp.Variable((2, 2), PSD=True)
    limits = [t >= 0, x >= 0, cp.trace(X) + t + cp.sum(x) == 2, X[0, 1] + t == 0.5]
    problem = cp.Problem(cp.Minimize(X[0, 0] + 3 * t + x[1, 0]), limits)
    program = SDP.from_cvxpy(problem)
    assert program.data.size == 2
    assert sorted(block.size for block in program.data.blocks) == [2, 3]
    result = program.solve(1e-6)
    assert result.objective == pytest.approx(problem.solve(solver="CLARABEL"), abs=1e-5)


def read_duals(problem):
    """Return the dual values of all constraints, one after another."""
    return np.concatenate([np.ravel(constraint.dual_value) for constraint in problem.constraints])


@pytest.mark.parametrize("seed", range(2))
def test_a_solution_fills_variables_and_dual_values(seed):
    problem, variables = random_problem(seed)
    result = SDP.from_cvxpy(problem).solve(1e-7)
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(result.objective, rel=1e-9)
    assert problem.solver_stats.extra_stats is result
    assert all(constraint.violation().max() <= 1e-5 for constraint in problem.constraints)
    values, duals = [variable.value for variable in variables], read_duals(problem)
    problem.solve(solver="CLARABEL")
    assert all(
        value == pytest.approx(variable.value, abs=1e-2) for value, variable in zip(values, variables, strict=True)
    )
    assert duals == pytest.approx(read_duals(problem), abs=1e-3)


def test_models_without_a_solution_get_its_status():
    X = cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X[0, 0] == 1, X[1, 1] == 1, X[0, 1] == 2])
    assert SDP.from_cvxpy(problem).solve(1e-6).status is Status.INFEASIBLE
    assert problem.status == "infeasible"
    assert X.value is None


def test_free_variables_norms_and_second_order_cones_are_converted():
    x, X = cp.Variable(3), cp.Variable((3, 3), symmetric=True)
    limits = [cp.lambda_max(X) <= 2, cp.norm(x - np.arange(3.0)) <= 1, X[0] == x, cp.normNuc(X) <= 9]
    problem = cp.Problem(cp.Minimize(cp.sum(x) + cp.sum_squares(x) - X[1, 2]), limits)
    result = SDP.from_cvxpy(problem).solve(1e-6)
    found = x.value
    assert result.objective == pytest.approx(problem.solve(solver="CLARABEL"), abs=1e-5)
    assert found == pytest.approx(x.value, abs=1e-3)


def test_variables_keep_their_values():
    problem, (X, _, _) = random_problem(0)
    X.value = np.eye(4)
    SDP.from_cvxpy(problem)
    assert np.array_equal(X.value, np.eye(4))


@pytest.mark.parametrize("kind", ["boolean", "integer"])
def test_whole_numbers_are_refused(kind):
    X, z = cp.Variable((2, 2), PSD=True), cp.Variable(2, **{kind: True})
    problem = cp.Problem(cp.Maximize(cp.sum(z) + X[0, 1]), [cp.trace(X) == 1, z >= 0, cp.sum(z) <= 5])
    with pytest.raises(InvalidInput, match="continuous"):
        SDP.from_cvxpy(problem)
