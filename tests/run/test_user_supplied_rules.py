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
