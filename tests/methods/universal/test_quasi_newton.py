"""Quasi-Newton steps on smooth duals: solutions, descent, safeguard, and what "auto" makes of declarations."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import unipd
from unipd import Problem, QuasiNewton, Status, iterate, solve
from unipd.couplings import Absolute, AtLeast, AtMost, Equality, Huber, L2Ball, LeastSquares, Product
from unipd.errors import InvalidInput
from unipd.methods.universal import QuasiNewtonState
from unipd.sharp import Entropy, Linear, LpBall, NormSquared, SeparablePower, Simplex, from_callable

SIZE, ROWS = 40, 9


def data(seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    A = random.standard_normal((ROWS, SIZE))
    return A, A @ random.dirichlet(np.full(SIZE, 0.3))


COUPLINGS: dict[str, Any] = {
    "=": "=",
    "<=": "<=",
    ">=": ">=",
    "mixed": Product([Equality(), AtMost(), AtLeast()], [3, 3, 3]),
    "least squares": LeastSquares(50.0),
}
ORACLES: dict[str, Any] = {
    "entropy": lambda: Entropy(SIZE),
    "linear + entropy": lambda: Linear(np.linspace(0.0, 3.0, SIZE), Entropy(SIZE)),
    "cubes": lambda: SeparablePower(SIZE, 3.0),
    "lp squared": lambda: NormSquared(LpBall(SIZE, 1.5)),
    "linear on lp": lambda: Linear(np.linspace(0.5, 3.0, SIZE), LpBall(SIZE, 3.0, 2.0)),
}


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_auto_takes_quasi_newton_steps_and_solves(oracle: str, coupling: str) -> None:
    A, b = data()
    problem = Problem(ORACLES[oracle](), A, b, COUPLINGS[coupling])
    result = solve(problem, accuracy=1e-8)
    assert result.status is Status.SOLVED
    assert result.method == "quasi-newton"
    other = solve(problem, unipd.Corrective(), accuracy=1e-6, stop=unipd.MaxIterations(300))
    assert result.dual_bound >= other.dual_bound - 1e-7 * max(1.0, abs(other.dual_bound))
    assert other.objective >= result.dual_bound - 1e-5 * max(1.0, abs(result.dual_bound))


def test_the_bound_is_the_maximum_of_the_dual() -> None:
    A, b = data(3)

    def dual(lam: Any) -> Any:
        y = -(A.T @ lam)
        powers = np.exp(y - y.max())
        return np.log(powers.sum()) + y.max() + lam @ b, b - A @ (powers / powers.sum())

    reference = minimize(dual, np.zeros(ROWS), jac=True, method="BFGS", options={"gtol": 1e-10})
    result = solve(Problem(Entropy(SIZE), A, b, "="), QuasiNewton(), accuracy=1e-9)
    assert result.dual_bound == pytest.approx(-reference.fun, abs=1e-9)
    np.testing.assert_allclose(result.image, b, atol=1e-8)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("period", [1, 3, 10])
def test_the_dual_function_never_increases(coupling: str, period: int) -> None:
    A, b = data(1)
    problem = Problem(Entropy(SIZE), A, b, COUPLINGS[coupling])
    states = list(islice(iterate(problem, QuasiNewton(period=period)), 25))
    values = np.array([state.point.value for state in states])  # type: ignore[attr-defined]
    assert np.all(np.diff(values) <= 1e-13 * np.abs(values[:-1]))
    for state in states:
        assert isinstance(state, QuasiNewtonState)
        assert problem.split or np.isfinite(problem.coupling.conjugate(state.dual))


def test_every_tenth_iteration_is_universal() -> None:
    A, b = data(2)
    states = list(islice(iterate(Problem(Entropy(SIZE), A, b, "="), QuasiNewton()), 40))
    done = [0 if state.universal is None else state.universal.iteration for state in states]  # type: ignore[attr-defined]
    assert done[8] == 0
    assert all(count >= (place + 1) // 10 for place, count in enumerate(done))


def test_a_dual_with_kinks_is_left_to_the_universal_steps() -> None:
    """A linear program, whose dual is piecewise linear: quasi-Newton steps fail and are taken ever more rarely."""
    A, b = data(4)
    problem = Problem(Linear(np.linspace(0.0, 1.0, SIZE), Simplex(SIZE)), A, b, "=")
    *_, last = islice(iterate(problem, QuasiNewton(eps=1e-3)), 400)
    assert isinstance(last, QuasiNewtonState)
    assert last.universal is not None
    assert last.universal.iteration > 200
    *_, plain = islice(iterate(problem, unipd.AccUniPDGrad(eps=1e-3)), last.universal.iteration)
    assert last.certificate.infeasibility <= plain.certificate.infeasibility


@pytest.mark.parametrize("coupling", [L2Ball(0.1), Absolute(), Product([Equality(), L2Ball(0.1)], [4, 5])])
def test_other_couplings_are_refused_by_name(coupling: Any) -> None:
    A, b = data()
    problem = Problem(Entropy(SIZE), A, b, coupling)
    with pytest.raises(InvalidInput, match="quasi-newton"):
        solve(problem, "quasi-newton")
    assert solve(problem, accuracy=1e-4).method != "quasi-newton"


def test_bounded_slack_blocks_have_kinks() -> None:
    A, b = data()
    problem = Problem(Entropy(SIZE), A, b, Huber(0.05, slack_radius=10.0))
    assert solve(problem, accuracy=1e-4).method == "corrective"


def softmax(y: Any) -> Any:
    powers = np.exp(y - y.max())
    return powers / powers.sum()


def entropy(x: Any) -> float:
    return float(np.sum(x[x > 0] * np.log(x[x > 0])))


@pytest.mark.parametrize("declared", [True, False])
def test_user_supplied_oracles_declare_strict_convexity(declared: bool) -> None:
    A, b = data()
    oracle = from_callable(softmax, SIZE, entropy, real_only=True, maximum=0.0, strictly_convex=declared)
    result = solve(Problem(Linear(np.ones(SIZE), oracle), A, b, "="), accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert (result.method == "quasi-newton") == declared


def test_declarations_pass_through_products() -> None:
    random = np.random.default_rng(0)
    costs = random.random((6, 8))
    blocks = [Linear(cost, Entropy(8)) for cost in costs]
    transport = Problem(blocks, [unipd.maps.Identity(8)] * 6, np.full(8, 6.0 / 8.0), "=")
    assert transport.sharp.is_strictly_convex
    result = solve(transport, accuracy=1e-8)
    assert (result.status, result.method) == (Status.SOLVED, "quasi-newton")
    scaling = np.exp(-costs)  # Sinkhorn's iteration for the same plan
    column = np.ones(8)
    for _ in range(2000):
        row = 1.0 / (scaling @ column)
        column = (6.0 / 8.0) / (scaling.T @ row)
    np.testing.assert_allclose(np.array(result.x.parts), row[:, None] * scaling * column, atol=1e-7)
    mixed = unipd.sharp.Product([Entropy(3), Simplex(3)])
    assert not mixed.is_strictly_convex


@pytest.mark.parametrize("wrong", [{"memory": 0}, {"period": 0}, {"eps": -1.0}])
def test_settings_are_validated(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        QuasiNewton(**wrong)


def test_single_precision_and_complex_data() -> None:
    A, b = data()
    single = Problem(Entropy(SIZE), A.astype(np.float32), b.astype(np.float32), "=")
    assert solve(single, accuracy=1e-4).status is Status.SOLVED
    random = np.random.default_rng(5)
    rows = random.standard_normal((4, 7)) + 1j * random.standard_normal((4, 7))
    target = rows @ (random.standard_normal(7) + 1j * random.standard_normal(7))
    result = solve(Problem(SeparablePower(7, 3.0), rows, target, "="), QuasiNewton(), accuracy=1e-7)
    assert result.status is Status.SOLVED


def test_a_warm_start_at_the_solution_takes_no_steps() -> None:
    A, b = data()
    problem = Problem(Entropy(SIZE), A, b, "=")
    first = solve(problem, accuracy=1e-9)
    assert solve(problem, accuracy=1e-6, start=first).iterations <= 1
