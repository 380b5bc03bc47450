"""A proof of infeasibility does not depend on the units of the data."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import MaxIterations, Problem, Status, UniPDGrad, iterate, solve
from unipd.errors import OracleError
from unipd.methods.unipdgrad import UniPDGradState
from unipd.run.infeasible import is_separating
from unipd.sharp import L1NormSquared, L2NormSquared

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
