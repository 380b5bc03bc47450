"""The paper's two formulations: reference values on MovieLens, and small instances against CVXPY."""

import os
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import unipd
from unipd.apps.completion import ball_problem, norm_problem
from unipd.io.ratings import read_ratings

AFTER_TEN = {
    ("frank-wolfe", "step_size", "open-loop"): 5.1538,
    ("frank-wolfe", "step_size", "line-search"): 1.7978,
}


@pytest.fixture(scope="module")
def movielens() -> unipd.Problem:
    folder = os.environ.get("UNIPD_DATA")
    if folder is None:
        pytest.skip("UNIPD_DATA is not set")
    path = Path(folder) / "ml-100k" / "ub.base"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    ratings = read_ratings(path)
    users, items = ratings.users - 1, ratings.items - 1
    return ball_problem(users, items, ratings.values, (943, 1682), 9975 / 2)


@pytest.mark.parametrize(("method", "option", "value"), AFTER_TEN)
def test_reference_values_after_ten_iterations(movielens, method, option, value) -> None:
    run = unipd.solve(
        movielens, method, tracker="image", stop=unipd.MaxIterations(10), accuracy=1e-6, **{option: value}
    )
    assert run.objective == pytest.approx(AFTER_TEN[method, option, value], rel=1e-4)


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
