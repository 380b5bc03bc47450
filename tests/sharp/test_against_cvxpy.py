"""Every oracle against CVXPY, from the definition of f and X alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .cases import Case, names, numbers
from .registry import OBJECTIVES, SETS

cp = pytest.importorskip("cvxpy")

DEFINED = SETS + OBJECTIVES
TAKES_COMPLEX = [case for case in DEFINED if np.complex128 in case.dtypes]
accuracy = 2e-6


def solve(problem: Any) -> float:
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)


def conjugate(case: Case, y: np.ndarray) -> float:
    """Return max over X of Re <y, x> - f(x)."""
    x = cp.Variable(case.oracle.shape, complex=y.dtype.kind == "c" or case.complex_values)
    cost, constraints = case.model(cp, x)
    product = cp.sum(cp.multiply(y.conj(), x))
    return solve(cp.Problem(cp.Maximize((cp.real(product) if x.is_complex() else product) - cost), constraints))


def distance(case: Case, point: np.ndarray) -> float:
    """Return the Euclidean distance from a point to X."""
    x = cp.Variable(case.oracle.shape, complex=point.dtype.kind == "c")
    _, constraints = case.model(cp, x)
    return solve(cp.Problem(cp.Minimize(cp.norm(cp.vec(x - point, order="C"), 2)), constraints))


@pytest.mark.parametrize("case", DEFINED, ids=names(DEFINED))
@pytest.mark.parametrize("seed", [0, 1])
def test_maximum_at_real_directions(case: Case, seed: int) -> None:
    y = 2.0 * numbers(np.random.default_rng(seed), case.oracle.shape, np.float64, special=0.4 * seed)
    assert case.oracle(y).value == pytest.approx(conjugate(case, y), rel=accuracy, abs=accuracy)


@pytest.mark.parametrize("case", TAKES_COMPLEX, ids=names(TAKES_COMPLEX))
def test_maximum_at_complex_directions(case: Case) -> None:
    y = 2.0 * numbers(np.random.default_rng(2), case.oracle.shape, np.complex128)
    assert case.oracle(y).value == pytest.approx(conjugate(case, y), rel=accuracy, abs=accuracy)


@pytest.mark.parametrize("case", OBJECTIVES, ids=names(OBJECTIVES))
def test_objective_at_a_point(case: Case) -> None:
    point = case.oracle(numbers(np.random.default_rng(3), case.oracle.shape, np.float64)).atom
    array = np.asarray(point.dense() if hasattr(point, "dense") else point)
    x = cp.Variable(case.oracle.shape, complex=array.dtype.kind == "c")
    cost, constraints = case.model(cp, x)
    if isinstance(cost, float):
        assert case.oracle.objective(point) == cost
        return
    value = solve(cp.Problem(cp.Minimize(cost), [*constraints, x == array]))
    assert case.oracle.objective(point) == pytest.approx(value, rel=1e-4, abs=1e-4)


BOUNDED = [case for case in DEFINED if np.isfinite(case.oracle.maximum()) and case.name != "from-callable"]


@pytest.mark.parametrize("case", BOUNDED, ids=names(BOUNDED))
def test_membership(case: Case) -> None:
    """Walk from a point of X out along a ray; wherever the distance is clear, so must the answer be."""
    rng = np.random.default_rng(4)
    dtype = np.complex128 if case.complex_values else np.float64
    ends = [case.oracle(numbers(rng, case.oracle.shape, np.float64)).atom for _ in range(4)]
    ends = [np.asarray(end.dense() if hasattr(end, "dense") else end) for end in ends]
    middle = sum(ends) / len(ends)
    away = ends[0] - middle + 0.05 * numbers(rng, case.oracle.shape, dtype)
    answers = set()
    for step in (0.0, 0.7, 1.1, 2.0):
        point = middle + step * away
        far = distance(case, point)
        if far < 1e-6 or far > 1e-3:
            answers.add(inside := far < 1e-6)
            assert case.oracle.contains(point, 1e-5) == inside
    assert answers == {True, False}
