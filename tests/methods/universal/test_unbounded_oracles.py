"""Oracles without a maximiser, and other requirements of the universal methods on oracles and losses."""

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.errors import OracleError, UnboundedOracle
from unipd.methods.universal import has_analytic_step
from unipd.protocols import SharpAnswer
from unipd.report import describe_certificate

METHODS = ["auto", "unipdgrad", "accunipdgrad"]


def _orthant(direction: np.ndarray) -> np.ndarray:
    """Return the maximiser of a linear function over the nonnegative orthant, at infinity unless y <= 0."""
    return np.where(direction > 0, np.inf, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_linear_objective_on_a_cone_is_unbounded(method: str) -> None:
    cone = sharp.from_callable(_orthant, 3)
    problem = unipd.Problem(sharp.Linear(np.array([-1.0, 1.0, 1.0]), cone), np.eye(3), np.ones(3), "=")
    with pytest.raises(UnboundedOracle, match="unbounded"):
        unipd.solve(problem, method)


CASES = {
    "free variable": (np.array([[0.0, 1.0, 0.0]]), "="),
    "columns that cancel": (np.array([[1.0, 1.0, -2.0], [0.0, 1.0, -1.0]]), "="),
    "harmless inequality": (np.array([[-1.0, 1.0, 0.0]]), "<="),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_ray_that_improves_forever_is_unbounded(method: str, case: str, scale: float) -> None:
    """min <c, x> over x >= 0 with c < 0 on the ray that the oracle gives at lam = 0, and A d = 0 (or <= 0) there."""
    matrix, coupling = CASES[case]
    costs = {"free variable": [-1.0, 1.0, 1.0], "columns that cancel": [-1.0, -1.0, -1.0]}
    cost = np.array(costs.get(case, [-1.0, 1.0, 1.0]))
    cone = sharp.from_callable(_orthant, 3, contains=lambda x: bool(np.min(x) >= 0.0))
    problem = unipd.Problem(sharp.Linear(cost, cone), scale * matrix, scale * np.ones(len(matrix)), coupling)
    result = unipd.solve(problem, method)
    assert result.status is unipd.Status.UNBOUNDED
    assert np.linalg.norm(result.x) == pytest.approx(1.0)
    assert result.extras["ray_objective"] == pytest.approx(cost @ result.x)
    assert result.extras["ray_objective"] < 0.0
    assert result.extras["ray_residual"] <= 1e-12
    assert result.dual_bound == -np.inf
    assert "unbounded" in str(result)
    assert result.extras["is_feasible_point_known"] is (case == "harmless inequality")  # x = 0 is feasible there
    undecided = "Whether any point is feasible was not decided"
    assert ("A feasible point is known." if case == "harmless inequality" else undecided) in result.message
    assert describe_certificate(result)[0].startswith("The objective is unbounded")


@pytest.mark.parametrize(
    ("cost", "matrix", "contains"),
    [
        ([-1.0, 1.0, 1.0], np.eye(3), None),  # bounded by its constraints
        ([-1.0, 1.0, 1.0], np.diag([1.0, 1e15, 1.0]), None),  # the same with a row in another unit
        ([-1.0, -1.0, 1.0], [[1.0, -2.0, 0.0]], None),  # another ray, not the one that the oracle gives
        ([-1.0, 1.0, 1.0], [[0.0, 1.0, 0.0]], lambda x: bool(np.max(x) <= 10.0)),  # X is bounded
    ],
)
def test_a_ray_that_proves_nothing_is_an_error(cost: list[float], matrix: object, contains: object) -> None:
    cone = sharp.from_callable(_orthant, 3, contains=contains)
    problem = unipd.Problem(sharp.Linear(np.array(cost), cone), matrix, np.ones(len(matrix)), "=")
    with pytest.raises(UnboundedOracle):
        unipd.solve(problem)


def test_a_loss_that_grows_slower_than_the_objective_falls_is_unbounded() -> None:
    cone = sharp.from_callable(_orthant, 2)
    for cost, status in ((-3.0, unipd.Status.UNBOUNDED), (-0.5, None)):
        problem = unipd.Problem(sharp.Linear(np.array([cost, 1.0]), cone), np.eye(2), np.ones(2), couplings.Absolute())
        if status is None:
            with pytest.raises(UnboundedOracle):
                unipd.solve(problem)
        else:
            assert unipd.solve(problem).status is status


@pytest.mark.parametrize("method", METHODS)
def test_an_infinite_value_is_unboundedness(method: str) -> None:
    class Half(sharp.Sharp):
        def maximiser(self, direction: np.ndarray) -> np.ndarray:
            return np.zeros(2)

        def contains(self, x: np.ndarray, tolerance: float = 1e-9) -> bool:
            return True

        def __call__(self, direction: np.ndarray, **_: object) -> SharpAnswer:
            value = np.inf if direction[0] > 0 else 0.0
            return SharpAnswer(np.zeros(2), value, 0.0)

    with pytest.raises(UnboundedOracle, match="squared norm"):
        unipd.solve(unipd.Problem(Half(2), np.eye(2), [1.0, 1.0], "="), method)


def test_nan_is_not_unboundedness() -> None:
    oracle = sharp.from_callable(lambda y: np.full(2, np.nan), 2)
    with pytest.raises(OracleError) as caught:
        unipd.solve(unipd.Problem(oracle, np.eye(2), [1.0, 1.0], "="))
    assert not isinstance(caught.value, UnboundedOracle)


class Squared(couplings.ConvexLoss):
    """phi(r) = ||r||_1^2 / 2: its conjugate ||lam||_inf^2 / 2 has degree 2 and is not quadratic."""

    @property
    def conjugate_degree(self) -> float:
        return 2.0

    def value(self, residual: np.ndarray) -> float:
        return 0.5 * float(np.abs(residual).sum()) ** 2

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return np.abs(residual).sum() * np.sign(residual)

    def curvature(self) -> float:
        return np.inf

    def conjugate(self, dual: np.ndarray) -> float:
        return 0.5 * float(np.abs(dual).max()) ** 2

    def slack(self, dual: np.ndarray) -> tuple[np.ndarray, float]:
        place = int(np.argmax(np.abs(dual)))
        return np.where(np.arange(dual.size) == place, dual, 0.0), self.conjugate(dual)

    def prox(self, vector: np.ndarray, step: float) -> np.ndarray:
        raise NotImplementedError


def test_degree_two_is_not_quadratic() -> None:
    for loss, expected in [(Squared(), False), (couplings.LeastSquares(), True)]:
        problem = unipd.Problem(sharp.L1Ball(3), np.eye(3), [1.0, 2.0, 3.0], loss)
        assert has_analytic_step(problem) is expected
        assert (problem.coupling.quadratic_weights is not None) is expected
    problem = unipd.Problem(sharp.L1Ball(3), np.eye(3), [1.0, 2.0, 3.0], Squared())
    with pytest.raises(unipd.errors.InvalidInput, match="quadratic"):
        unipd.solve(problem, unipd.UniPDGrad(step_rule="analytic"))
    result = unipd.solve(problem, unipd.AccUniPDGrad(weights="greedy"), stop=unipd.MaxIterations(30))
    assert result.dual_bound <= 12.5 + 1e-9 <= result.objective + 1e-6


def test_the_first_oracle_call_knows_a_given_eps() -> None:
    tolerances: list[float] = []

    class Listening(sharp.Simplex):
        def __call__(self, direction: np.ndarray, *, tolerance: float = 0.0, start: object = None) -> SharpAnswer:
            tolerances.append(tolerance)
            return super().__call__(direction, tolerance=tolerance, start=start)

    problem = unipd.Problem(Listening(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    unipd.solve(problem, unipd.UniPDGrad(eps=1e-6), accuracy=1e-1, stop=unipd.MaxIterations(1))
    assert tolerances[0] <= 1e-6


def test_the_analytic_step_names_an_oracle_that_fails() -> None:
    class Broken(sharp.Simplex):
        def value(self, direction: np.ndarray, **_: object) -> SharpAnswer:
            raise ZeroDivisionError("no value today")

    problem = unipd.Problem(Broken(3), np.eye(3), [0.2, 0.3, 0.5], couplings.LeastSquares())
    with pytest.raises(OracleError, match="no value today"):
        unipd.solve(problem, unipd.UniPDGrad(step_rule="analytic"))
