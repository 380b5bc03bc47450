"""Detection of quadratic costs: the method auto chooses for curved sets and costs, and exact models of quadratics."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unipd
from unipd import sharp
from unipd.dual import evaluate
from unipd.methods import Corrective, QuasiNewton, as_method
from unipd.methods.corrective import Bundle
from unipd.methods.wrappers import Fallback


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
        assert isinstance(chosen.inner, Corrective if name == "quadratic box" else QuasiNewton)
        result = unipd.solve(problem, accuracy=1e-6)
        assert result.status is unipd.Status.SOLVED
        assert problem.sharp.contains(result.x, 1e-7)
        assert result.counts.oracle_calls <= 3000


def test_polytopes_options_and_losses_stay_with_the_corrective_method() -> None:
    problem = _problems(0)["l2 ball"]
    assert isinstance(as_method("auto", problem, memory=50), Corrective)
    flat = unipd.Problem(sharp.Linear(problem.sharp.cost, sharp.L1Ball(20)), problem.map, problem.b, "=")
    curved = _problems(0)["quadratic box"].sharp
    loss = unipd.Problem(curved, problem.map, problem.b, unipd.couplings.LeastSquares())
    straight = unipd.Problem(sharp.QuadraticBox(0.0, 1.0, -1.0, 1.0, 20), problem.map, problem.b, "=")
    for other in (flat, loss, straight):
        chosen = as_method("auto", other)
        assert isinstance(chosen, Fallback)
        assert isinstance(chosen.inner, Corrective)


COST = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
QUADRATICS = {
    "box": sharp.QuadraticBox([0.0, 1.0, 2.0, 0.5, 0.1], COST, -1.0, 1.0, 5),
    "box under a counter": sharp.Counted(sharp.QuadraticBox(1.0, COST, -1.0, 2.0, 5)),
    "linear and square": sharp.Linear(COST, sharp.L2NormSquared(5, 0.7)),
    "square": sharp.L2NormSquared(5, 0.7),
    "separable square": sharp.SeparablePower(5, 2.0, 0.3),
}


def _bundle(oracle: Any, seed: int, count: int) -> tuple[Bundle, unipd.Problem]:
    random = np.random.default_rng(seed)
    problem = unipd.Problem(oracle, random.standard_normal((3, 5)), random.standard_normal(3), "=")
    points = [evaluate(problem, random.standard_normal(3)) for _ in range(count)]
    bundle = Bundle.of(problem, points[0]).with_atoms(problem, *points[1:])
    return bundle.with_weights(random.dirichlet(np.ones(len(bundle.atoms)))), problem


@given(name=st.sampled_from(sorted(QUADRATICS)), seed=st.integers(0, 10_000))
def test_the_model_of_a_quadratic_cost_is_exact(name: str, seed: int) -> None:
    """At any weights the model is f at the combined point, and stays so when atoms are merged."""
    bundle, problem = _bundle(QUADRATICS[name], seed, 6)
    for model in (bundle, bundle.prune(3, np.zeros(3))):
        x = model.tracker().point()
        assert model.objective() == pytest.approx(problem.sharp.objective(x), rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(model.image(problem), problem.map.image(x), atol=1e-10)
        np.testing.assert_allclose(x, bundle.tracker().point(), atol=1e-12)
    step = 1e-6 * (np.arange(bundle.weights.size) - 2.0)
    change = bundle.cost_at(bundle.weights + step) - bundle.cost_at(bundle.weights - step)
    assert change == pytest.approx(2.0 * float(bundle.cost_gradient(bundle.weights) @ step), rel=1e-4, abs=1e-12)


def test_other_costs_have_no_quadratic_model() -> None:
    others = [sharp.L1NormSquared(3), sharp.Entropy(3), sharp.SeparablePower(3, 3.0), sharp.QuadraticBox(0, 1, 0, 1, 3)]
    assert [oracle.quadratic_diagonal() for oracle in others] == [None] * 4


@pytest.mark.parametrize("seed", [0, 1])
def test_costs_curved_in_some_directions_alone_under_a_loss_with_kinks(seed: int) -> None:
    random = np.random.default_rng(seed)
    curvature = np.repeat([0.0, 1.0], 15)
    oracle = sharp.QuadraticBox(curvature, random.standard_normal(30), -1.0, 1.0, 30)
    matrix = random.standard_normal((8, 30)) / 5.0
    problem = unipd.Problem(oracle, matrix, random.standard_normal(8), unipd.couplings.Absolute())
    result = unipd.solve(problem, accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.counts.oracle_calls <= 300
