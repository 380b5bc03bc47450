"""Infeasibility and success are reported only with a certificate."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from support.oracles import EuclideanPower, Wrapped
from unipd import MaxIterations, MaxSeconds, Problem, Status, solve
from unipd.atoms import inner_product
from unipd.couplings import AtMost, L2Ball, LeastSquares
from unipd.maps import DenseMatrix, Sampling
from unipd.run import Result, downgrade, recheck
from unipd.sharp import Box, L1Ball, Linear, NuclearBall, Simplex, Spectrahedron
from unipd.spectral import RESIDUAL, RIGOROUS
from unipd.trackers import LowRankTracker

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
for_constraints = pytest.mark.parametrize("method", GENERAL)


INFEASIBLE: dict[str, Any] = {
    "a set alone, out of reach": lambda: Problem(Simplex(3), np.eye(3), [2.0, 0.0, 0.0], "="),
    "a set alone, inequality": lambda: Problem(Simplex(3), -np.ones((1, 3)), [-2.0], "<="),
    "a set alone, ball": lambda: Problem(L1Ball(3), np.eye(3), [3.0, 0.0, 0.0], L2Ball(0.5)),
    "a linear objective": lambda: Problem(Linear([1.0, 2.0, 3.0], Simplex(3)), np.eye(3), [2.0, 0.0, 0.0], "="),
    "a linear objective on a box": lambda: Problem(
        Linear([1.0, 1.0], Box(0.0, 1.0, 2)), np.eye(2), [-1.0, 0.5], AtMost()
    ),
    "a zero row": lambda: Problem(EuclideanPower(3, 2.0), np.zeros((2, 3)), [1.0, 0.0], "="),
}


@for_constraints
@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_problems_are_recognised(method: str, name: str) -> None:
    problem = INFEASIBLE[name]()
    result = solve(problem, method, accuracy=1e-4)
    assert result.status is Status.INFEASIBLE
    assert not result.status.success
    assert result.dual_bound > problem.sharp.maximum() or result.dual_bound == math.inf
    assert "infeasible" in str(result)


@for_constraints
def test_nearly_infeasible_problems_are_not_called_infeasible(method: str) -> None:
    """b on the boundary of A(X): the bound comes as near to f's maximum as rounding allows."""
    random = np.random.default_rng(2)
    for trial in range(10):
        A = random.standard_normal((4, 8))
        vertex = A[:, trial % 8]
        result = solve(Problem(Simplex(8), A, vertex, "="), method, accuracy=1e-3, stop=MaxIterations(300))
        assert result.status is not Status.INFEASIBLE
        single = Problem(Simplex(8), A.astype(np.float32), vertex.astype(np.float32), "=")
        assert solve(single, method, accuracy=1e-3, stop=MaxIterations(300)).status is not Status.INFEASIBLE


class Unsure(Wrapped):
    """An oracle whose everyday answers rest on residuals, and whose certificate is far too weak."""

    def __init__(self) -> None:
        super().__init__(Simplex(3), lambda call, answer, direction: replace(answer, bound_kind=RESIDUAL), exact=False)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        return replace(self.oracle(direction), error=1e3, bound_kind="probabilistic")


class Allowance(Wrapped):
    """An oracle whose everyday answers rest on residuals, and whose certificate errs by a constant."""

    def __init__(self, error: float) -> None:
        super().__init__(Simplex(40), lambda call, answer, direction: replace(answer, bound_kind=RESIDUAL), exact=False)
        self.certificate_error = error
        self.certificates = 0

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        self.certificates += 1
        return replace(self.oracle(direction), error=self.certificate_error, bound_kind="probabilistic")


def test_a_claim_is_certified_again_once_the_gap_has_fallen_by_what_was_missing() -> None:
    accuracy, claims, b = 1e-3, list[float](), np.linspace(1.0, 2.0, 40)
    sharp = Allowance(0.25 * accuracy * float(0.5 * b @ b))
    problem = Problem(sharp, np.eye(40), b, LeastSquares())

    def note_gap(info: Any) -> None:
        claims.append(info.gap)

    result = solve(problem, "frank-wolfe", accuracy=accuracy, callback=note_gap, stop=MaxIterations(3000))
    first = next(claim for claim in claims if claim <= accuracy)
    assert result.status is Status.SOLVED
    assert 0.5 * first < claims[-1] <= 0.76 * accuracy
    assert sharp.certificates <= 4  # not at every iteration


@pytest.mark.parametrize("method", ["pairwise", "accunipdgrad"])
def test_a_claim_that_cannot_be_certified_is_not_solved_and_still_stops(method: str) -> None:
    problem = Problem(Unsure(), np.eye(3), [1.0, 1.2, 1.0], LeastSquares())
    result = solve(problem, method, accuracy=1e-1, stop=MaxIterations(40))
    assert (result.status, result.iterations) == (Status.ITERATION_LIMIT, 40)
    assert (result.bound_kind, result.dual_bound) == (RIGOROUS, 0.0)  # what lam = 0 proves, and no more
    stopped = solve(problem, method, accuracy=1e-1, callback=lambda info: info.state.iteration == 30)
    assert (stopped.status, stopped.iterations) == (Status.STOPPED, 30)


class ShortSighted(Wrapped):
    """An oracle that overlooks the first vertex, except when a certificate is requested."""

    def __init__(self) -> None:
        super().__init__(Simplex(3), lambda call, answer, direction: answer, exact=False)

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        answer = self.oracle(np.where(np.arange(3) == 0, -1e9, direction))
        return replace(answer, value=inner_product(direction, answer.atom), bound_kind=RESIDUAL)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        return self.oracle(direction)


@for_constraints
def test_infeasibility_is_not_claimed_on_residuals_alone(method: str) -> None:
    feasible = Problem(ShortSighted(), np.eye(3), [0.6, 0.2, 0.2], "=")
    assert solve(feasible, method, accuracy=1e-2, stop=MaxIterations(50)).status is Status.ITERATION_LIMIT
    infeasible = Problem(ShortSighted(), np.eye(3), [0.0, 2.0, 0.0], "=")
    result = solve(infeasible, method, accuracy=1e-2, stop=MaxIterations(500))
    assert result.status is Status.INFEASIBLE
    assert result.bound_kind == "rigorous"


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "frank-wolfe"])
@pytest.mark.parametrize("seed", [0, 1])
def test_bounds_of_unfinished_runs_stand(method: str, seed: int) -> None:
    """Near the optimum the top singular values are equal, and runs that see one of them miss the others."""
    generator = np.random.default_rng(seed)
    rows, cols = np.divmod(np.sort(generator.choice(15_000, 2500, replace=False)), 100)
    truth = generator.standard_normal((150, 5)) @ generator.standard_normal((5, 100))
    ratings = truth[rows, cols] + 0.1 * generator.standard_normal(2500)
    ball = NuclearBall((150, 100), 0.5 * float(np.linalg.svd(truth, compute_uv=False).sum()))
    problem = Problem(ball, Sampling(rows, cols, (150, 100)), ratings, LeastSquares())
    best = solve(problem, accuracy=1e-6)
    assert best.status is Status.SOLVED
    result = solve(problem, method, accuracy=1e-2, stop=MaxIterations(200))
    reached = abs(result.gap) <= 1e-2  # as a certificate shows
    assert (result.status, result.bound_kind) == (Status.SOLVED if reached else Status.ITERATION_LIMIT, RIGOROUS)
    assert reached or result.iterations == 200
    assert result.dual_bound <= best.objective
    hurried = solve(problem, method, accuracy=1e-2, stop=MaxSeconds(1e-3))
    assert hurried.status is Status.TIME_LIMIT
    assert hurried.counts.oracle_calls == hurried.history["oracle_calls"][-1]  # the oracle was not called after the end


class Modest(Wrapped):
    """An oracle whose everyday answers admit a large error, and whose certificates are exact."""

    def __init__(self, oracle: Any, error: float) -> None:
        super().__init__(oracle, lambda call, answer, direction: replace(answer, error=error, bound_kind=RESIDUAL))

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> Any:
        return self.oracle(direction)


@pytest.mark.parametrize("method", ["unipdgrad", "frank-wolfe"])
def test_an_accuracy_that_the_last_certificate_shows_is_solved(method: str) -> None:
    oracle: Any = Modest(Simplex(3), 0.3)
    problem = Problem(oracle, np.eye(3), [1.0, 1.2, 1.0], LeastSquares())
    result = solve(problem, method, accuracy=0.1, stop=MaxIterations(30))
    assert float(result.history["gap"][-1]) > 0.1
    assert abs(result.gap) <= 0.1
    assert (result.status, result.bound_kind, result.iterations) == (Status.SOLVED, RIGOROUS, 30)
    stopped = solve(problem, method, accuracy=0.1, callback=lambda info: info.iteration == 30)
    assert stopped.status is Status.SOLVED
    few = solve(problem, method, accuracy=1e-9, stop=MaxIterations(3))
    assert few.status is Status.ITERATION_LIMIT


def test_a_run_that_its_point_does_not_bear_out_keeps_its_limit() -> None:
    """The averages reach the accuracy; of the point the tracker has kept too little."""
    size = 24
    diagonal = np.eye(size * size)[:: size + 1]
    rows = np.concatenate([diagonal[1:] - diagonal[:-1], diagonal.sum(axis=0, keepdims=True)])
    b = np.concatenate([np.zeros(size - 1), [3.0]])
    oracle: Any = Modest(Spectrahedron(size), 1.0)
    problem = Problem(oracle, DenseMatrix(rows, domain=(size, size)), b, LeastSquares())
    for tracker, status in ((LowRankTracker(1, 1), Status.ITERATION_LIMIT), ("atoms", Status.SOLVED)):
        result = solve(problem, "unipdgrad", accuracy=0.1, tracker=tracker, stop=MaxIterations(10))
        assert (result.status, result.bound_kind) == (status, RIGOROUS)


def test_changed_figures_can_only_lower_a_status() -> None:
    figures = {"gap": 2e-3, "infeasibility": 0.0, "accuracy": 1e-3}
    lost = recheck(Result(Status.SOLVED, **figures), Status.STALLED, "moved")
    assert (lost.status, lost.message) == (Status.STALLED, "moved")
    unknown = recheck(Result(Status.SOLVED, infeasibility=0.0, accuracy=1e-3), Status.STOPPED)
    assert unknown.status is Status.STOPPED
    kept = Result(Status.SOLVED, gap=-1e-3, infeasibility=1e-3, accuracy=1e-3)
    assert recheck(kept, Status.STALLED) is kept
    near = replace(Result(Status.SOLVED, objective=5.0, dual_bound=4.5, violation=0.5, **figures), infeasibility=0.1)
    assert recheck(near, Status.STALLED).status is Status.STALLED
    assert recheck(replace(near, atol=0.5), Status.STALLED).status is Status.SOLVED
    limited = Result(Status.TIME_LIMIT, gap=0.0, infeasibility=0.0, accuracy=1e-3)
    assert recheck(limited, Status.STALLED) is limited
    with pytest.raises(ValueError, match="solved only"):
        downgrade(limited, Status.SOLVED)


SOURCE = Path(unipd.__file__).parent
KNOWS_SOLVED = {
    *("status.py", "run/termination.py", "report/certificate_text.py", "cli/runtime.py"),
    *("apps/completion/implicit.py", "apps/learning/clustering.py", "apps/learning/reduced_hulls.py"),
    "apps/sdp/program.py",
    *("apps/sdp/solver.py", "cvxpy.py"),
}
"""The status itself, the decision, and two that put it into words and exit codes; four that claim it for figures
which ``recheck`` then judges; one that asks for it, and one that translates it."""


def find_in_source(matches: Callable[[ast.AST], bool]) -> set[str]:
    """Return the files of the library with a node that matches."""
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    return {name for name, path in files.items() if any(map(matches, ast.walk(ast.parse(path.read_text("utf-8")))))}


def names_in(node: ast.AST) -> set[str]:
    names = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return names | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_solved_is_decided_in_one_file() -> None:
    def is_solved(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "SOLVED" and "Status" in names_in(node.value)

    assert find_in_source(is_solved) == KNOWS_SOLVED


def test_statuses_of_results_are_replaced_in_one_package() -> None:
    def is_replaced(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call) or not names_in(node.func) & {"replace", "fast_replace"}:
            return False
        return any(keyword.arg == "status" for keyword in node.keywords)

    assert find_in_source(is_replaced) == {"run/termination.py", "run/polishing.py"}


def test_relative_errors_alone_end_no_run() -> None:
    def is_decision(node: ast.AST) -> bool:
        return isinstance(node, ast.Compare) and {"relative_error", "accuracy"} <= names_in(node)

    stepping = "apps/sdp/interior_point.py"  # goes on beyond the accuracy, and ends no run
    assert find_in_source(is_decision) == {stepping}  # the rest asks Accuracy, which knows atol
