"""The factored forms: points, gradients by finite differences, preconditioners."""

import numpy as np
import pytest

from unipd.apps.completion import (
    CompletionProblem,
    ModelSettings,
    ball_formulation,
    factored_norm_method,
    norm_problem,
)
from unipd.atoms import Blocks, LowRank
from unipd.methods.factored import AugmentedLagrangian
from unipd.sharp.spectral import BalancedNuclearNormSquared

from .instances import SHAPE, dense_side, naive_objective, small

SETTINGS = {
    "plain": ModelSettings(),
    "sided": ModelSettings(user_strength=0.5, item_strength=0.7, weight_power=0.35),
    "features": ModelSettings(user_strength=0.5, user_features=np.random.default_rng(0).standard_normal((SHAPE[0], 3))),
}


@pytest.fixture(params=SETTINGS)
def completion(request):
    return CompletionProblem(*small(), SHAPE, SETTINGS[request.param])


def factor_of(completion, factors, rank=4, seed=1):
    atom = Blocks(
        (
            LowRank(np.ones((completion.inner_shape[0], 1)), np.ones((completion.inner_shape[1], 1)), np.ones(1)),
            np.zeros(SHAPE[0]),
            np.zeros(SHAPE[1]),
        )
    )
    factor = factors.start(atom, rank, seed)
    return factor + 0.1 * np.random.default_rng(seed).standard_normal(factor.size)


def test_objective_is_the_naive_one(completion):
    problem, factors = completion.problem(7.0), completion.factors(7.0, 1.0)
    point = factors.point(factor_of(completion, factors))
    matrix, users, items = point.parts
    found = problem.sharp.objective(point) + problem.loss.value(problem.map.image(point) - problem.b)
    assert found == pytest.approx(naive_objective(completion, matrix.dense(), users, items))
    assert np.linalg.svd(matrix.dense(), compute_uv=False).sum() <= 7.0 * (1 + 1e-12)


def test_effective_factors(completion):
    factors = completion.factors(7.0, 1.0)
    point = factors.point(factor_of(completion, factors))
    left, right = completion.effective(point)
    expected = dense_side(completion.left) @ point.parts[0].dense() @ dense_side(completion.right).T
    np.testing.assert_allclose(left @ right.T, expected, atol=1e-12)


def test_gradient_by_finite_differences(completion):
    problem, factors = completion.problem(7.0), completion.factors(7.0, 1.0)
    model = AugmentedLagrangian(problem, factors, np.zeros(problem.dual_shape), 0.0)
    factor = factor_of(completion, factors)
    here = model.evaluate(factor)
    direction = np.random.default_rng(2).standard_normal(factor.size)
    ahead, behind = (model.evaluate(factor + h * direction).value for h in (1e-5, -1e-5))
    assert here.gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)


def test_preconditioner_is_symmetric_positive_and_tangent(completion):
    factors = completion.factors(7.0, 1.0)
    factor = factor_of(completion, factors, rank=3)
    solve = factors.preconditioner(factor)
    rng = np.random.default_rng(3)
    first, second = rng.standard_normal((2, factor.size))
    assert first @ solve(second) == pytest.approx(second @ solve(first))
    assert first @ solve(first) > 0
    spectral = factors.parts[0]
    block = factor[: spectral.rows * 3].reshape(-1, 3)
    moved = spectral.preconditioner(block)(rng.standard_normal(block.shape))
    assert abs(np.vdot(moved, block)) < 1e-9 * np.linalg.norm(moved) * np.linalg.norm(block)


def test_a_start_keeps_the_point(completion):
    factors = completion.factors(7.0, 1.0)
    point = factors.point(factor_of(completion, factors, rank=3))
    again = completion.factors(9.0, 1.0)
    found = again.point(completion.factor_of(point, 9.0, 3))
    np.testing.assert_allclose(found.parts[0].dense(), point.parts[0].dense(), atol=1e-9)
    np.testing.assert_allclose(found.parts[1], point.parts[1], rtol=1e-14)
    smaller = completion.factors(3.5, 1.0)
    shrunk = smaller.point(completion.factor_of(point, 3.5, 3)).parts[0].dense()
    size = np.linalg.svd(shrunk, compute_uv=False).sum()
    assert size <= 3.5 * (1 + 1e-9)
    direction = point.parts[0].dense()
    assert np.vdot(shrunk, direction) == pytest.approx(np.linalg.norm(shrunk) * np.linalg.norm(direction))


def test_a_start_is_widened(completion):
    factors = completion.factors(7.0, 1.0)
    point = factors.point(factor_of(completion, factors, rank=2))
    found = factors.point(completion.factor_of(point, 7.0, 5))
    assert found.parts[0].rank == 5
    assert np.linalg.norm(found.parts[0].dense() - point.parts[0].dense()) < 0.1 * np.linalg.norm(
        point.parts[0].dense()
    )


def test_multiplier_at_the_optimum_is_the_top_singular_value():
    from unipd.apps.completion import SolverOptions, solve_completion

    completion = CompletionProblem(*small(), SHAPE, ModelSettings())
    result = solve_completion(completion, 5.0, SolverOptions(accuracy=1e-9))
    dual = result.state.here.dual
    top = np.linalg.norm(completion.sampled.adjoint(dual).toarray(), 2)
    assert completion.multiplier(result.x, dual, 5.0) == pytest.approx(top, rel=1e-4)
    assert completion.multiplier(result.x, dual, 5.0) <= 2.0 * completion.initial_multiplier(5.0)


def test_squared_norm_by_factors():
    users, items, values = small()
    problem = norm_problem(users, items, values, SHAPE, 1.0)
    method = factored_norm_method(ball_formulation(users, items, values, SHAPE), problem, 4)
    factors = method.factors
    atom = LowRank(np.ones((SHAPE[0], 1)), np.ones((SHAPE[1], 1)), np.ones(1))
    factor = factors.start(atom, 4, 0)
    model = AugmentedLagrangian(problem, factors, 0.1 * problem.b, factors.penalty)
    here = model.evaluate(factor)
    direction = np.random.default_rng(2).standard_normal(factor.shape)
    ahead, behind = (model.evaluate(factor + h * direction).value for h in (1e-5, -1e-5))
    assert np.vdot(here.gradient, direction) == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)
    solve = factors.preconditioner(factor)
    other = np.random.default_rng(3).standard_normal(factor.shape)
    assert np.vdot(other, solve(direction)) == pytest.approx(np.vdot(direction, solve(other)))
    assert np.vdot(other, solve(other)) > 0
    mixed = factors.point(factors.mix_atom(factor, atom, 0.25)).dense()
    np.testing.assert_allclose(mixed, 0.75 * factors.point(factor).dense() + 0.25 * atom.dense(), atol=1e-12)


def test_balanced_factors_attain_the_norm():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((5, 4))
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    sharp = BalancedNuclearNormSquared((5, 4), 0.5)
    balanced = LowRank(left * np.sqrt(sizes), right.T * np.sqrt(sizes), np.ones(4))
    skewed = LowRank(left * sizes, right.T, np.ones(4))
    exact = 0.5 * sizes.sum() ** 2
    assert sharp.objective(balanced) == pytest.approx(exact)
    assert sharp.objective(matrix) == pytest.approx(exact)
    assert sharp.objective(skewed) > exact
