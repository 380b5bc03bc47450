"""Degenerate problems, each with the status expected of auto and of both universal methods, never a false one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import unipd
from unipd import MaxIterations, Problem, Status, couplings, sharp

SOLVED, INFEASIBLE = Status.SOLVED, Status.INFEASIBLE
UNFINISHED = {Status.ITERATION_LIMIT, Status.STALLED}
METHODS = ("auto", "unipdgrad", "accunipdgrad")
ACCURACY = {"auto": 1e-6, "unipdgrad": 1e-2, "accunipdgrad": 1e-2}
ITERATIONS = {"auto": 800, "unipdgrad": 600, "accunipdgrad": 600}


@dataclass(frozen=True)
class Case:
    """A problem, the statuses allowed by method, and its optimal value (None when it is infeasible)."""

    problem: Callable[[], Problem]
    auto: set[Status]
    plain: set[Status]
    accelerated: set[Status]
    optimum: float | None

    def expected_statuses(self, method: str) -> set[Status]:
        return {"auto": self.auto, "unipdgrad": self.plain, "accunipdgrad": self.accelerated}[method]


RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((4, 8))
COST = RANDOM.standard_normal(8)
CENTRE = A @ np.full(8, 1 / 8)
DIAGONAL = unipd.maps.RankOneMeasurements


def _program(matrix: np.ndarray, b: np.ndarray, coupling: str = "=", cost: np.ndarray = COST) -> Problem:
    return Problem(sharp.Linear(cost, sharp.Simplex(matrix.shape[1])), matrix, b, coupling)


def _optimum(problem: Problem) -> float:
    """Return the optimal value of a linear program over the simplex."""
    from scipy.optimize import linprog

    matrix, equal = problem.map.matrix, isinstance(problem.coupling, couplings.Equality)
    size = matrix.shape[1]
    rows = {
        "A_eq": np.vstack([matrix, np.ones(size)]) if equal else np.ones((1, size)),
        "b_eq": np.append(problem.b, 1.0) if equal else np.ones(1),
        "A_ub": None if equal else matrix,
        "b_ub": None if equal else problem.b,
    }
    return float(linprog(problem.sharp.cost, bounds=(0, None), **rows).fun)


def _redundant() -> Problem:
    return _program(np.vstack([A, A, A.sum(axis=0)]), np.concatenate([CENTRE, CENTRE, [CENTRE.sum()]]))


def _tangent() -> Problem:
    """The plane x_1 = 1 touches the unit ball in one point, and no multiplier attains the bound."""
    return Problem(sharp.Linear([0.0, 1.0, 0.0], sharp.L2Ball(3)), np.array([[1.0, 0.0, 0.0]]), [1.0], "=")


def _face_of_the_cone() -> Problem:
    """X_11 = 0 forces a row of X to vanish: no positive definite X, and no multiplier attains the bound."""
    cost = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    return Problem(sharp.Linear(cost, sharp.Spectrahedron(3)), DIAGONAL(np.eye(3)[:1]), [0.0], "=")


def _badly_scaled() -> Problem:
    factors = np.array([1e-6, 1e-2, 1e3, 1e6])
    return _program(factors[:, None] * A, factors * (A @ np.full(8, 1 / 8) + 0.05), "<=")


def _complete_graph() -> Problem:
    """MaxCut of the complete graph: the top eigenvalue has multiplicity n - 1 at every dual vector of the start."""
    cost = -(6.0 * np.eye(6) - np.ones((6, 6))) / 4
    return Problem(sharp.Linear(cost, sharp.Spectrahedron(6, 6.0)), DIAGONAL(np.eye(6)), np.ones(6), "=")


def _incompatible(oracle: sharp.Sharp) -> Problem:
    """x_1 <= -1 and x_1 >= 1 over the whole space."""
    return Problem(oracle, np.array([[1.0, 0.0], [-1.0, 0.0]]), [-1.0, -1.0], "<=")


def _proportional_rows() -> Problem:
    return Problem(sharp.L1NormSquared(3), np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]), [1.0, 3.0], "=")


def _squared_loss() -> Problem:
    return Problem(sharp.L1Ball(8, 2.0), A, A[:, 0], couplings.LeastSquares())


def _duplicate_vertices() -> Problem:
    return Problem(sharp.ConvexHull(np.vstack([np.eye(3)] * 4)), np.eye(3), [0.2, 0.3, 0.5], "=")


FREE = {SOLVED}
TAIL = UNFINISHED | {SOLVED}
CASES = {
    "infeasible, simplex": Case(lambda: _program(A, 3.0 * CENTRE), {INFEASIBLE}, {INFEASIBLE}, {INFEASIBLE}, None),
    "infeasible, spectrahedron": Case(
        lambda: Problem(sharp.Spectrahedron(3), DIAGONAL(np.eye(3)), [0.5, 0.7, 0.2], "="),
        {INFEASIBLE},
        {INFEASIBLE},
        {INFEASIBLE},
        None,
    ),
    "infeasible, whole space, homogeneous": Case(
        lambda: _incompatible(sharp.L2NormSquared(2)), {INFEASIBLE}, {INFEASIBLE}, {INFEASIBLE}, None
    ),
    "infeasible, whole space, proportional rows": Case(
        _proportional_rows, {INFEASIBLE}, {INFEASIBLE}, {INFEASIBLE}, None
    ),
    "infeasible, whole space, cubic": Case(
        lambda: _incompatible(sharp.EuclideanPower(2, 3.0)),
        {INFEASIBLE},
        {INFEASIBLE},
        UNFINISHED | {INFEASIBLE},
        None,
    ),
    "infeasible, whole space, linear and square": Case(
        lambda: _incompatible(sharp.Linear(np.array([1.0, 0.0]), sharp.L2NormSquared(2))),
        UNFINISHED | {INFEASIBLE},
        UNFINISHED | {INFEASIBLE},
        UNFINISHED | {INFEASIBLE},
        None,
    ),
    "barely feasible, a vertex": Case(lambda: _program(A, A[:, 3]), FREE, FREE, FREE, float(COST[3])),
    "barely feasible, a tangent": Case(_tangent, TAIL, TAIL, TAIL, 0.0),
    "barely feasible, a face of the cone": Case(_face_of_the_cone, FREE, FREE, TAIL, 1.0),
    "redundant rows": Case(_redundant, FREE, UNFINISHED, UNFINISHED, _optimum(_program(A, CENTRE))),
    "f* = 0, linear": Case(
        lambda: _program(A, A[:, :2] @ [0.5, 0.5], cost=np.repeat([0.0, 1.0], [2, 6])), FREE, FREE, FREE, 0.0
    ),
    "f* = 0, squared norm": Case(lambda: Problem(sharp.L1NormSquared(8), A, np.zeros(4), "="), FREE, FREE, FREE, 0.0),
    "f* = 0, loss": Case(_squared_loss, FREE, FREE, FREE, 0.0),
    "lam* = 0, inactive rows": Case(lambda: _program(A, np.full(4, 10.0), "<="), FREE, FREE, FREE, float(COST.min())),
    "lam* = 0, no objective": Case(lambda: _program(A, CENTRE, cost=np.zeros(8)), FREE, FREE, FREE, 0.0),
    "optimum on a face": Case(
        lambda: _program(A[:2], A[:2, :4] @ np.full(4, 0.25), cost=np.repeat([0.0, 1.0], 4)), FREE, FREE, FREE, 0.0
    ),
    "badly scaled rows": Case(_badly_scaled, FREE, TAIL, TAIL, _optimum(_program(A, CENTRE + 0.05, "<="))),
    "degenerate top eigenvalue": Case(_complete_graph, FREE, FREE, FREE, -9.0),
    "a multiple of the identity": Case(
        lambda: Problem(sharp.Linear(-np.eye(6), sharp.Spectrahedron(6)), DIAGONAL(np.eye(6)), np.full(6, 1 / 6), "="),
        FREE,
        FREE,
        FREE,
        -1.0,
    ),
    "duplicate atoms": Case(_duplicate_vertices, FREE, FREE, FREE, 0.0),
    "duplicate columns": Case(
        lambda: _program(np.repeat(A[:, :2], 4, axis=1), A[:, :2] @ [0.5, 0.5], cost=np.zeros(8)),
        FREE,
        FREE,
        FREE,
        0.0,
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_the_status_is_the_expected_one_and_the_bound_holds(name: str, method: str) -> None:
    case = CASES[name]
    problem, accuracy = case.problem(), ACCURACY[method]
    result = unipd.solve(problem, method, accuracy=accuracy, stop=MaxIterations(ITERATIONS[method]))
    assert result.status in case.expected_statuses(method)
    if case.optimum is None:
        assert result.infeasibility > accuracy
        return
    scale = max(1.0, abs(case.optimum))
    assert result.dual_bound <= case.optimum + 1e-6 * scale
    if result.status is SOLVED:
        assert abs(result.gap) <= accuracy
        assert result.infeasibility <= accuracy
        assert problem.sharp.contains(result.x, 1e-7)
    if method == "auto" and case.auto == FREE:
        assert result.objective == pytest.approx(case.optimum, abs=2e-6 * scale)


@pytest.mark.parametrize("method", METHODS)
def test_large_units_are_not_mistaken_for_infeasibility(method: str) -> None:
    """Squared norms of data in large units have optimal values that no scale of one would expect."""
    problem = Problem(sharp.L1NormSquared(8), A, 1e10 * CENTRE, "=")
    result = unipd.solve(problem, method, accuracy=1e-2, stop=MaxIterations(300))
    assert result.status in {SOLVED, *UNFINISHED}
    assert result.dual_bound > 1e16


@pytest.mark.parametrize("method", ["corrective", "unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-9])
def test_multipliers_stay_within_single_precision(method: str, accuracy: float) -> None:
    """Those of a single point with A x = b up to rounding grow as far as they are let."""
    for unit in (1.0, 1e-6, 1e-12):
        random = np.random.default_rng(3)
        matrix, point = random.standard_normal((5, 3)).astype(np.float32), unit * random.random(3)
        oracle = sharp.Linear([1.0, 2.0, 3.0], sharp.Box(point, point))
        problem = Problem(oracle, matrix, np.nextafter(matrix @ point.astype(np.float32), np.float32(1.0)), "=")
        result = unipd.solve(problem, method, accuracy=accuracy, stop=MaxIterations(300))
        assert result.status in {SOLVED, *UNFINISHED}
        assert np.isfinite(result.state.dual).all()
        assert result.dual_bound <= oracle.objective(point) + 1e-6
