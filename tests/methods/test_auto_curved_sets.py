"""Which method "auto" chooses for curved and spectral sets where dual functions are hard, and that it converges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from unipd import Problem, Status, solve
from unipd.couplings import Absolute, LeastSquares
from unipd.maps import DenseMatrix
from unipd.sharp import (
    Entropy,
    L1Ball,
    L2Ball,
    Linear,
    LpBall,
    NuclearBall,
    QuadraticBox,
    Sharp,
    Spectrahedron,
    TraceBall,
)

SIZE = 25


def oracle(name: str, random: np.random.Generator) -> Sharp | Linear:
    cost = random.standard_normal(SIZE)
    makers = {
        "l2": lambda: Linear(cost, L2Ball(SIZE, 1.5)),
        "lp": lambda: Linear(cost, LpBall(SIZE, 3.0, 1.2)),
        "quadratic": lambda: QuadraticBox(random.random(SIZE) + 0.1, cost, -np.ones(SIZE), np.ones(SIZE)),
        "entropy": lambda: Entropy(SIZE),
    }
    return makers[name]()


@pytest.mark.parametrize("seed", [1, 4, 7])
@pytest.mark.parametrize("name", ["l2", "lp", "quadratic", "entropy"])
def test_absolute_losses_over_round_sets_are_solved(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix, b = random.standard_normal((6, SIZE)), random.standard_normal(6)
    result = solve(Problem(oracle(name, random), matrix, b, Absolute()), accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.method == ("corrective" if name == "quadratic" else "accunipdgrad")


def test_badly_scaled_squares_over_boxes_with_infinite_bounds_are_solved() -> None:
    """The corrective method stalls at such curvatures; quasi-Newton steps take over."""
    random = np.random.default_rng(6)
    columns, rows = (int(random.integers(5, 40)) for _ in range(2))
    curvature = 10.0 ** random.uniform(-2.0, 1.0, columns)
    lower, upper = -random.random(columns), random.random(columns)
    lower[random.random(columns) < 0.3], upper[random.random(columns) < 0.3] = -np.inf, np.inf
    matrix = random.standard_normal((rows, columns)) * 10.0 ** random.uniform(-1.0, 2.0, (rows, 1))
    b = matrix @ np.clip(random.standard_normal(columns), lower, upper)
    b += 0.1 * np.linalg.norm(matrix, axis=1) * random.standard_normal(rows)
    cost = random.standard_normal(columns)
    problem = Problem(QuadraticBox(curvature, cost, lower, upper), matrix, b, LeastSquares())
    result = solve(problem, accuracy=1e-6)
    assert result.status is Status.SOLVED
    # x + c / sqrt(d) and A x - b, each with its weight, are the residuals of one bounded least-squares problem
    stacked = np.vstack([matrix, np.diag(np.sqrt(curvature))])
    reference = lsq_linear(stacked, np.append(b, -cost / np.sqrt(curvature)), (lower, upper), tol=1e-14)
    optimum = reference.cost - 0.5 * float(cost**2 @ (1.0 / curvature))
    assert result.objective == pytest.approx(optimum, abs=2e-6 * problem.scale(result.objective))


@pytest.mark.parametrize("make", [Spectrahedron, TraceBall, lambda size: NuclearBall((size, size))])
def test_absolute_losses_over_spectral_sets_are_solved(make: Callable[[int], Sharp]) -> None:
    random = np.random.default_rng(0)
    rows = random.standard_normal((20, 8, 8))
    symmetric = (rows + rows.transpose(0, 2, 1)).reshape(20, 64)
    matrix = DenseMatrix(0.1 * symmetric, (8, 8))
    result = solve(Problem(make(8), matrix, random.standard_normal(20), Absolute()), accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.method == "corrective"
    assert result.counts.oracle_calls <= 100


def test_smooth_losses_and_polytopes_keep_the_corrective_method() -> None:
    random = np.random.default_rng(0)
    matrix, b = random.standard_normal((6, SIZE)), random.standard_normal(6)
    for problem in (
        Problem(oracle("quadratic", random), matrix, b, LeastSquares()),
        Problem(Linear(np.ones(SIZE), L1Ball(SIZE)), matrix, b, Absolute()),
    ):
        assert solve(problem, accuracy=1e-3).method == "corrective"
