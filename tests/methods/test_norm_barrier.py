"""The least nuclear norm of small and of larger matrices: the barrier method, and factors on the whole space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd import Problem, solve
from unipd.maps import DenseMatrix, Sampling
from unipd.methods import Centring, NormBarrier
from unipd.sharp import NormOnBall, NuclearBall, NuclearNormOnBall, NuclearNormSquared


def completion(seed: int, shape: tuple[int, int] = (12, 10), rank: int = 2, weight: float = 1.0) -> Problem:
    random = np.random.default_rng(seed)
    rows, columns = np.nonzero(random.random(shape) < 0.6)
    truth = random.standard_normal((shape[0], rank)) @ random.standard_normal((rank, shape[1]))
    return Problem(NuclearNormSquared(shape, weight), Sampling(rows, columns, shape), truth[rows, columns], "=")


@pytest.mark.parametrize("seed", [1028, 1, 2])
def test_small_degenerate_completions(seed: int) -> None:
    problem = completion(seed, weight=0.3)
    result = solve(problem, accuracy=1e-6)
    assert result.method == "barrier"
    assert result.status is unipd.Status.SOLVED
    assert result.infeasibility < 1e-9
    assert result.objective == pytest.approx(0.3 * np.linalg.norm(np.asarray(result.x), "nuc") ** 2)


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5)])
def test_any_map_and_shape(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((9, shape[0] * shape[1]))
    problem = Problem(NuclearNormSquared(shape), DenseMatrix(matrix, shape), random.standard_normal(9), "=")
    result = solve(problem, NormBarrier(), accuracy=1e-7)
    other = solve(problem, "corrective", accuracy=1e-5)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(other.objective, rel=2e-5)


def test_dependent_rows() -> None:
    entries = Sampling([0, 1, 0, 0], [0, 1, 1, 0], (3, 2))
    problem = Problem(NuclearNormSquared((3, 2)), entries, [1.0, 2.0, 0.5, 1.0], "=")
    assert solve(problem, NormBarrier(), accuracy=1e-6).status is unipd.Status.SOLVED


def test_newton_step_matches_finite_differences() -> None:
    random = np.random.default_rng(2)
    rows = random.standard_normal((5, 4, 3))
    model = Centring(rows, random.standard_normal(5), 0.7)
    here = 0.02 * random.standard_normal(5)
    newton = model.newton_step(here)
    size = 1e-5

    def value(shift: Any) -> float:
        return model.value(here + shift)

    units = size * np.eye(5)
    gradient = np.array([(value(u) - value(-u)) / (2 * size) for u in units])
    pairs = [[value(u + v) - value(u - v) - value(v - u) + value(-u - v) for v in units] for u in units]
    hessian = np.array(pairs) / (4 * size**2)
    np.testing.assert_allclose(newton.step, -np.linalg.solve(hessian, gradient), rtol=1e-3)
    np.testing.assert_allclose(np.tensordot(rows, newton.point, 2), model.target, rtol=1e-9)


def test_rows_of_rank_one_give_the_same_newton_step() -> None:
    random = np.random.default_rng(3)
    left, right = random.standard_normal((9, 6)), random.standard_normal((9, 4))
    pairs = Centring(left[:, :, None] * right[:, None], random.standard_normal(9), 0.7)
    full = Centring(pairs.rows, pairs.target, pairs.path)
    full.__dict__["pairs"] = None
    here = 0.005 * random.standard_normal(9)
    assert pairs.pairs is not None
    assert Centring(random.standard_normal((9, 6, 4)), pairs.target, 0.7).pairs is None
    assert pairs.value(here) == pytest.approx(full.value(here), rel=1e-12)
    for one, other in zip(pairs.newton_step(here), full.newton_step(here), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


def test_the_barrier_takes_over_where_steps_on_factors_crawl() -> None:
    random = np.random.default_rng(5)
    truth = random.standard_normal((60, 2)) @ random.standard_normal((2, 50))
    rows, columns = np.divmod(random.choice(3000, 700, replace=False), 50)
    problem = Problem(NuclearNormSquared((60, 50)), Sampling(rows, columns, (60, 50)), truth[rows, columns], "=")
    result = solve(problem, accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.iterations < 200


@pytest.mark.parametrize("seed", [0, 1])
def test_factors_on_the_whole_space(seed: int) -> None:
    problem = completion(seed, (60, 50), 3)
    result = solve(problem, accuracy=1e-6)
    assert result.method == "factored"
    assert result.status is unipd.Status.SOLVED
    assert result.iterations < 100


def test_factored_with_a_loss() -> None:
    problem = completion(3)
    loss = Problem(problem.sharp, problem.map, problem.b, unipd.couplings.LeastSquares())
    result = solve(loss, "factored", accuracy=1e-6)
    other = solve(loss, "corrective", accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(other.objective, rel=3e-6)


def test_a_ball_without_a_feasible_point_is_infeasible() -> None:
    problem = completion(1)
    size = np.linalg.norm(np.asarray(solve(problem, accuracy=1e-6).x), "nuc")
    smaller = Problem(NuclearNormOnBall((12, 10), 0.9 * size, 2.0), problem.map, problem.b, "=")
    result = solve(smaller, accuracy=1e-6)
    assert result.status is unipd.Status.INFEASIBLE
    norm = NormOnBall(NuclearBall((12, 10), 1.1 * size), 2.0)
    enough = solve(Problem(norm, problem.map, problem.b, "="), accuracy=1e-6)
    assert enough.method == "barrier"
    assert enough.objective == pytest.approx(2.0 * size, rel=1e-5)


def test_other_problems_are_refused() -> None:
    problem = Problem(unipd.sharp.NuclearBall((2, 2)), Sampling([0], [0], (2, 2)), [1.0], "=")
    with pytest.raises(unipd.errors.InvalidInput, match="a nuclear norm or its square"):
        solve(problem, "barrier")
