"""Constraints and losses in one product: the same solution as with the losses' residuals as a slack block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd import Problem, Status, solve
from unipd.couplings import (
    Absolute,
    AtMost,
    Equality,
    Huber,
    L2Ball,
    LeastSquares,
    MultinomialLikelihood,
    Product,
)
from unipd.doctor import check_coupling
from unipd.errors import InvalidInput
from unipd.maps import DenseMatrix
from unipd.sharp import Entropy, L1Ball, Linear, NuclearBall, QuadraticBox, Simplex

SIZE, EQUALITIES, INEQUALITIES, LOSSES = 30, 3, 4, 8
SIZES = [EQUALITIES, INEQUALITIES, LOSSES]


def data(seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    A = random.standard_normal((sum(SIZES), SIZE))
    b = A @ random.dirichlet(np.ones(SIZE))
    b[EQUALITIES : EQUALITIES + INEQUALITIES] += 0.02
    b[-LOSSES:] += random.standard_normal(LOSSES)
    return A, b


def mixed(loss: Any) -> Product:
    return Product([Equality(), AtMost(), loss], SIZES)


ORACLES: dict[str, Any] = {
    "simplex": lambda: Simplex(SIZE),
    "linear": lambda: Linear(np.linspace(-1.0, 1.0, SIZE), Simplex(SIZE)),
    "entropy": lambda: Entropy(SIZE),
}


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("method", ["auto", "corrective"])
def test_the_solution_is_that_of_the_slack_block(oracle: str, method: str) -> None:
    A, b = data(0)
    direct = solve(Problem(ORACLES[oracle](), A, b, mixed(LeastSquares(3.0))), method, accuracy=1e-6)
    slack = QuadraticBox(3.0, 0.0, -np.inf, np.inf, LOSSES)
    rows = np.vstack([np.zeros((EQUALITIES + INEQUALITIES, LOSSES)), -np.eye(LOSSES)])
    sets = Product([Equality(), AtMost(), Equality()], SIZES)
    block = solve(Problem([ORACLES[oracle](), slack], [A, rows], b, sets), accuracy=1e-6)
    assert direct.status is block.status is Status.SOLVED
    assert direct.objective == pytest.approx(block.objective, rel=1e-4, abs=1e-5)
    residual = A @ unipd.atoms.dense(direct.x) - b
    assert np.abs(residual[:EQUALITIES]).max() < 1e-4
    assert residual[EQUALITIES:-LOSSES].max() < 1e-4
    penalty = 1.5 * np.sum(residual[-LOSSES:] ** 2)
    assert direct.objective == pytest.approx(ORACLES[oracle]().objective(direct.x) + penalty)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_universal_methods_converge(method: str) -> None:
    A, b = data(1)
    result = solve(Problem(Entropy(SIZE), A, b, mixed(LeastSquares())), method, accuracy=1e-3)
    assert result.status is Status.SOLVED


@pytest.mark.parametrize("loss", [Huber(0.3), Absolute(), LeastSquares(100.0)])
def test_other_losses(loss: Any) -> None:
    A, b = data(2)
    problem = Problem(Linear(np.linspace(-1.0, 1.0, SIZE), Simplex(SIZE)), A, b, mixed(loss))
    result = solve(problem, accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective >= result.dual_bound - 1e-6 * abs(result.objective)


def test_a_nuclear_ball_takes_the_factored_method() -> None:
    random = np.random.default_rng(3)
    truth = np.outer(random.standard_normal(8), random.standard_normal(6))
    rows = random.standard_normal((30, 48))
    b = rows @ truth.reshape(-1)
    b[5:] += 0.1 * random.standard_normal(25)
    coupling = Product([Equality(), LeastSquares()], [5, 25])
    ball = NuclearBall((8, 6), float(np.linalg.norm(truth, "nuc")))
    problem = Problem(ball, DenseMatrix(rows, (8, 6)), b, coupling)
    factored = solve(problem, "factored", accuracy=1e-5)
    corrective = solve(problem, "corrective", accuracy=1e-5, stop=unipd.MaxIterations(500))
    assert factored.status is Status.SOLVED
    assert factored.objective == pytest.approx(corrective.objective, abs=2e-5 * problem.scale(0.0))


def test_what_cannot_take_both_refuses_by_name() -> None:
    A, b = data(0)
    problem = Problem(Simplex(SIZE), A, b, mixed(LeastSquares()))
    for method in ("frank-wolfe", "away-step", "pairwise"):
        with pytest.raises(InvalidInput, match=f"{method} needs a smooth loss"):
            solve(problem, method)
    with pytest.raises(InvalidInput, match="weights"):
        solve(problem, "accunipdgrad", weights="greedy")
    with pytest.raises(InvalidInput, match="quasi-newton"):
        solve(problem, "quasi-newton")
    with pytest.raises(InvalidInput, match="split"):
        Problem(Simplex(SIZE), A, b, mixed(LeastSquares()), split=True)


def test_losses_alone_are_a_loss() -> None:
    A, b = data(4)
    parts = Product([LeastSquares(2.0), LeastSquares(0.5)], [5, 10])
    problem = Problem(L1Ball(SIZE), A, b, parts)
    assert problem.loss is not None
    assert problem.split
    weights = np.concatenate([np.full(5, 2.0), np.full(10, 0.5)])
    same = Problem(L1Ball(SIZE), A, b, unipd.couplings.WeightedLeastSquares(weights))
    for method in ("corrective", "pairwise", "accunipdgrad"):
        one, other = (solve(each, method, accuracy=1e-4, stop=unipd.MaxIterations(500)) for each in (problem, same))
        error = 1e-4 * problem.scale(0.0) if method == "pairwise" else 1e-9  # its steps of equal length are ties
        assert one.objective == pytest.approx(other.objective, abs=error)
    nonsmooth = Problem(L1Ball(SIZE), A, b, Product([Absolute(), LeastSquares()], [5, 10]))
    assert not nonsmooth.split
    assert solve(nonsmooth, accuracy=1e-6).status is Status.SOLVED


@pytest.mark.parametrize("loss", [LeastSquares(2.0), Huber(0.3), Absolute()])
def test_moreau_and_fenchel_hold(loss: Any) -> None:
    coupling = Product([L2Ball(0.5), loss, AtMost()], [3, 4, 2])
    assert all(check.ok for check in check_coupling(coupling, (9,)))


def test_infeasibility_counts_the_constrained_rows_only() -> None:
    """Neither the units of the losses' rows nor their residuals change it."""
    coupling = Product([Equality(), LeastSquares()], [1, 1])
    problem = Problem(Simplex(2), np.eye(2), [0.5, 1e3], coupling)
    assert problem.infeasibility(np.array([0.25, 7.0])) == pytest.approx(0.5)
    assert problem.relative_gap(3.0, 2.0) == pytest.approx(1.0 / (0.5e6))


def test_rows_are_equilibrated_and_losses_keep_their_units() -> None:
    A, b = data(0)
    factors = np.ones(sum(SIZES))
    factors[:2] = 1e3, 1e-3
    plain = solve(Problem(Simplex(SIZE), A, b, mixed(LeastSquares())), accuracy=1e-6)
    scaled = Problem(Simplex(SIZE), factors[:, None] * A, factors * b, mixed(LeastSquares()))
    assert scaled.rows is not None
    assert np.all(scaled.rows.factors[-LOSSES:] == 1.0)
    assert solve(scaled, accuracy=1e-6).objective == pytest.approx(plain.objective, rel=1e-4)


def test_a_likelihood_beside_constraints_is_solved_from_no_given_start() -> None:
    """Phi^* is infinite at lam = 0, where runs begin elsewhere."""
    rows = np.random.default_rng(0).dirichlet(np.ones(4), 5)
    b = np.append(rows[:2] @ np.full(4, 0.25), np.zeros(3))
    coupling = Product([Equality(), MultinomialLikelihood([3.0, 2.0, 5.0], 10.0)], [2, 3])
    result = solve(Problem(Simplex(4), rows, b, coupling), accuracy=1e-4)
    assert result.status is Status.SOLVED
    assert np.allclose(rows[:2] @ result.x, b[:2], atol=1e-4)


def test_a_likelihood_under_constraints_keeps_its_unit():
    """Gaps are in nats where all losses have that unit, and relative where one has none."""
    likelihood = MultinomialLikelihood([3.0, 1.0], shots=4)
    assert Product([Equality(), likelihood], [1, 2]).gap_scale == 1.0
    assert Product([likelihood, LeastSquares()], [2, 1]).gap_scale is None
    assert Product([Equality(), AtMost()], [1, 1]).gap_scale is None
    rows = np.vstack([np.ones((1, 2)), np.eye(2)])
    coupling = Product([Equality(), likelihood], [1, 2])
    problem = Problem(unipd.sharp.Box([0.0, 0.0], [1.0, 1.0]), rows, [1.0, 0.0, 0.0], coupling)
    assert problem.scale(1e6) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_single_rows_have_any_units(seed: int) -> None:
    """Beside constraints weights change with the units of rows, and the answer does not."""
    random = np.random.default_rng(seed)
    A, cost, target = random.standard_normal((9, 12)), random.standard_normal(12), random.standard_normal(6)
    b = np.concatenate([A[:3] @ random.dirichlet(np.ones(12)), target])

    def run(factors: np.ndarray) -> unipd.Result:
        parts = [Equality(), unipd.couplings.WeightedLeastSquares(1.0 / factors[3:] ** 2)]
        oracle = unipd.sharp.Linear(cost, unipd.sharp.LInfBall(12))
        return solve(Problem(oracle, factors[:, None] * A, factors * b, Product(parts, [3, 6])), accuracy=1e-7)

    plain, other = run(np.ones(9)), run(10.0 ** random.integers(-5, 6, 9))
    assert plain.status is other.status is unipd.Status.SOLVED
    assert other.objective == pytest.approx(plain.objective, rel=1e-6)
    np.testing.assert_allclose(other.x, plain.x, atol=1e-4)


def test_contradictory_constraints_beside_a_loss_are_suspected() -> None:
    """Where losses have no largest value, the bound is no proof, but the message says what it suggests."""
    A = np.random.default_rng(0).standard_normal((30, 60))
    b = np.append(np.full(5, 50.0), np.zeros(25))
    kinds = unipd.couplings.Product([unipd.couplings.Equality(), unipd.couplings.LeastSquares()], [5, 25])
    oracle = unipd.sharp.Simplex(60)
    result = unipd.solve(unipd.Problem(oracle, A, b, kinds), accuracy=1e-6, stop=unipd.MaxIterations(200))
    assert not result.status.is_conclusive
    assert "without the losses" in result.message
    assert unipd.solve(unipd.Problem(oracle, A[:5], b[:5], "=")).status is unipd.Status.INFEASIBLE
