"""Frank-Wolfe methods start from the point of an earlier result."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import FrankWolfe, MaxIterations, Problem, Status, iterate, solve
from unipd.couplings import LeastSquares
from unipd.sharp import L1Ball, Simplex

names = pytest.mark.parametrize("method", ["frank-wolfe", "away-step", "pairwise", "blended-pairwise"])


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix and a right-hand side."""
    random = np.random.default_rng(5)
    return random.standard_normal((30, 60)), 5.0 * random.standard_normal(30)


def problem(shift: float = 0.0, radius: float = 5.0) -> Problem:
    """Return least squares over a ball of which the solution has many atoms."""
    matrix, b = data()
    return Problem(L1Ball(60, radius), matrix, b + shift, LeastSquares())


@names
@pytest.mark.parametrize("tracker", ["dense", "atoms"])
def test_a_warm_start_saves_iterations(method: str, tracker: str) -> None:
    near, cold = problem(1e-3), solve(problem(), method, accuracy=1e-3, tracker=tracker)
    again = solve(near, method, accuracy=1e-3, tracker=tracker)
    warm = solve(near, method, accuracy=1e-3, tracker=tracker, start=cold)
    assert warm.status is again.status is Status.SOLVED
    assert warm.iterations < again.iterations
    assert warm.objective == pytest.approx(again.objective, rel=5e-3)
    np.testing.assert_allclose(near.map.image(warm.x), warm.image, atol=1e-9)


@names
def test_the_first_point_is_no_worse_than_the_result(method: str) -> None:
    earlier = solve(problem(), method, accuracy=1e-3, tracker="atoms")
    first = next(iterate(problem(), method, tracker="atoms", start=earlier))
    assert first.certificate.objective <= earlier.objective * (1 + 1e-9)


def test_away_steps_take_the_atoms_of_other_methods() -> None:
    earlier = solve(problem(), FrankWolfe(), accuracy=1e-2, tracker="atoms")
    cold, warm = (solve(problem(), "pairwise", accuracy=1e-2, start=start) for start in (None, earlier))
    assert warm.status is Status.SOLVED
    assert warm.iterations < cold.iterations


def test_away_steps_without_atoms_start_from_the_dual_vector() -> None:
    earlier = solve(problem(), "accunipdgrad", accuracy=1e-2, tracker="dense")
    warm = solve(problem(), "pairwise", accuracy=1e-2, start=earlier)
    assert warm.status is Status.SOLVED


@names
def test_a_point_outside_the_set_is_not_used(method: str) -> None:
    earlier = solve(problem(), method, accuracy=1e-3, tracker="atoms")
    smaller = problem(radius=0.5)
    result = solve(smaller, method, accuracy=1e-3, start=earlier)
    assert result.status is Status.SOLVED
    assert smaller.sharp.contains(result.x)


def test_a_result_of_another_set_and_shape_gives_its_dual_vector_alone() -> None:
    _, b = data()
    other = Problem(Simplex(30), np.eye(30), b, LeastSquares())
    earlier = solve(other, "pairwise", accuracy=1e-2)
    assert solve(problem(), "pairwise", accuracy=1e-2, start=earlier).status is Status.SOLVED


def test_the_open_loop_forgets_its_start() -> None:
    method = FrankWolfe("open-loop")
    earlier = solve(problem(), method, stop=MaxIterations(20))
    cold, warm = (solve(problem(), method, stop=MaxIterations(5), start=start) for start in (None, earlier))
    np.testing.assert_array_equal(cold.x, warm.x)
