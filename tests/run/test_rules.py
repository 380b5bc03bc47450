"""Automatic endings: stalls, inconsistencies, time limits inside an iteration; and what observers see."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.oracles import Wrapped
from support.runs import constrained_problem, spectral_problem, vector_problem
from unipd import MaxIterations, MaxOracleCalls, MaxSeconds, Problem, Status, solve
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput, OracleError
from unipd.maps import DenseMatrix
from unipd.run import IterationInfo
from unipd.sharp import Counted, Simplex, Spectrahedron
from unipd.spectral import Engine


@pytest.mark.parametrize("rule", [MaxIterations, MaxOracleCalls])
@pytest.mark.parametrize("limit", [0, -1, 1.5])
def test_limits_below_one_are_refused(rule: Any, limit: Any) -> None:
    with pytest.raises(InvalidInput):
        rule(limit)


def test_iteration_info_has_the_headline_figures() -> None:
    seen: list[IterationInfo] = []
    result = solve(constrained_problem(), "unipdgrad", stop=MaxIterations(3), callback=seen.append)
    last = seen[-1]
    assert last.iteration == result.iterations == 3
    assert last.dual_bound == result.dual_bound
    assert last.objective == pytest.approx(result.objective)
    assert last.gap == pytest.approx(result.gap)
    assert last.infeasibility == pytest.approx(result.infeasibility)
    assert repr(result.history).startswith("History(3 iterations, last: objective ")


@pytest.mark.parametrize(
    ("method", "accuracy"),
    [("pairwise", 1e-9), ("pairwise", 1e-16), ("accunipdgrad", 1e-9), ("frank-wolfe", 1e-9), ("corrective", 1e-9)],
)
def test_a_run_at_the_end_of_its_precision_stalls(method: str, accuracy: float) -> None:
    dtype = np.float32 if accuracy > 1e-12 else np.float64
    result = solve(vector_problem(dtype), method, accuracy=accuracy, stop=MaxIterations(100_000))
    assert result.status in (Status.STALLED, Status.SOLVED, Status.LINE_SEARCH_FAILED)
    assert result.iterations < 50_000


def test_a_slow_run_that_still_improves_does_not_stall() -> None:
    result = solve(constrained_problem(), "unipdgrad", accuracy=1e-6, stop=MaxIterations(4000))
    assert result.status is Status.ITERATION_LIMIT


def test_oracle_calls_of_the_last_check_are_counted() -> None:
    """A residual certificate is certified again before the run ends; that call counts too."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((6, 90 * 90))
    rows = 0.5 * (rows + rows.reshape(6, 90, 90).transpose(0, 2, 1).reshape(6, -1))
    made = DenseMatrix(rows, domain=(90, 90))
    oracle = Counted(Spectrahedron(90, engine=Engine(solver="lanczos")))
    problem = Problem(oracle, made, rows[:, 0], LeastSquares())
    result = solve(problem, "frank-wolfe", accuracy=0.3)
    assert result.counts.oracle_calls == oracle.calls + oracle.value_calls


def test_an_oracle_whose_value_is_too_small_is_detected() -> None:
    """The bound comes out too high by a tenth; every feasible point lies below it."""

    def boast(call: int, answer: Any, direction: Any) -> Any:
        return replace(answer, value=answer.value - 0.1, objective=answer.objective + 0.1)

    problem = Problem(Wrapped(Simplex(3), boast), np.eye(3), [0.2, 0.3, 0.5], LeastSquares())
    with pytest.raises(OracleError, match="is inconsistent"):
        solve(problem, "frank-wolfe", accuracy=1e-4)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "corrective"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_correct_runs_pass_the_consistency_checks(method: str, dtype: Any) -> None:
    """Infeasible points lie below the bound all the time; that is no contradiction."""
    problem = constrained_problem(dtype)
    result = solve(problem, method, accuracy=1e-4, stop=MaxIterations(500))
    assert np.isfinite(result.dual_bound)


class SlowMap:
    """A map whose adjoint becomes slow after a while: an iteration then takes minutes."""

    def __init__(self, plain: Any) -> None:
        self.plain, self.slow = plain, False
        self.domain, self.codomain, self.dtype = plain.domain, plain.codomain, plain.dtype

    def image(self, atom: Any) -> Any:
        return self.plain.image(atom)

    def adjoint(self, dual: Any) -> Any:
        matrix, owner = self.plain.adjoint(dual), self

        class Operator:
            shape, dtype = matrix.shape, matrix.dtype

            def matvec(self, x: Any) -> Any:
                time.sleep(0.05 if owner.slow else 0.0)
                return matrix @ x

            rmatvec = matvec

            def matmat(self, x: Any) -> Any:
                time.sleep(0.05 if owner.slow else 0.0)
                return matrix @ x

        return Operator()


def test_a_time_limit_is_kept_inside_a_long_iteration() -> None:
    plain = spectral_problem()
    made = SlowMap(plain.map)
    engine = Engine(solver="lanczos", operator_limit=0, subspace=4, max_products=100_000)
    problem = Problem(Spectrahedron(5, engine=engine), made, plain.b, LeastSquares())

    def turn_slow(info: IterationInfo) -> None:
        made.slow = info.iteration >= 3

    begun = time.perf_counter()
    result = solve(problem, "factored", accuracy=1e-13, stop=MaxSeconds(0.4), callback=turn_slow)
    assert result.status is Status.TIME_LIMIT
    assert result.iterations >= 3
    assert len(result.history) == result.iterations
    assert time.perf_counter() - begun < 30.0
    assert (MaxSeconds(3) | MaxSeconds(5) & MaxIterations(2)).deadline() == 3
    assert (MaxSeconds(3) & MaxSeconds(5)).deadline() == 5
