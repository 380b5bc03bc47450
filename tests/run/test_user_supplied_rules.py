"""Invalid user-supplied oracles, constants, trackers and stopping rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.errors import InvalidInput, OracleError

A = np.random.default_rng(3).standard_normal((4, 6))
B = A @ np.full(6, 1 / 6)


@pytest.mark.parametrize("method", ["auto", "accunipdgrad", "unipdgrad"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_forgotten_objective_proves_nothing(method: str, scale: float) -> None:
    problem = unipd.Problem(sharp.from_callable(lambda y: scale * y, 6), A, B, "=")
    with pytest.raises(OracleError, match="does not maximise"):
        unipd.solve(problem, method, accuracy=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"holder": 3},
        {"holder": {1.0: 50.0}},
        {"step_rule": "fixed", "holder": 3},
        {"step_rule": "fixed", "holder": {1.0: -1.0}},
    ],
)
def test_known_constants_are_checked_and_not_ignored(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="holder"):
        unipd.UniPDGrad(**options)


def test_a_class_is_no_tracker() -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, B, "=")
    with pytest.raises(InvalidInput, match="tracker"):
        unipd.solve(problem, "accunipdgrad", tracker=unipd.trackers.AtomList)


def test_a_class_is_no_rule() -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, B, "=")
    with pytest.raises(InvalidInput, match="MaxIterations"):
        unipd.solve(problem, "accunipdgrad", stop=unipd.MaxIterations)


def test_a_user_supplied_rule_may_say_true() -> None:
    class Mine(unipd.run.StoppingRule):
        def __call__(self, info: Any) -> Any:
            return True

    problem = unipd.Problem(sharp.Simplex(6), A, B, "=")
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-12, stop=Mine())
    assert result.status is unipd.Status.STOPPED


def test_a_counter_around_a_matrix_set_keeps_lowrank() -> None:
    oracle = sharp.Counted(sharp.Spectrahedron(3))
    problem = unipd.Problem(oracle, np.eye(9)[::4], np.full(3, 1 / 3), couplings.LeastSquares())
    assert unipd.solve(problem, "accunipdgrad", tracker="lowrank", accuracy=1e-2).x.shape == (3, 3)


def test_a_rule_derived_from_a_limit_is_evaluated_at_every_iteration() -> None:
    seen: list[int] = []

    class Mine(unipd.MaxIterations):
        def __call__(self, info: Any) -> Any:
            seen.append(info.state.iteration)
            return unipd.Status.STOPPED if info.state.iteration == 3 else super().__call__(info)

    problem = unipd.Problem(sharp.Simplex(6), A, 2.0 * B, couplings.LeastSquares())
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-12, stop=Mine(9))
    assert (seen, result.status) == ([1, 2, 3], unipd.Status.STOPPED)


def test_a_function_is_a_rule_and_combines_with_others() -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, 2.0 * B, couplings.LeastSquares())

    def third(info: Any) -> bool:
        return info.iteration == 3

    def run(stop: Any) -> unipd.Result:
        return unipd.solve(problem, "accunipdgrad", accuracy=1e-12, stop=stop)

    assert (run(third).status, run(third).iterations) == (unipd.Status.STOPPED, 3)
    assert run(third | unipd.MaxIterations(2)).status is unipd.Status.ITERATION_LIMIT
    assert run(unipd.MaxIterations(9) | third).iterations == 3
    assert run(unipd.MaxIterations(2) & third).iterations == 3
    assert run(third & unipd.MaxIterations(2)).iterations == 3
    named = run(lambda info: unipd.Status.ORACLE_LIMIT if info.iteration == 4 else None)
    assert (named.status, named.iterations) == (unipd.Status.ORACLE_LIMIT, 4)
    with pytest.raises(InvalidInput, match="stop"):
        run("soon")


def test_a_function_that_claims_the_solution_only_stops() -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, 2.0 * B, couplings.LeastSquares())
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-12, stop=lambda info: unipd.Status.SOLVED)
    assert (result.status, result.iterations) == (unipd.Status.STOPPED, 1)


def test_cpu_time_is_recorded_and_limited() -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, 2.0 * B, couplings.LeastSquares())
    stop = unipd.MaxCpuSeconds(1e-6) | unipd.MaxIterations(50)
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-14, stop=stop)
    assert result.status is unipd.Status.TIME_LIMIT
    assert result.iterations < 50
    free = unipd.solve(problem, "accunipdgrad", accuracy=1e-14, stop=unipd.MaxCpuSeconds(1e6) | unipd.MaxIterations(50))
    assert free.iterations == 50
    times = free.history["cpu_seconds"]
    assert np.all(np.diff(times) >= 0.0)
    assert 0.0 < times[-1] == free.cpu_seconds


def test_cpu_time_adds_up_over_a_resumed_run(tmp_path: Any) -> None:
    problem = unipd.Problem(sharp.Simplex(6), A, 2.0 * B, couplings.LeastSquares())
    settings: dict[str, Any] = {"accuracy": 1e-14, "checkpoint": tmp_path / "run.ckpt", "every": "1it"}
    first = unipd.solve(problem, "accunipdgrad", stop=unipd.MaxIterations(5), **settings)
    second = unipd.solve(problem, "accunipdgrad", stop=unipd.MaxIterations(9), resume=True, **settings)
    np.testing.assert_array_equal(second.history["cpu_seconds"][:5], first.history["cpu_seconds"])
    assert np.all(np.diff(second.history["cpu_seconds"]) >= 0.0)
