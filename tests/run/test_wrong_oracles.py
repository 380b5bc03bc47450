"""A wrong oracle or adjoint gives an error, never a false proof."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from unipd import MaxIterations, Problem, Status, solve
from unipd.errors import OracleError
from unipd.maps import DenseMatrix
from unipd.sharp import L1Ball, L2NormSquared, Linear, Simplex, Spectrahedron, from_callable
from unipd.trackers import LowRankTracker

seeds = pytest.mark.parametrize("seed", range(4))
methods = pytest.mark.parametrize("method", ["corrective", "accunipdgrad", "unipdgrad"])


def data(seed: int) -> tuple[Any, Any, Any]:
    """Return a matrix, a right-hand side that the simplex reaches, and a cost."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((4, 10))
    return matrix, matrix @ random.dirichlet(np.ones(10)), random.standard_normal(10)


def with_adjoint(matrix: Any, factor: float) -> LinearOperator:
    """Return an operator whose adjoint is wrong by a factor."""
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, rmatvec=lambda y: factor * (matrix.T @ y))


def outcome(problem: Problem) -> Status | None:
    """Return the status of a run, None when it ends as an oracle's error."""
    try:
        return solve(problem, "corrective", accuracy=1e-6, stop=MaxIterations(100)).status
    except OracleError:
        return None


@seeds
@methods
@pytest.mark.parametrize("priced", [False, True])
def test_an_oracle_that_minimises_proves_nothing(seed: int, method: str, priced: bool) -> None:
    matrix, b, cost = data(seed)
    wrong = from_callable(lambda y: np.eye(10)[np.argmin(y)], 10)
    problem = Problem(Linear(cost, wrong) if priced else wrong, matrix, b, "=")
    with pytest.raises(OracleError, match="doctor"):
        solve(problem, method, accuracy=1e-6, stop=MaxIterations(300))


def wrong(kind: str, seed: int) -> Any:
    """Return an oracle of the simplex that does not maximise."""
    random, corners = np.random.default_rng(seed + 100), np.eye(10)
    functions: dict[str, Any] = {
        "second best": lambda y: corners[np.argsort(y)[-2]],
        "at random": lambda y: corners[random.integers(10)],
        "minimiser": lambda y: corners[np.argmin(y)],
    }
    return from_callable(functions[kind], 10)


@pytest.mark.parametrize("seed", range(10))
@methods
@pytest.mark.parametrize("kind", ["second best", "at random", "minimiser"])
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("coupling", ["=", "<="])
def test_no_wrong_oracle_proves_infeasibility(seed: int, method: str, kind: str, priced: bool, coupling: str) -> None:
    matrix, b, cost = data(seed)
    oracle = wrong(kind, seed)
    problem = Problem(Linear(cost, oracle) if priced else oracle, matrix, b, coupling)
    try:
        status = solve(problem, method, accuracy=1e-6, stop=MaxIterations(150)).status
    except OracleError:
        return
    assert status is not Status.INFEASIBLE


@seeds
@methods
def test_a_maximum_that_points_exceed_proves_nothing(seed: int, method: str) -> None:
    matrix, b, cost = data(seed)
    for maximum, raises in ((float(cost.min()) - 1.0, True), (float(cost.max()), False)):
        oracle = from_callable(
            lambda y: np.eye(10)[np.argmax(y - cost)], 10, lambda x: float(cost @ x), linear=True, maximum=maximum
        )
        problem = Problem(oracle, matrix, b, "=")
        with pytest.raises(OracleError, match="maximum") if raises else contextlib.nullcontext():
            assert solve(problem, method, accuracy=1e-3).status is not Status.INFEASIBLE


@seeds
@methods
@pytest.mark.parametrize("tracker", ["atoms", "dense"])
def test_right_oracles_of_the_callers_own_prove_it(seed: int, method: str, tracker: str) -> None:
    matrix, b, cost = data(seed)
    right = from_callable(lambda y: np.eye(10)[np.argmax(y)], 10)
    single = Problem(Linear(cost, right), matrix, b + 10.0, "=")
    blocks = Problem([right, Simplex(10)], [matrix, matrix], b + 30.0, "=")
    for problem in (single, blocks):
        result = solve(problem, method, accuracy=1e-6, tracker=tracker)
        assert result.status is Status.INFEASIBLE
        assert result.counts.oracle_calls > 20  # it was called again, and counted


def test_the_error_of_a_tracker_is_not_attributed_to_the_oracle() -> None:
    """Cut to one term, the average has too little trace, and is no point of X that a proof has to cover."""
    size = 12
    diagonal = np.eye(size * size)[:: size + 1]
    problem = Problem(Spectrahedron(size), DenseMatrix(diagonal, domain=(size, size)), np.full(size, 0.05), "=")
    result = solve(problem, "unipdgrad", tracker=LowRankTracker(1, 1), stop=MaxIterations(500))
    assert result.status is Status.INFEASIBLE


@seeds
@pytest.mark.parametrize("factor", [-1.0, 2.0])
@pytest.mark.parametrize("coupling", ["=", "<="])
def test_a_wrong_adjoint_is_never_believed(seed: int, factor: float, coupling: str) -> None:
    matrix, b, cost = data(seed)
    problem = Problem(Linear(cost, Simplex(10)), with_adjoint(matrix, factor), b, coupling)
    assert outcome(problem) not in (Status.SOLVED, Status.INFEASIBLE)


@seeds
def test_a_wrong_adjoint_of_a_block_is_found(seed: int) -> None:
    matrix, b, _ = data(seed)
    problem = Problem([Simplex(10), L1Ball(10)], [matrix, with_adjoint(matrix, -1.0)], b + 30.0, "=")
    with pytest.raises(OracleError, match="adjoint"):
        solve(problem, "corrective", stop=MaxIterations(100))


def infeasible(seed: int) -> dict[str, Problem]:
    """Return problems without a feasible point."""
    matrix, b, cost = data(seed)
    twice = np.concatenate([matrix, matrix])
    symmetric = DenseMatrix(np.eye(16)[:3], domain=(4, 4))
    return {
        "simplex": Problem(Linear(cost, Simplex(10)), matrix, b + 10.0, "="),
        "operator": Problem(Simplex(10), with_adjoint(matrix, 1.0), b - 30.0, "<="),
        "blocks": Problem([Linear(cost, Simplex(10)), L1Ball(10)], [matrix, matrix], b + 30.0, "="),
        "spectral": Problem(Spectrahedron(4), symmetric, [3.0, 0.0, 0.0], "="),
        "unbounded": Problem(L2NormSquared(10), twice, np.concatenate([b, b + 1.0]), "="),
    }


@seeds
@pytest.mark.parametrize("name", infeasible(0))
def test_true_proofs_stand(seed: int, name: str) -> None:
    assert solve(infeasible(seed)[name], accuracy=1e-6).status is Status.INFEASIBLE


@seeds
def test_a_right_operator_is_solved_and_its_products_are_counted(seed: int) -> None:
    matrix, b, cost = data(seed)
    products = 0

    def count_call(value: Any) -> Any:
        nonlocal products
        products += 1
        return value

    operator = LinearOperator(
        matrix.shape, matvec=lambda x: count_call(matrix @ x), rmatvec=lambda y: count_call(matrix.T @ y), dtype=float
    )
    problem = Problem(Linear(cost, Simplex(10)), operator, b, "=")
    assert not problem.has_uneven_rows  # row norms are measured once
    products = 0
    result = solve(problem, "corrective", accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.counts.matvecs >= products - 2  # the point itself is measured once more at the end
