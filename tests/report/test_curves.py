"""Convergence curves of runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unipd
from unipd import theory
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput
from unipd.io import load, save
from unipd.report import compute_curves, weight_sums
from unipd.theory import running_exponents

GENERATOR = np.random.default_rng(3)
MATRIX = GENERATOR.standard_normal((4, 9))
INSIDE = MATRIX @ np.full(9, 1 / 9)


def constrained_problem():
    return unipd.Problem(unipd.sharp.Linear(np.arange(9.0) / 9, unipd.sharp.Simplex(9)), MATRIX, INSIDE, "=")


def least_squares(scale=1.0):
    loss = unipd.couplings.LeastSquares(scale)
    return unipd.Problem(unipd.sharp.Simplex(9), MATRIX, 3 * INSIDE + 0.2, loss)


def run(problem, method, iterations=200, **options):
    return unipd.solve(problem, method, accuracy=1e-3, stop=unipd.MaxIterations(iterations), **options)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("problem", [constrained_problem(), least_squares()], ids=["constrained", "loss"])
def test_weight_sums_are_the_methods_own(method, problem):
    result = run(problem, method)
    sums = weight_sums(method, result.history["smoothness"])
    assert sums[-1] == pytest.approx(result.state.weight_sum, rel=1e-12)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_the_bound_holds_for_the_infeasibility(method):
    """With lam^* of a long run in the place of the best dual vector, the proofs' bound is a theorem."""
    best = run(constrained_problem(), "corrective", 300)
    assert best.gap == pytest.approx(0.0, abs=1e-3)
    result = run(constrained_problem(), method)
    data = compute_curves(result, start=result.dual - best.dual)
    assert data.bound is not None
    assert data.infeasibility is not None
    assert (data.infeasibility <= data.bound).all()


def test_the_bound_of_an_infeasibility_is_relative_to_the_scale_of_its_own_point():
    problem = unipd.Problem(unipd.sharp.Linear(np.arange(9.0), unipd.sharp.Simplex(9)), MATRIX, INSIDE, "<=")
    result = run(problem, "unipdgrad")
    history, sums = result.history, weight_sums("unipdgrad", result.history["smoothness"])
    outside = history["infeasibility"] > 0.0
    scales = (history["violation"] / history["infeasibility"])[outside]
    assert scales.max() > 1.01 * scales.min()
    absolute = (2.0 * np.linalg.norm(result.dual) + np.sqrt(sums * result.state.absolute_accuracy)) / sums
    np.testing.assert_allclose(compute_curves(result).bound[outside] * scales, absolute[outside])


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_the_bound_holds_for_a_loss(method, scale):
    problem = least_squares(scale)
    best = run(problem, "pairwise", 2000)
    result = run(problem, method)
    data = compute_curves(result)
    residual = (result.history["objective"] - best.objective) / problem.scale(1.0)
    assert data.infeasibility is None
    assert data.bound is not None
    assert (residual <= data.bound + 1e-12).all()


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("loss", [unipd.couplings.LeastSquares(), unipd.couplings.Huber(0.1)])
def test_the_bound_holds_where_the_best_dual_vector_is_zero(method, loss):
    """Data without noise: the bound of the optimum is 0 at lam = 0, which says nothing of how far the run has to go."""
    result = run(unipd.Problem(unipd.sharp.Simplex(9), MATRIX, INSIDE, loss), method)
    data = compute_curves(result)
    assert data.bound is not None
    assert (data.residual <= data.bound).all()
    assert data.bound[-1] < 1e-2 * data.bound[0]


def test_a_loss_with_kinks_has_no_bound():
    problem = unipd.Problem(unipd.sharp.Simplex(9), MATRIX, INSIDE, unipd.couplings.Absolute())
    assert compute_curves(run(problem, "unipdgrad", 20)).bound is None


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_semidefinite_programs_have_the_bound_too(method, tmp_path):
    n = 8
    weights = np.triu(GENERATOR.random((n, n)), 1)
    units = [np.outer(row, row) for row in np.eye(n)]
    program = SDP.from_matrices(weights + weights.T, units, np.ones(n))
    result = program.solve(1e-3, method, stop=unipd.MaxIterations(100))
    before, after = compute_curves(result), compute_curves(load(save(result, tmp_path / "run.npz")))
    assert before.infeasibility is not None
    assert (before.infeasibility <= before.bound).all()
    np.testing.assert_array_equal(before.bound, after.bound)


def test_residual_and_gap():
    result = run(least_squares(), "frank-wolfe", 30)
    data = compute_curves(result, "oracle_calls")
    scale = 0.5 * np.sum((3 * INSIDE + 0.2) ** 2)
    np.testing.assert_allclose(data.residual, (result.history["objective"] - result.dual_bound) / scale)
    assert (data.residual <= data.gap + 1e-15).all()
    assert data.bound is None
    assert data.smoothness is None
    np.testing.assert_array_equal(data.position, result.history["oracle_calls"])
    assert data.label == "sharp-oracle calls"


def test_saved_results_give_the_same_curves(tmp_path):
    result = run(constrained_problem(), "unipdgrad", 50)
    before, after = compute_curves(result), compute_curves(load(save(result, tmp_path / "run.npz")))
    for name in ("position", "gap", "residual", "infeasibility", "bound", "smoothness"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("settings", [{"weights": "greedy"}, {"step_rule": "analytic"}])
def test_no_theorem_no_bound(tmp_path, settings):
    result = run(constrained_problem(), "unipdgrad", 5)
    assert compute_curves(load(save(result, tmp_path / "a.npz", settings={"weights": "theory"}))).bound is not None
    assert compute_curves(load(save(result, tmp_path / "b.npz", settings=settings))).bound is None


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), max_size=12))
def test_running_exponent_is_the_plain_one(pairs):
    steps, changes = np.array(pairs, float).reshape(-1, 2).T
    found = running_exponents(steps, changes)
    expected = [theory.holder_exponent(steps[: k + 1], changes[: k + 1]) for k in range(steps.size)]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_running_exponent_with_missing_numbers():
    steps = np.array([np.nan, 1.0, 0.5, np.inf, 0.1])
    changes = np.array([1.0, 2.0, np.nan, 1.0, 0.02])
    assert np.isnan(running_exponents(steps, changes)[:4]).all()
    assert running_exponents(steps, changes)[4] == 1.0
    assert np.isnan(running_exponents(np.zeros(3), np.ones(3))).all()


def test_the_axis_may_be_called_as_the_column():
    result = run(constrained_problem(), "unipdgrad", 3)
    one, other = compute_curves(result, "iteration"), compute_curves(result, "iterations")
    np.testing.assert_array_equal(one.position, other.position)
    assert one.label == other.label


def test_bad_input():
    result = run(constrained_problem(), "unipdgrad", 3)
    with pytest.raises(InvalidInput, match="axis"):
        compute_curves(result, "miles")
    with pytest.raises(InvalidInput, match="iteration"):
        compute_curves(unipd.Result(unipd.Status.STOPPED))
