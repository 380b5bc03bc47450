"""Bounds that rest on the word of a user-supplied oracle: their kind, and what a wrong oracle cannot obtain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from unipd import MaxIterations, Problem, Status, couplings, maps, sharp, solve
from unipd.errors import OracleError
from unipd.protocols import SharpAnswer
from unipd.report import describe_certificate

SIZE, ROWS = 12, 4
METHODS = ("auto", "corrective", "unipdgrad", "accunipdgrad")


def data(seed: int) -> tuple[Any, Any, Any]:
    """Return A, a right-hand side that the simplex reaches with a margin, and a cost."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((ROWS, SIZE))
    return matrix, matrix @ random.dirichlet(np.ones(SIZE)) + 0.05, random.standard_normal(SIZE)


def optimum(matrix: Any, b: Any, cost: Any) -> float:
    """Return min <c, x> over the simplex subject to A x <= b."""
    found = scipy.optimize.linprog(cost, A_ub=matrix, b_ub=b, A_eq=np.ones((1, SIZE)), b_eq=[1.0], bounds=(0, None))
    assert found.status == 0
    return float(found.fun)


def is_in_simplex(x: Any) -> bool:
    """Whether x lies in the simplex, up to rounding."""
    return bool(np.min(x) >= -1e-9 and abs(np.sum(x) - 1.0) <= 1e-9)


class Wrong(sharp.SharpFunction):
    """<c, x> over the simplex, with an oracle that errs in one of several ways."""

    real_only = True

    def __init__(self, kind: str, cost: Any, seed: int) -> None:
        super().__init__(SIZE)
        self.kind, self.cost, self.calls, self.random = kind, cost, 0, np.random.default_rng(seed)
        self.previous: Any = None

    @property
    def linear(self) -> bool:
        return True

    def maximiser(self, direction: Any) -> Any:
        return np.eye(SIZE)[self._vertex(direction - self.cost)]

    def _vertex(self, score: Any) -> int:
        ranked = np.argsort(score)
        lapses = {"second best": 1.0, "now and then second best": 0.3, "seldom at random": 0.02}
        if self.random.random() < lapses.get(self.kind, 0.0):
            return int(self.random.integers(SIZE)) if self.kind == "seldom at random" else int(ranked[-2])
        if self.kind == "once the worst" and self.calls == 7:
            return int(ranked[0])
        return int(ranked[0 if self.kind == "negated" else -1])

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.calls += 1
        answer = super().__call__(direction, tolerance=tolerance, start=start)
        if self.kind in ("outside by 1e-4", "outside by 1e-2"):
            atom = (1.0 + float(self.kind.split()[-1])) * answer.atom
            return SharpAnswer(atom, float(direction @ atom) - self.objective(atom), self.objective(atom))
        if self.kind == "value too low":
            return replace(answer, value=answer.value - 0.5)
        if self.kind == "stale":
            stale, self.previous = self.previous or answer, answer
            value = float(direction @ stale.atom) - stale.objective
            return replace(stale, value=value)
        return answer

    def objective(self, x: Any) -> float:
        costs = self.cost + (np.arange(SIZE) % 2 if self.kind == "another f" else 0.0)
        return float(costs @ x)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        point = np.asarray(x)
        return bool(point.min() >= -tolerance and abs(point.sum() - 1.0) <= tolerance)


KINDS = (
    *("second best", "now and then second best", "seldom at random", "once the worst", "negated", "stale"),
    *("outside by 1e-4", "outside by 1e-2", "value too low", "another f"),
)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
def test_a_wrong_oracle_obtains_no_false_status_and_no_rigorous_bound(
    method: str, kind: str, seed: int, accuracy: float
) -> None:
    matrix, b, cost = data(seed)
    oracle = Wrong(kind, cost, seed)
    problem = Problem(oracle, matrix, b, "<=")
    best = optimum(matrix, b, cost)
    try:
        result: Any = solve(problem, method, accuracy=accuracy, stop=MaxIterations(150))
    except OracleError as error:
        result = error.result
    if result is None:
        return
    assert result.bound_kind == "stated"
    assert result.status is not Status.INFEASIBLE
    if result.status is Status.SOLVED:
        assert is_in_simplex(result.x)
    if result.status is Status.SOLVED and kind != "another f":  # an f that no answer contradicts is what was stated
        assert abs(cost @ result.x - best) <= 3 * accuracy * max(1.0, abs(best))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1.0001, 1.01, 0.9])
@pytest.mark.parametrize("tracker", ["dense", "atoms"])
def test_atoms_that_contains_refuses_are_never_solved(method: str, scale: float, tracker: str) -> None:
    matrix, b, cost = data(1)

    def best_vertex(y: Any) -> Any:
        return scale * np.eye(SIZE)[np.argmax(y - cost)]

    oracle = sharp.from_callable(best_vertex, SIZE, lambda x: float(cost @ x), linear=True, contains=is_in_simplex)
    for coupling in ("<=", couplings.LeastSquares()):
        try:
            result = solve(
                Problem(oracle, matrix, b, coupling), method, accuracy=1e-2, stop=MaxIterations(200), tracker=tracker
            )
        except OracleError:
            continue
        assert result.status is not Status.SOLVED


@pytest.mark.parametrize("method", METHODS)
def test_a_right_oracle_is_solved_and_the_certificate_says_what_it_rests_on(method: str) -> None:
    matrix, b, cost = data(2)
    right = sharp.from_callable(lambda y: np.eye(SIZE)[np.argmax(y)], SIZE, contains=is_in_simplex)
    result = solve(Problem(sharp.Linear(cost, right), matrix, b, "<="), method, accuracy=1e-1)
    assert (result.status, result.bound_kind) == (Status.SOLVED, "stated")
    assert result.dual_bound <= optimum(matrix, b, cost) + 1e-9
    assert "(as stated by user-supplied parts)" in str(result)
    assert any("as stated by user-supplied parts" in sentence for sentence in describe_certificate(result))
    assert result.summary()["bound_kind"] == "stated"


class Certifying(sharp.Simplex):
    """A simplex of the user's own that proves its errors."""

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self(direction)


@pytest.mark.parametrize("method", METHODS)
def test_an_oracle_that_proves_its_errors_gives_rigorous_bounds(method: str) -> None:
    matrix, b, cost = data(3)
    for oracle, kind in ((Certifying(SIZE), "rigorous"), (sharp.Simplex(SIZE), "rigorous")):
        result = solve(Problem(sharp.Linear(cost, oracle), matrix, b, "<="), method, accuracy=1e-1)
        assert (result.status, result.bound_kind) == (Status.SOLVED, kind)
    parts = Problem(
        [Certifying(SIZE), sharp.from_callable(lambda y: np.eye(SIZE)[np.argmax(y)], SIZE)], [matrix] * 2, b
    )
    assert solve(parts, method, stop=MaxIterations(3)).bound_kind == "stated"


def test_an_oracle_that_breaks_down_at_the_end_is_an_error() -> None:
    matrix, b, cost = data(0)
    limit = MaxIterations(20)
    calls = int(solve(Problem(Wrong("", cost, 0), matrix, b, "<="), "unipdgrad", stop=limit).counts.oracle_calls)

    class Breaks(Wrong):
        def maximiser(self, direction: Any) -> Any:
            return np.full(SIZE, np.nan) if self.calls == calls else super().maximiser(direction)

    with pytest.raises(OracleError) as caught:
        solve(Problem(Breaks("", cost, 0), matrix, b, "<="), "unipdgrad", stop=limit)
    assert caught.value.result.status is Status.ITERATION_LIMIT


def test_a_contradiction_found_at_the_end_carries_the_result() -> None:
    matrix, b, cost = data(0)
    with pytest.raises(OracleError, match="does not maximise") as caught:
        solve(Problem(Wrong("once the worst", cost, 0), matrix, b, "<="), "accunipdgrad", stop=MaxIterations(60))
    assert caught.value.result is not None
    assert (caught.value.result.status, caught.value.result.iterations) == (Status.ITERATION_LIMIT, 60)


@pytest.mark.parametrize("method", METHODS)
def test_a_vertex_that_the_oracle_always_passes_over_is_found_by_a_long_tilt(method: str) -> None:
    cost = np.linspace(0.0, 1.0, SIZE) - np.where(np.arange(SIZE) == 0, 50.0, 0.0)  # far better than the second best
    problem = Problem(Wrong("second best", cost, 0), np.ones((1, SIZE)), [2.0], "<=")
    with pytest.raises(OracleError, match="does not maximise"):
        solve(problem, method, accuracy=1e-6)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_an_answer_of_the_run_contradicts_a_bound_at_its_end(method: str) -> None:
    matrix, b, cost = data(0)
    best, calls = int(np.argmin(cost)), iter(range(1 << 30))

    def maximise(y: Any) -> Any:
        """Return the cheapest vertex at the ninth call alone."""
        missed = next(calls) != 8
        return np.eye(SIZE)[np.argmax(y - cost - np.where(missed & (np.arange(SIZE) == best), 1e3, 0.0))]

    oracle = sharp.from_callable(maximise, SIZE, lambda x: float(cost @ x), linear=True)
    with pytest.raises(OracleError, match="does not maximise"):
        solve(Problem(oracle, matrix, b, "<="), method, accuracy=1e-3, stop=MaxIterations(100))


def test_the_message_says_what_a_stated_bound_rests_on() -> None:
    matrix, b, cost = data(1)
    oracle = sharp.from_callable(lambda y: np.eye(SIZE)[np.argmax(y - cost)], SIZE, lambda x: float(cost @ x))
    result = solve(Problem(oracle, matrix, b, "<="), accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert "holds if the user-supplied oracle maximises" in result.message
    assert "user-supplied" not in solve(Problem(sharp.Simplex(3), np.eye(3), np.ones(3), "<=")).message


def with_wrong_adjoint(matrix: Any, error: float, seed: int) -> LinearOperator:
    """Return an operator whose adjoint is that of a matrix nearby."""
    other = matrix + error * np.random.default_rng(seed).standard_normal(matrix.shape)
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, rmatvec=lambda y: other.T @ y, dtype=float)


def composed(kind: str, operator: Any) -> Any:
    """Return a map of the simplex that contains the operator."""
    if kind == "composed":
        return maps.Composed(maps.OperatorMap(operator), maps.Identity((SIZE,)))
    return maps.Stacked([maps.OperatorMap(operator)]) if kind == "stacked" else operator


@pytest.mark.parametrize("limit", [5, 30, 300])
@pytest.mark.parametrize("error", [1e-3, 1e-1])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["plain", "composed", "stacked"])
def test_a_wrong_adjoint_obtains_no_bound(kind: str, seed: int, error: float, limit: int) -> None:
    """However the run ends, and wherever the operator sits."""
    matrix, b, cost = data(seed)
    problem = Problem(
        sharp.Linear(cost, sharp.Simplex(SIZE)), composed(kind, with_wrong_adjoint(matrix, error, seed)), b, "<="
    )
    with pytest.raises(OracleError, match="adjoint"):
        solve(problem, accuracy=1e-6, stop=MaxIterations(limit))


def test_an_adjoint_that_errs_in_one_column_is_found_where_x_is_zero() -> None:
    matrix, b, cost = data(1)
    other = matrix.copy()
    other[:, np.argmax(cost)] += 10.0
    operator = LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, rmatvec=lambda y: other.T @ y, dtype=float)
    with pytest.raises(OracleError, match="adjoint"):
        solve(Problem(sharp.Linear(cost, sharp.Simplex(SIZE)), operator, b, "<="), stop=MaxIterations(30))


class Halved(couplings.AtMost):
    """r <= 0 with a conjugate that is too small."""

    def conjugate(self, dual: Any) -> float:
        return super().conjugate(dual) - 0.1 * float(np.linalg.norm(dual))


class SmallBall(couplings.ConvexSet):
    """The unit ball, with the support function of half of it."""

    def project(self, vector: Any) -> Any:
        return vector / max(1.0, float(np.linalg.norm(vector)))

    def conjugate(self, dual: Any) -> float:
        return 0.5 * float(np.linalg.norm(dual))


class SmallLoss(couplings.Huber):
    """A loss whose conjugate has half its values."""

    def conjugate(self, dual: Any) -> float:
        return 0.5 * super().conjugate(dual)


class SmallSlack(couplings.ConvexLoss):
    """Least squares, with half the values of its conjugate in the slack split."""

    def value(self, residual: Any) -> float:
        return 0.5 * float(residual @ residual)

    def gradient(self, residual: Any) -> Any:
        return residual

    def curvature(self) -> float:
        return 1.0

    def conjugate(self, dual: Any) -> float:
        return 0.5 * float(dual @ dual)

    def slack(self, dual: Any) -> tuple[Any, float]:
        return dual, 0.25 * float(dual @ dual)

    def prox(self, vector: Any, step: float) -> Any:
        return vector / (1.0 + step)


WRONG_COUPLINGS: dict[str, Any] = {
    "orthant": Halved(),
    "in a product": couplings.Product([couplings.AtMost(), Halved()], [1, ROWS - 1]),
    "moved": couplings.Translated(Halved(), np.zeros(ROWS)),
    "scaled": couplings.Scaled(SmallBall(), 0.05),
    "ball": SmallBall(),
    "loss": SmallLoss(1.0),
    "slack": SmallSlack(),
}


@pytest.mark.parametrize("limit", [5, 300])
@pytest.mark.parametrize("name", WRONG_COUPLINGS)
def test_a_wrong_conjugate_obtains_no_rigorous_bound(name: str, limit: int) -> None:
    matrix, b, cost = data(2)
    problem = Problem(sharp.Linear(cost, sharp.Simplex(SIZE)), matrix, b - 2.0, WRONG_COUPLINGS[name])
    for method in ("auto", "unipdgrad"):
        with pytest.raises(OracleError, match="coupling"):
            solve(problem, method, accuracy=1e-6, stop=MaxIterations(limit))


class OwnBall(SmallBall):
    """The unit ball, right."""

    def conjugate(self, dual: Any) -> float:
        return float(np.linalg.norm(dual))


class Cost(LinearOperator):
    """A symmetric cost known by its products."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(float, matrix.shape)
        self.matrix = matrix

    def _matvec(self, x: Any) -> Any:
        return self.matrix @ x

    def _adjoint(self) -> Any:
        return self


def test_right_parts_of_the_users_own_are_stated_and_named() -> None:
    matrix, b, cost = data(3)
    oracle, symmetric = sharp.Linear(cost, sharp.Simplex(SIZE)), np.diag(np.arange(4.0))
    trace = maps.DenseMatrix(np.eye(4).reshape(1, 16), domain=(4, 4))
    cases = [
        (Problem(oracle, aslinearoperator(matrix), b, "<="), "user-supplied map has the right adjoint"),
        (Problem(oracle, matrix, b, OwnBall()), "user-supplied coupling has the right conjugate"),
        (Problem(sharp.Linear(Cost(symmetric), sharp.Spectrahedron(4)), trace, [1.0]), "oracle maximises"),
    ]
    for problem, premise in cases:
        result = solve(problem, accuracy=1e-6)
        assert (result.status, result.bound_kind) == (Status.SOLVED, "stated")
        assert premise in result.message
    own = solve(Problem(oracle, matrix, b, "<="), accuracy=1e-6)
    assert (own.status, own.bound_kind) == (Status.SOLVED, "rigorous")
