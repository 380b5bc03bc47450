"""Infeasibility and success are reported only with a certificate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.oracles import EuclideanPower, Wrapped
from unipd import MaxIterations, MaxSeconds, Problem, Status, solve
from unipd.atoms import inner_product
from unipd.couplings import AtMost, L2Ball, LeastSquares
from unipd.maps import DenseMatrix, Sampling
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
    reached = abs(result.gap) <= 1e-2  # as the last certificate shows, which the run itself did not have
    assert (result.status, result.bound_kind) == (Status.SOLVED if reached else Status.ITERATION_LIMIT, RIGOROUS)
    assert result.iterations == 200
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
