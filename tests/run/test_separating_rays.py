"""Rays that prove infeasibility where f has no maximum: found, checked, and never false."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

from unipd import MaxIterations, Problem, Status, solve
from unipd.run import is_separating, nearest_ray
from unipd.sharp import EuclideanPower, L1Ball, L1NormSquared, L2NormSquared, SeparablePower, Spectrahedron
from unipd.spectral import Engine

OBJECTIVES = [SeparablePower(3, 3.0), EuclideanPower(3, 4.0), L2NormSquared(3), L1NormSquared(3)]


def data(seed: int, size: float = 3.0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    matrix, b = rng.standard_normal((4, 3)), size * rng.standard_normal(4)
    return matrix, rng.standard_normal((4, 3)), b


def least_distance(matrix: Any, other: Any, b: Any, radius: float) -> float:
    """Return the smallest ||A x + B y - b|| over all x and ||y||_1 <= radius."""
    x, y = cvxpy.Variable(3), cvxpy.Variable(3)
    program: Any = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(matrix @ x + other @ y - b)), [cvxpy.norm1(y) <= radius])
    return float(program.solve(solver="CLARABEL"))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda oracle: type(oracle).__name__)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("radius", [0.5, 50.0])
def test_a_bounded_block_beside_one_without_bounds(objective: Any, seed: int, radius: float) -> None:
    matrix, other, b = data(seed)
    problem = Problem([objective, L1Ball(3, radius)], [matrix, other], b, "=")
    result = solve(problem, accuracy=1e-4, stop=MaxIterations(300))
    infeasible = least_distance(matrix, other, b, radius) > 1e-6
    assert (result.status is Status.INFEASIBLE) == infeasible
    assert result.status is (Status.INFEASIBLE if infeasible else Status.SOLVED)


def test_support_of_the_bounded_block_is_taken_off() -> None:
    matrix, b = np.zeros((2, 1)), np.array([1.0, 0.0])
    ray = np.array([-1.0, 0.0])
    for radius, proof in ((0.5, True), (2.0, False)):
        problem = Problem([L2NormSquared(1), L1Ball(2, radius)], [matrix, np.eye(2)], b, "=")
        assert is_separating(problem, ray) == proof


def test_an_inexact_block_must_not_be_reached_at_all() -> None:
    """Its support function is known from below only."""
    problem = Problem(
        [L2NormSquared(1), Spectrahedron(6, engine=Engine(solver="lanczos"))],
        [np.zeros((2, 1)), np.random.default_rng(0).standard_normal((2, 36))],
        [1e6, 0.0],
        "=",
    )
    assert not is_separating(problem, np.array([-1.0, 0.0]))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_nearest_ray_is_the_projection(dtype: type) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((7, 3)).astype(dtype)
    dual = rng.standard_normal(7).astype(dtype)
    if dtype is np.complex128:
        matrix, dual = matrix + 1j * rng.standard_normal((7, 3)), dual + 1j * rng.standard_normal(7)
    problem = Problem(L2NormSquared(3), matrix, np.ones(7, dtype), "=")
    lengths = np.linalg.norm(matrix, axis=1)  # rows count as if they had norm 1
    matrix, dual_of_units = matrix / lengths[:, None], dual * lengths
    expected = dual_of_units - matrix @ np.linalg.lstsq(matrix, dual_of_units, rcond=None)[0]
    expected = expected / lengths / np.linalg.norm(dual_of_units)
    np.testing.assert_allclose(nearest_ray(problem, dual), expected, atol=1e-12)
    assert not nearest_ray(problem, 0.0 * dual).any()
