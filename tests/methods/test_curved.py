"""Round sets and strictly convex costs under constraints: auto restarts the accelerated method and reaches 1e-6."""

import numpy as np
import pytest

import unipd
from unipd import sharp
from unipd.methods import Continued, Corrective, as_method
from unipd.methods.fallback import Fallback


def _problems(seed: int) -> dict[str, unipd.Problem]:
    random = np.random.default_rng(seed)
    A, cost, inside = random.standard_normal((6, 20)), random.standard_normal(20), random.uniform(-0.5, 0.5, 20)
    b, weights = 0.6 * A @ inside, random.dirichlet(np.ones(20))
    return {
        "quadratic box": unipd.Problem(sharp.QuadraticBox(1.0, cost, -1.0, 1.0, 20), A, b, "="),
        "l2 ball": unipd.Problem(sharp.Linear(cost, sharp.L2Ball(20)), A, b / np.linalg.norm(inside), "="),
        "lp ball": unipd.Problem(sharp.Linear(cost, sharp.LpBall(20, 3.0)), A, b / np.linalg.norm(inside, 3), "<="),
        "entropy": unipd.Problem(sharp.Entropy(20), A, A @ weights, "="),
    }


@pytest.mark.parametrize("name", ["quadratic box", "l2 ball", "lp ball", "entropy"])
def test_a_certified_millionth(name: str) -> None:
    for seed in range(4):
        problem = _problems(seed)[name]
        chosen = as_method("auto", problem)
        assert isinstance(chosen, Fallback)
        assert isinstance(chosen.first, Continued)
        result = unipd.solve(problem, accuracy=1e-6)
        assert result.status is unipd.Status.SOLVED
        assert problem.sharp.contains(result.x, 1e-7)
        assert result.counts.oracle_calls <= 3000


def test_polytopes_options_and_losses_stay_with_the_corrective_method() -> None:
    problem = _problems(0)["l2 ball"]
    assert isinstance(as_method("auto", problem, memory=50), Corrective)
    flat = unipd.Problem(sharp.Linear(problem.sharp.cost, sharp.L1Ball(20)), problem.map, problem.b, "=")
    loss = unipd.Problem(problem.sharp, problem.map, problem.b, unipd.couplings.LeastSquares())
    straight = unipd.Problem(sharp.QuadraticBox(0.0, 1.0, -1.0, 1.0, 20), problem.map, problem.b, "=")
    for other in (flat, loss, straight):
        chosen = as_method("auto", other)
        assert isinstance(chosen, Fallback)
        assert isinstance(chosen.first, Corrective)
