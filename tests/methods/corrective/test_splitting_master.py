"""Couplings that give their prox alone: few projections an iteration, the answers of exact masters."""

import numpy as np
import pytest

import unipd
from unipd import couplings, maps, sharp


class Counted(couplings.ConvexSet):
    """A set of the library as a user would write it, by projection and support function, that counts projections."""

    def __init__(self, model: couplings.ConvexSet) -> None:
        self.model, self.projections = model, 0

    def project(self, vector: np.ndarray) -> np.ndarray:
        self.projections += 1
        return self.model.project(vector)

    def conjugate(self, dual: np.ndarray) -> float:
        return self.model.conjugate(dual)


class Deviations(couplings.ConvexLoss):
    """The sum of |r_i| by its prox alone."""

    def value(self, residual: np.ndarray) -> float:
        return float(np.abs(residual).sum())

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return np.sign(residual)

    def curvature(self) -> float:
        return np.inf

    def conjugate(self, dual: np.ndarray) -> float:
        return couplings.Absolute().conjugate(dual)

    def prox(self, vector: np.ndarray, step: float) -> np.ndarray:
        return np.sign(vector) * np.maximum(np.abs(vector) - step, 0.0)


SETS = {
    "ball": couplings.L2Ball(0.5),
    "box": couplings.Box(-0.1, 0.2),
    "cross-polytope": couplings.L1Ball(2.0),
    "maximum norm": couplings.LInfBall(0.1),
    "orthant": couplings.AtMost(),
    "point": couplings.Equality(),
}


def sparse_data(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return A and b for a sparse x with noise."""
    random = np.random.default_rng(0)
    A = random.standard_normal((rows, columns))
    return A, A[:, :4] @ np.array([1.0, -2.0, 0.5, 1.5]) + 0.05 * random.standard_normal(rows)


@pytest.mark.parametrize("name", SETS)
def test_projected_at_most_five_times_an_iteration(name: str) -> None:
    A, b = sparse_data(25, 80)
    own = Counted(SETS[name])
    problem = unipd.Problem(sharp.L1NormSquared(80), A, b, own)
    result = unipd.solve(problem, unipd.Corrective(), accuracy=1e-6, stop=unipd.MaxIterations(1000))
    exact = unipd.solve(unipd.Problem(sharp.L1NormSquared(80), A, b, SETS[name]), unipd.Corrective(), accuracy=1e-8)
    assert result.status.success
    assert own.projections <= 5 * result.iterations
    assert result.objective == pytest.approx(exact.objective, rel=5e-6, abs=1e-6)


def test_simplex_with_linear_costs_and_a_high_accuracy() -> None:
    random = np.random.default_rng(1)
    A, costs = random.standard_normal((15, 60)), random.random(60)
    b = A[:, :3].mean(axis=1)
    own = Counted(couplings.L2Ball(0.3))
    result = unipd.solve(unipd.Problem(sharp.Linear(costs, sharp.Simplex(60)), A, b, own), accuracy=1e-9)
    known = unipd.Problem(sharp.Linear(costs, sharp.Simplex(60)), A, b, couplings.L2Ball(0.3))
    exact = unipd.solve(known, accuracy=1e-9)
    assert result.method == "corrective"
    assert result.status.success
    assert result.objective == pytest.approx(exact.objective, rel=1e-8)


def test_complex_data() -> None:
    random = np.random.default_rng(2)
    A = random.standard_normal((20, 60)) + 1j * random.standard_normal((20, 60))
    b = A[:, :3] @ np.array([1.0, -1j, 0.5 + 0.5j])
    own = Counted(couplings.L2Ball(0.2))
    result = unipd.solve(unipd.Problem(sharp.L1NormSquared(60), A, b, own), unipd.Corrective(), accuracy=1e-6)
    exact = unipd.solve(unipd.Problem(sharp.L1NormSquared(60), A, b, couplings.L2Ball(0.2)), accuracy=1e-8)
    assert result.status.success
    assert own.projections <= 5 * result.iterations
    assert result.objective == pytest.approx(exact.objective, rel=5e-6)


def test_loss_with_kinks() -> None:
    A, b = sparse_data(25, 80)
    own = unipd.solve(unipd.Problem(sharp.L1Ball(80, 3.0), A, b, Deviations()), unipd.Corrective(), accuracy=1e-6)
    exact = unipd.solve(unipd.Problem(sharp.L1Ball(80, 3.0), A, b, couplings.Absolute()), accuracy=1e-8)
    assert own.status.success
    assert own.objective == pytest.approx(exact.objective, rel=5e-6)


def test_a_part_without_derivative_decides_for_a_product() -> None:
    own = Counted(couplings.L2Ball(0.5))
    assert not couplings.Product([couplings.Equality(), own], [1, 2]).has_prox_jacobian
    assert couplings.Product([couplings.Equality(), couplings.LeastSquares()], [1, 2]).has_prox_jacobian
    assert not couplings.Translated(own, np.ones(2)).has_prox_jacobian
    assert not couplings.Scaled(own, 2.0).has_prox_jacobian
    assert couplings.Scaled(couplings.L2Ball(1.0), 2.0).has_prox_jacobian


def test_warm_start_continues_from_the_pair() -> None:
    A, b = sparse_data(25, 80)
    first = unipd.solve(unipd.Problem(sharp.L1NormSquared(80), A, b, Counted(SETS["ball"])), unipd.Corrective())
    changed = unipd.Problem(sharp.L1NormSquared(80), A, 1.01 * b, Counted(SETS["ball"]))
    cold = unipd.solve(changed, unipd.Corrective(), accuracy=1e-6)
    warm = unipd.solve(changed, unipd.Corrective(), accuracy=1e-6, start=first)
    assert warm.status.success
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    assert warm.iterations <= cold.iterations


def test_infeasible_constraints_are_found() -> None:
    problem = unipd.Problem(sharp.Simplex(3), maps.Identity((3,)), np.full(3, 9.0), Counted(couplings.L2Ball(1.0)))
    result = unipd.solve(problem, unipd.Corrective(), accuracy=1e-6, stop=unipd.MaxIterations(300))
    assert result.status.value == "infeasible"


def test_resumed_run_repeats_the_whole(tmp_path: object) -> None:
    A, b = sparse_data(25, 80)
    problem = unipd.Problem(sharp.L1NormSquared(80), A, b, Counted(SETS["box"]))
    file = f"{tmp_path}/run.ckpt"
    whole = unipd.solve(problem, unipd.Corrective(), accuracy=1e-6)
    unipd.solve(problem, unipd.Corrective(), accuracy=1e-6, stop=unipd.MaxIterations(9), checkpoint=file)
    resumed = unipd.solve(problem, unipd.Corrective(), accuracy=1e-6, checkpoint=file, resume=True)
    assert resumed.iterations == whole.iterations
    np.testing.assert_array_equal(resumed.dual, whole.dual)
