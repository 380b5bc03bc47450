"""A wrong oracle or a wrong adjoint ends as an error, never as a proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from unipd import MaxIterations, Problem, Status, solve
from unipd.errors import OracleError
from unipd.maps import DenseMatrix
from unipd.sharp import L1Ball, L2NormSquared, Linear, Simplex, Spectrahedron, from_callable

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

    def counted(value: Any) -> Any:
        nonlocal products
        products += 1
        return value

    operator = LinearOperator(
        matrix.shape, matvec=lambda x: counted(matrix @ x), rmatvec=lambda y: counted(matrix.T @ y), dtype=float
    )
    problem = Problem(Linear(cost, Simplex(10)), operator, b, "=")
    products = 0
    result = solve(problem, "corrective", accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.counts.matvecs >= products - 2  # the point itself is measured once more at the end
