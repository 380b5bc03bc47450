"""The paper's two formulations on small instances against CVXPY; reference values on MovieLens are in test_iterates."""

import cvxpy as cp
import numpy as np
import pytest

import unipd
from unipd.apps.completion import ball_problem, norm_problem


def _small() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    users, items = np.divmod(random.choice(30, 18, replace=False), 5)
    return users, items, random.standard_normal(18)


def test_the_nuclear_ball_against_a_general_solver() -> None:
    users, items, values = _small()
    x = cp.Variable((6, 5))
    loss = cp.sum_squares(x[users, items] - values) / values.size
    optimum = cp.Problem(cp.Minimize(loss), [cp.normNuc(x) <= 2.0]).solve(solver="CLARABEL")
    result = unipd.solve(ball_problem(users, items, values, (6, 5), 2.0), accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-4)
    assert result.dual_bound <= optimum + 1e-7


def test_the_squared_norm_against_a_general_solver() -> None:
    users, items, values = _small()
    x = cp.Variable((6, 5))
    optimum = cp.Problem(cp.Minimize(cp.normNuc(x)), [x[users, items] == values]).solve(solver="CLARABEL")
    result = unipd.solve(norm_problem(users, items, values, (6, 5)), accuracy=1e-5)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum**2 / values.size, rel=1e-4)
