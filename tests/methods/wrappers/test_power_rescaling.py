"""Powers of a norm with a right-hand side of any size: the run is that of size 1, and the result is scaled back."""

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.methods.wrappers import equilibrate

KINDS = {
    "l1": sharp.L1NormSquared(30),
    "l2": sharp.L2NormSquared(30, weight=0.5),
    "linf": sharp.LInfNormSquared(30),
    "cube": sharp.EuclideanPower(30, 3.0),
    "entrywise": sharp.SeparablePower(30, 2.5),
}


def problem_of_size(kind: str, size: float, coupling: str = "=", dtype: type = np.float64) -> unipd.Problem:
    random = np.random.default_rng(3)
    A = random.standard_normal((8, 30)).astype(dtype)
    return unipd.Problem(KINDS[kind], A, (size * (A @ random.standard_normal(30))).astype(dtype), coupling)


@pytest.mark.parametrize("method", ["auto", "corrective"])
@pytest.mark.parametrize("size", [1e6, 1e12, 1e20])
@pytest.mark.parametrize("kind", ["l1", "l2", "linf"])
def test_a_large_right_hand_side_is_solved_like_a_small_one(kind: str, size: float, method: str) -> None:
    small = unipd.solve(problem_of_size(kind, 1.0), method, accuracy=1e-7)
    large = unipd.solve(problem_of_size(kind, size), method, accuracy=1e-7, stop=unipd.MaxIterations(300))
    assert small.status is large.status is unipd.Status.SOLVED
    assert large.objective / size**2 == pytest.approx(small.objective, rel=1e-5)
    assert large.dual_bound / size**2 == pytest.approx(small.objective, rel=1e-5)
    np.testing.assert_allclose(large.x / size, small.x, atol=1e-2)


@pytest.mark.parametrize("coupling", ["=", "<=", ">="])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_reported_is_in_the_units_of_the_problem(kind: str, coupling: str) -> None:
    problem = problem_of_size(kind, 1e9, coupling)
    result = unipd.solve(problem, accuracy=1e-5, stop=unipd.MaxIterations(2000))
    assert result.status is unipd.Status.SOLVED
    x, lam = result.x, result.dual
    residual = problem.map.image(x) - problem.b
    assert problem.coupling.distance(residual) <= 1e-5 * np.linalg.norm(problem.b)
    assert result.objective == pytest.approx(problem.sharp.objective(x))
    bound = -problem.sharp.value(problem.map.adjoint(-lam)).value - lam @ problem.b - problem.coupling.conjugate(lam)
    assert result.dual_bound == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_usual_sizes_stay_as_they_are(size: float) -> None:
    assert equilibrate(problem_of_size("l2", size)) is None


def test_a_large_map_does_not_make_x_large() -> None:
    problem = problem_of_size("l2", 1.0)
    A = 1e9 * np.asarray(problem.map.matrix)  # type: ignore[attr-defined]
    assert equilibrate(unipd.Problem(KINDS["l2"], A, 1e9 * problem.b, "=")) is None


def test_single_precision_and_warm_starts() -> None:
    problem = problem_of_size("l2", 1e12, dtype=np.float32)
    first = unipd.solve(problem, accuracy=1e-3)
    again = unipd.solve(problem, accuracy=1e-3, start=first)
    assert first.status is again.status is unipd.Status.SOLVED
    assert again.counts.oracle_calls <= first.counts.oracle_calls


def test_losses_and_bounded_sets_have_units_of_their_own() -> None:
    A = np.eye(3)
    assert equilibrate(unipd.Problem(sharp.L2NormSquared(3), A, 1e12 * np.ones(3), couplings.LeastSquares())) is None
    assert equilibrate(unipd.Problem(sharp.Simplex(3, scale=1e12), A, 1e12 * np.ones(3), "=")) is None
