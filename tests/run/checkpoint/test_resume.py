"""A run that is broken off and resumed is, bit for bit, the run that was not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.runs import bits, cases, constrained_problem, same_run, vector_problem
from unipd import MaxIterations, MaxOracleCalls, Status, compare, iterate, solve
from unipd.methods import as_method
from unipd.run import Moment, StoppingRule
from unipd.run.checkpoint.file import read_checkpoint, write_checkpoint
from unipd.run.checkpoint.registry import recipe_named
from unipd.run.checkpoint.snapshot import Snapshot, put_together, taken_apart

CASES = cases()
LENGTH = 12


@pytest.mark.parametrize("name", CASES)
def test_states_of_every_method_and_tracker_come_back_bit_for_bit(name: str) -> None:
    make, method, tracker = CASES[name]
    problem = make()
    chosen = as_method(method, problem)
    for state, _ in zip(iterate(problem, chosen, accuracy=1e-9, tracker=tracker), range(5), strict=False):
        record = taken_apart(Snapshot(state, np.zeros((0, 13)), 1.5, {}), problem, {})
        back = put_together(record, problem, chosen)
        assert type(back.state) is type(state)
        assert bits(back.state) == bits(state)


@pytest.mark.parametrize("name", CASES)
def test_a_resumed_run_is_the_run_that_was_not_broken_off(name: str, tmp_path: Path) -> None:
    make, method, tracker = CASES[name]
    settings: dict[str, Any] = {"accuracy": 1e-9, "tracker": tracker}
    whole = solve(make(), method, stop=MaxIterations(LENGTH), **settings)
    path = tmp_path / "run.ckpt"
    for limit in (1, 4, LENGTH):
        last = solve(make(), method, stop=MaxIterations(limit), checkpoint=path, resume=True, **settings)
    same_run(last, whole)


def with_linear_alone(value: Any) -> Any:
    """Return a header whose dual points have <lam, b> as a field of their own, as an earlier version wrote them."""
    if isinstance(value, list):
        return [with_linear_alone(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {("linear" if name == "pairings" else name): with_linear_alone(part) for name, part in value.items()}


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_dual_points_of_an_earlier_version_are_read(method: str, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    settings: dict[str, Any] = {"accuracy": 1e-9, "tracker": "dense"}
    solve(constrained_problem(), method, stop=MaxIterations(4), checkpoint=path, **settings)
    header, arrays = read_checkpoint(path)
    assert with_linear_alone(header) != header
    write_checkpoint(path, with_linear_alone(header), arrays)
    result = solve(constrained_problem(), method, stop=MaxIterations(9), checkpoint=path, resume=True, **settings)
    whole = solve(constrained_problem(), method, stop=MaxIterations(9), **settings)
    np.testing.assert_allclose(result.history["objective"], whole.history["objective"], rtol=1e-9)
    np.testing.assert_allclose(result.dual, whole.dual, rtol=1e-9)


def test_another_name_of_a_class_does_not_change_how_it_is_read() -> None:
    """Files may call it by a module from which it has moved."""
    known = recipe_named("unipd.dual.point.DualPoint", 1)
    assert recipe_named("unipd.dual.DualPoint", 1) is known
    assert recipe_named("unipd.dual.point.DualPoint", 1) is known


def test_a_run_that_has_ended_returns_its_result_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    first = solve(vector_problem(), "pairwise", accuracy=1e-6, checkpoint=path)
    assert first.status is Status.SOLVED
    stamp = path.stat().st_mtime_ns
    again = solve(vector_problem(), "pairwise", accuracy=1e-6, checkpoint=path, resume=True)
    same_run(again, first)
    assert path.stat().st_mtime_ns == stamp


def test_a_limit_that_still_holds_ends_the_run_at_once_and_a_higher_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    calls: list[int] = []
    settings: dict[str, Any] = {"accuracy": 1e-9, "checkpoint": path, "resume": True}
    for limit, expected in ((20, Status.ORACLE_LIMIT), (20, Status.ORACLE_LIMIT), (60, Status.ORACLE_LIMIT)):
        result = solve(constrained_problem(), "unipdgrad", stop=MaxOracleCalls(limit), **settings)
        assert result.status is expected
        calls.append(result.counts.oracle_calls)
    assert calls[0] == calls[1] < 60 <= calls[2]


class EverySecond(StoppingRule):
    """A rule with memory: stops at the given number of moments seen."""

    def __init__(self, limit: int) -> None:
        self.limit, self.seen = limit, 0

    def __call__(self, moment: Moment) -> Status | None:
        self.seen += 1
        return Status.STOPPED if self.seen >= self.limit else None

    def memory(self) -> Any:
        return self.seen

    def recall(self, memory: Any) -> None:
        self.seen = memory


def test_rules_with_memory_go_on_counting(tmp_path: Path) -> None:
    path, problem = tmp_path / "run.ckpt", constrained_problem()
    with pytest.raises(KeyError):
        solve(problem, "unipdgrad", accuracy=1e-9, stop=EverySecond(9), callback=_broken, checkpoint=path, every="1it")
    result = solve(problem, "unipdgrad", accuracy=1e-9, stop=EverySecond(9), checkpoint=path, resume=True)
    assert result.iterations == 9


def _broken(moment: Moment) -> None:
    if moment.iteration == 5:
        raise KeyError("a callback of the user's own")


def test_a_comparison_has_one_checkpoint(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"accuracy": 1e-9, "stop": MaxIterations(5)}
    plain = compare(vector_problem(), ["frank-wolfe", "pairwise"], **settings)
    for _ in range(2):
        kept = compare(
            vector_problem(), ["frank-wolfe", "pairwise"], **settings, checkpoint=tmp_path / "a", resume=True
        )
        for name, result in plain.items():
            same_run(kept[name], result)
