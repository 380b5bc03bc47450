"""Membership is tested in the precision of the point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd import Problem, sharp, solve
from unipd.couplings import LeastSquares

SETS = {
    "simplex": sharp.Simplex(200),
    "l1": sharp.L1Ball(200, 2.0),
    "l2": sharp.L2Ball(200, 0.7),
    "box": sharp.Box(np.full(200, -0.3), np.full(200, 0.7)),
    "linear": sharp.Linear(np.ones(200), sharp.Simplex(200)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["unipdgrad", "pairwise"])
def test_results_in_single_precision_lie_in_their_set(name: str, method: str) -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((30, 200)).astype(np.float32)
    problem = Problem(SETS[name], matrix, 5.0 * random.standard_normal(30), LeastSquares())
    x: Any = solve(problem, method, accuracy=1e-2).x
    assert x.dtype == np.float32
    assert problem.sharp.contains(x)


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_points_outside_stay_outside(dtype: type, off: float) -> None:
    x = np.full(4, (1.0 + off) / 4, dtype)
    assert not sharp.Simplex(4).contains(x)
    assert sharp.Simplex(4).contains(x, tolerance=10 * off)


@pytest.mark.parametrize("oracle", [sharp.Simplex(2), sharp.L2Ball(2), sharp.Box(0.0, 1.0, 2), sharp.L1NormSquared(2)])
@pytest.mark.parametrize("point", [np.array([0.5, 0.5], object), np.array(["0.5", "0.5"]), "ab", None])
def test_what_is_no_array_of_numbers_lies_nowhere(oracle: Any, point: Any) -> None:
    assert oracle.contains(point) is False
