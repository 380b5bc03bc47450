"""The completion model and formulation (b) against an interior-point solver."""

import cvxpy as cp
import numpy as np
import pytest

import unipd
from unipd.apps.completion import (
    CompletionProblem,
    ModelSettings,
    SolverOptions,
    ball_formulation,
    factored_norm_method,
    fit_biases,
    norm_problem,
    solve_completion,
)
from unipd.apps.completion.problem import FLOOR
from unipd.reproduce import generate_ratings

from .instances import SHAPE, dense_side, small

SETTINGS = {
    "plain": ModelSettings(user_ridge=2.0, item_ridge=1.0),
    "sided": ModelSettings(user_ridge=2.0, item_ridge=3.0, weight_power=0.35, user_strength=0.5, item_strength=0.7),
}


def solve_by_cvxpy(completion, radius):
    left, right = dense_side(completion.left), dense_side(completion.right)
    z = cp.Variable(completion.inner_shape)
    users, items = (cp.Variable(size) for size in completion.shape)
    seen = (left @ z @ right.T)[completion.users, completion.items] + users[completion.users] + items[completion.items]
    ridges = completion.settings.user_ridge * cp.sum_squares(users) + completion.settings.item_ridge * cp.sum_squares(
        items
    )
    objective = 0.5 * cp.sum_squares(seen - completion.target) + 0.5 * ridges
    return cp.Problem(cp.Minimize(objective), [cp.normNuc(z) <= radius]).solve(solver="CLARABEL")


@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_solved_jointly(name):
    completion = CompletionProblem(*small(count=40, shape=(12, 9)), (12, 9), SETTINGS[name])
    result = solve_completion(completion, 6.0, SolverOptions(accuracy=1e-6, rank=4))
    optimum = solve_by_cvxpy(completion, 6.0)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)
    assert result.dual_bound <= optimum * (1 + 1e-7)
    assert result.iterations == len(result.history)
    assert (np.diff(result.history["matvecs"]) > 0).all()
    assert (np.diff(result.history["dual_bound"]) >= 0).all()


def test_methods_agree():
    problem = CompletionProblem(*small(), SHAPE, SETTINGS["plain"]).problem(6.0)
    optimum = solve_by_cvxpy(CompletionProblem(*small(), SHAPE, SETTINGS["plain"]), 6.0)
    for method in ("accunipdgrad", "corrective"):
        result = unipd.solve(problem, method, accuracy=2e-2, tracker="atoms", stop=unipd.MaxIterations(2000))
        assert result.dual_bound <= optimum * (1 + 1e-7)
        assert result.objective >= optimum * (1 - 1e-7)


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_the_least_norm(noise):
    users, items, values = small()
    x = cp.Variable(SHAPE)
    seen = x[users, items] - values
    constraint = cp.norm(seen) <= noise if noise else seen == 0
    optimum = cp.Problem(cp.Minimize(cp.normNuc(x)), [constraint]).solve(solver="CLARABEL") ** 2 / values.size
    problem = norm_problem(users, items, values, SHAPE, noise)
    method = factored_norm_method(ball_formulation(users, items, values, SHAPE), problem)
    result = unipd.solve(problem, method, accuracy=1e-5, stop=unipd.MaxIterations(200))
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-4)
    assert result.dual_bound <= optimum * (1 + 1e-6)


def test_biases_are_the_ridge_regression():
    completion = CompletionProblem(*small(), SHAPE, SETTINGS["plain"])
    users, items = fit_biases(completion)
    rows = np.zeros((completion.target.size, sum(SHAPE)))
    rows[np.arange(len(rows)), completion.users] = 1
    rows[np.arange(len(rows)), SHAPE[0] + completion.items] = 1
    ridge = np.diag(np.repeat([2.0, 1.0], SHAPE))
    expected = np.linalg.solve(rows.T @ rows + ridge, rows.T @ completion.target)
    np.testing.assert_allclose(np.concatenate([users, items]), expected, atol=1e-4)


def test_limits_and_callbacks():
    completion = CompletionProblem(*small(), SHAPE, SETTINGS["plain"])
    assert solve_completion(completion, 6.0, SolverOptions(1e-12, seconds=0.0)).status is unipd.Status.TIME_LIMIT
    seen = []
    result = solve_completion(
        completion, 6.0, SolverOptions(1e-12, callback=lambda info: seen.append(info) or len(seen) >= 1)
    )
    assert (result.status, len(seen)) == (unipd.Status.STOPPED, 1)
    limited = solve_completion(completion, 6.0, SolverOptions(1e-16, iterations=2, widen=False))
    assert limited.status is unipd.Status.ITERATION_LIMIT


def test_narrow_factors_are_widened():
    shape = (40, 30)
    completion = CompletionProblem(*small(seed=3, count=500, shape=shape, rank=8, noise=0.05), shape, SETTINGS["plain"])
    narrow = solve_completion(completion, 40.0, SolverOptions(1e-5, rank=1))
    wide = solve_completion(completion, 40.0, SolverOptions(1e-5, rank=30))
    assert narrow.status is wide.status is unipd.Status.SOLVED
    assert narrow.objective == pytest.approx(wide.objective, rel=1e-3)


def test_stages_know_the_multiplier_of_the_radius():
    shape = (40, 30)
    completion = CompletionProblem(*small(seed=3, count=500, shape=shape, rank=8, noise=0.05), shape, SETTINGS["plain"])
    found, fixed = (
        solve_completion(completion, 40.0, SolverOptions(1e-5, rank=1, widen=each)) for each in (True, False)
    )
    multiplier = completion.multiplier(found.x, found.state.here.dual, 40.0)
    assert found.state.multiplier == pytest.approx(multiplier, rel=0.01)
    assert found.state.model.factors.parts[0].floor == FLOOR * found.state.multiplier
    assert found.state.columns > fixed.state.columns == 1


@pytest.mark.parametrize("noise", [0.0, 4.0])
def test_narrow_factors_of_the_least_norm_are_widened(noise):
    shape = (80, 60)
    data = (*small(seed=3, count=1500, shape=shape, rank=10), shape)
    problem = norm_problem(*data, noise, precision=None)
    narrow, wide = (
        unipd.solve(
            problem,
            factored_norm_method(ball_formulation(*data), problem, rank),
            accuracy=1e-4,
            stop=unipd.MaxIterations(200),
        )
        for rank in (4, 60)
    )
    assert narrow.status is wide.status is unipd.Status.SOLVED
    assert narrow.objective == pytest.approx(wide.objective, rel=2e-4)
    sizes = np.linalg.svd(narrow.x.dense(), compute_uv=False)
    assert np.sum(sizes > 1e-2 * sizes[0]) > 4


def test_widened_factors_keep_what_is_in_use():
    data = (*small(), SHAPE)
    factors = factored_norm_method(ball_formulation(*data), norm_problem(*data), 4).factors
    rng = np.random.default_rng(0)
    used = rng.standard_normal((sum(SHAPE), 3))
    factor = np.hstack([used, np.zeros((sum(SHAPE), 2))])
    wide = factors.widen_factor(factor, 8, 0)
    assert wide.shape[1] == 8
    moved = np.linalg.norm(factors.point(wide).dense() - factors.point(factor).dense())
    assert 0 < moved < 0.01 * np.linalg.norm(factors.point(factor).dense())
    assert factors.widen_factor(factor, 100, 0).shape[1] == min(SHAPE)
    full = rng.standard_normal((sum(SHAPE), min(SHAPE)))
    np.testing.assert_allclose(factors.point(factors.widen_factor(full, 100, 0)).dense(), factors.point(full).dense())


def test_very_many_ratings_are_fitted_in_single_precision(monkeypatch):
    made = generate_ratings((120, 90), 3000, rank=2, noise=0.3, seed=2)
    ratings = (made.users, made.items, made.values)
    double = unipd.MatrixCompletion(60.0, rank=16, accuracy=0.01).fit(ratings)
    monkeypatch.setattr("unipd.apps.completion.model.MANY_RATINGS", 1000)
    single = unipd.MatrixCompletion(60.0, accuracy=0.01).fit(ratings)
    assert single.fit_.start.point.parts[0].left.dtype == single.result_.problem.b.dtype == np.float32
    assert single.user_factors_.dtype == single.user_bias_.dtype == np.float64
    assert single.result_.status is unipd.Status.SOLVED
    assert single.rmse(ratings) == pytest.approx(double.rmse(ratings), abs=2e-2)
    assert unipd.MatrixCompletion(60.0).fit(ratings).result_.accuracy == 0.15
    assert unipd.MatrixCompletion(60.0, accuracy=1e-6).fit(ratings).result_.problem.b.dtype == np.float64
    more = single.partial_fit(([0], [1], [4.0]))
    assert more.result_.status is unipd.Status.SOLVED


def test_a_fit_that_interpolates_ends_there():
    made = generate_ratings((60, 40), 700, rank=8, noise=0.3, seed=1)
    seen = []
    model = unipd.MatrixCompletion(
        radius=400.0, accuracy=1e-6, rank=2, callback=lambda info: seen.append(info.state.certificate.objective)
    ).fit((made.users, made.items, made.values))
    negligible = 1e-2 * 1e-6 * model.result_.problem.scale(model.objective_)
    assert (model.result_.status, model.dual_bound_, model.result_.bound_kind) == (unipd.Status.SOLVED, 0.0, "rigorous")
    assert seen[-1] <= negligible < min(seen[:-1])


def test_stages_may_take_hundreds_of_iterations(monkeypatch):
    monkeypatch.setattr("unipd.apps.completion.solver.INNER_STEPS", 1)
    made = generate_ratings((60, 40), 1200, rank=10, noise=0.3, seed=1)
    model = unipd.MatrixCompletion(radius=120.0, accuracy=1e-7, rank=2)
    assert model.fit((made.users, made.items, made.values)).result_.status is unipd.Status.SOLVED
    assert model.n_iter_ > 200
