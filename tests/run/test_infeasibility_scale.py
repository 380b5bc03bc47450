"""A proof of infeasibility does not depend on the units of the data."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import MaxIterations, Problem, Status, UniPDGrad, iterate, solve
from unipd.errors import OracleError
from unipd.methods.universal import UniPDGradState
from unipd.run import is_separating
from unipd.sharp import Box, L1NormSquared, L2NormSquared, Linear

scales = pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30, 1e100])


@pytest.mark.parametrize("oracle", [L1NormSquared, L2NormSquared])
@pytest.mark.parametrize("method", ["unipdgrad", "corrective"])
@pytest.mark.parametrize("scale", [1e30, 1e100])
def test_large_data_of_a_feasible_problem_prove_nothing(oracle: type, method: str, scale: float) -> None:
    matrix = np.random.default_rng(0).standard_normal((3, 4))
    problem = Problem(oracle(4), matrix, scale * np.ones(3), "=")
    assert solve(problem, method, stop=MaxIterations(80)).status is not Status.INFEASIBLE


@scales
@pytest.mark.parametrize("length", [1e-20, 1.0, 1e20])
def test_a_ray_separates_in_all_units(scale: float, length: float) -> None:
    matrix = np.random.default_rng(1).standard_normal((3, 4))
    twice = scale * np.concatenate([matrix, matrix])
    ray = length * np.concatenate([-np.ones(3), np.ones(3)])
    same, other = np.ones(6), np.concatenate([2 * np.ones(3), np.ones(3)])
    assert is_separating(Problem(L2NormSquared(4), twice, scale * other, "="), ray)
    assert not is_separating(Problem(L2NormSquared(4), twice, scale * other, "="), -ray)
    assert not is_separating(Problem(L2NormSquared(4), twice, scale * same, "="), ray)
    assert not is_separating(Problem(L2NormSquared(4), twice, scale * other, "="), -np.ones(6))


@pytest.mark.parametrize("wrong", [1e-3, 1e-9])
def test_a_direction_that_nearly_vanishes_is_no_proof(wrong: float) -> None:
    problem = Problem(L2NormSquared(2), np.diag([1.0, wrong]), [1.0, 1.0], "=")
    assert not is_separating(problem, np.array([0.0, -1.0]))


@pytest.mark.parametrize("relation", ["=", "<=", ">="])
@pytest.mark.parametrize("method", ["auto", "unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize(("dtype", "shift"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_rounding_of_b_proves_nothing_of_a_single_point(method: str, relation: str, dtype: type, shift: float) -> None:
    sign = -1.0 if relation == "<=" else 1.0
    for seed in range(4):
        random = np.random.default_rng(seed)
        x, matrix = random.random(4), random.standard_normal((9, 4)).astype(dtype)
        oracle, b = Linear(random.standard_normal(4), Box(x, x)), matrix @ x.astype(dtype)
        b = np.nextafter(b, dtype(sign * np.inf))
        found = solve(Problem(oracle, matrix, b, relation), method, accuracy=1e-4)
        assert found.status is Status.SOLVED
        assert found.dual_bound <= oracle.objective(x) + shift
        beyond = Problem(oracle, matrix, b + dtype(sign * shift), relation)
        assert solve(beyond, method, accuracy=0.01 * shift).status is Status.INFEASIBLE


class Dividing(UniPDGrad):
    """Divides by a number that has become zero, as methods do when M does."""

    def step(self, problem: Problem, state: UniPDGradState) -> UniPDGradState:
        """Divide."""
        raise ZeroDivisionError(state.smoothness)


def test_numbers_beyond_the_range_are_an_error_of_ours() -> None:
    problem = Problem(L2NormSquared(4), np.eye(4), np.ones(4), "=")
    with pytest.raises(OracleError, match="range"):
        solve(problem, Dividing())
    with pytest.raises(OracleError, match="range"):
        next(iterate(problem, Dividing()))
