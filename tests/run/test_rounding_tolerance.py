"""Rounding errors of a run are not reported as errors of the oracle or the map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from unipd import MaxIterations, Problem, Status, solve
from unipd.sharp import Box, EuclideanPower, L1Ball, L2Ball, L2NormSquared, Linear, SeparablePower

SETS = {"box": Box(-np.ones(5), np.ones(5)), "l1": L1Ball(5, 3.0), "l2": L2Ball(5, 3.0)}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("coupling", ["=", "<="])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("seed", range(3))
def test_the_adjoint_of_a_good_operator_is_believed_at_a_zero_of_it(
    name: str, coupling: str, accuracy: float, seed: int
) -> None:
    """Where b = 0, the image of the solution is nothing but rounding compared with A and x."""
    rng = np.random.default_rng(seed)
    matrix, cost = rng.standard_normal((3, 5)), rng.standard_normal(5)
    problem = Problem(Linear(cost, SETS[name]), aslinearoperator(matrix), np.zeros(3), coupling)
    assert solve(problem, accuracy=accuracy).status is Status.SOLVED


@pytest.mark.parametrize(("power", "seed"), [(SeparablePower(3, 3.0), 0), (EuclideanPower(3, 4.0), 2)])
def test_dual_vectors_that_grow_for_ever_accuse_no_oracle(power: object, seed: int) -> None:
    """The model keeps atoms of 1e23 and more, whose products with the dual vector cancel."""
    rng = np.random.default_rng(seed)
    matrix, b, other = rng.standard_normal((4, 3)), 3.0 * rng.standard_normal(4), rng.standard_normal((4, 3))
    problem = Problem([power, L1Ball(3, 0.5)], [matrix, other], b, "=")
    result = solve(problem, "corrective", accuracy=1e-5, stop=MaxIterations(300))
    assert not result.status.success


@pytest.mark.parametrize("method", ["auto", "corrective"])
@pytest.mark.parametrize("seed", [18, 23])
def test_a_bound_that_the_infeasibility_explains_accuses_nobody(method: str, seed: int) -> None:
    """y >= a and -y >= a' in small units: bound and ||lam|| dist(A x - b, K) grow together, b = 0."""
    rng = np.random.default_rng(seed)
    maps = [1e-8 * np.array([[1.0], [-1.0]]) * rng.random(), -1e-8 * rng.random((2, 1))]
    problem = Problem([L2NormSquared(1), Box([1.0], [1.0])], maps, np.zeros(2), ">=")
    assert not solve(problem, method, accuracy=1e-5, stop=MaxIterations(100)).status.success
