"""Bounds that rest on the word of a user-supplied oracle: their kind, and what a wrong oracle cannot obtain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from unipd import MaxIterations, Problem, Status, couplings, sharp, solve
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
    assert "(as stated by the oracle)" in str(result)
    assert any("as stated by the oracle" in sentence for sentence in describe_certificate(result))
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
