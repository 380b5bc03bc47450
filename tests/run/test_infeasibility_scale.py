"""A proof of infeasibility does not depend on the units of the data."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import MaxIterations, Problem, Status, UniPDGrad, couplings, iterate, solve
from unipd.errors import OracleError
from unipd.methods.universal import UniPDGradState
from unipd.run import is_separating, nearest_ray
from unipd.sharp import Box, EuclideanPower, L1NormSquared, L2NormSquared, Linear

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


rows = pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e13])


@rows
def test_a_ray_separates_in_all_units_of_a_row(unit: float) -> None:
    matrix, units = np.random.default_rng(1).standard_normal((3, 4)), np.array([unit, 1.0, 1.0, 1.0, 1.0, 1.0])
    twice = (units * np.concatenate([matrix, matrix]).T).T
    ray = np.concatenate([-np.ones(3), np.ones(3)])
    problem = Problem(L2NormSquared(4), twice, units * np.concatenate([2 * np.ones(3), np.ones(3)]), "=")
    assert is_separating(problem, ray / units)
    assert not is_separating(problem, -ray / units)
    assert not is_separating(problem, np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    near = ray / units + 1e-3 * np.random.default_rng(2).standard_normal(6) / units
    assert not is_separating(problem, near)
    assert is_separating(problem, nearest_ray(problem, near))


@rows
@pytest.mark.parametrize("scaling", ["rows", None])
@pytest.mark.parametrize("method", ["corrective", "accunipdgrad"])
def test_a_row_in_another_unit_beside_the_others_proves_nothing(method: str, scaling: str | None, unit: float) -> None:
    random = np.random.default_rng(0)
    matrix, x = random.standard_normal((4, 6)), random.standard_normal(6)
    x -= matrix[0] * (matrix[0] @ x) / (matrix[0] @ matrix[0])  # b is 0 in the first row
    matrix[0] *= unit
    for oracle in (EuclideanPower(6, 4.0), L2NormSquared(6)):
        problem = Problem(oracle, matrix, np.concatenate([[0.0], matrix[1:] @ x]), "=")
        found = solve(problem, method, accuracy=1e-4, scaling=scaling, stop=MaxIterations(64))
        assert found.status is not Status.INFEASIBLE


@rows
def test_infeasible_stays_infeasible_with_a_row_in_another_unit(unit: float) -> None:
    matrix = np.random.default_rng(3).standard_normal((6, 4))
    units = np.array([unit, 1.0, 1.0, 1.0, 1.0, 1.0])
    coupling = couplings.Box(-0.1 * units, 0.2 * units)
    problem = Problem(EuclideanPower(4, 4.0), (units * matrix.T).T, 100.0 * units, coupling)
    found = solve(problem, "corrective", scaling="rows", stop=MaxIterations(200))
    assert found.status is Status.INFEASIBLE


def test_a_block_in_small_units_counts_as_the_others_do() -> None:
    """It alone reaches b; beside a block in other units, A^* lam of it is as small as rounding."""
    maps = [1e15 * np.ones((2, 1)), np.array([[1.0], [2.0]])]
    problem = Problem([L2NormSquared(1), L2NormSquared(1)], maps, [0.0, 1.0], "=")
    assert not is_separating(problem, np.array([1.0, -1.0]))


@pytest.mark.parametrize("wrong", [1e-3, 1e-9, 1e-15])
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
