"""An interrupted and resumed run equals the uninterrupted one, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from support.runs import bits, cases, constrained_problem, same_run, vector_problem
from unipd import MaxIterations, MaxOracleCalls, Status, compare, iterate, solve
from unipd.atoms import LowRank
from unipd.errors import FileFormatError
from unipd.methods import as_method
from unipd.run import COLUMNS, IterationInfo, StoppingRule
from unipd.run.checkpoint import Snapshot, decode_record, encode_snapshot, read_checkpoint, write_checkpoint

CASES = cases()
LENGTH = 12


@pytest.mark.parametrize("name", CASES)
def test_states_of_every_method_and_tracker_come_back_bit_for_bit(name: str) -> None:
    make, method, tracker = CASES[name]
    problem = make()
    chosen = as_method(method, problem)
    for state, _ in zip(iterate(problem, chosen, accuracy=1e-9, tracker=tracker), range(5), strict=False):
        record = encode_snapshot(Snapshot(state, np.zeros((0, len(COLUMNS))), 1.5, {}), problem, {})
        back = decode_record(record, problem, chosen)
        assert type(back.state) is type(state)
        assert bits(problem, back.state) == bits(problem, state)


@pytest.mark.parametrize("name", CASES)
def test_a_resumed_run_is_the_run_that_was_not_broken_off(name: str, tmp_path: Path) -> None:
    make, method, tracker = CASES[name]
    settings: dict[str, Any] = {"accuracy": 1e-9, "tracker": tracker}
    whole = solve(make(), method, stop=MaxIterations(LENGTH), **settings)
    path = tmp_path / "run.ckpt"
    for limit in (1, 4, LENGTH):
        last = solve(make(), method, stop=MaxIterations(limit), checkpoint=path, resume=True, **settings)
    same_run(last, whole)


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
    """A rule with memory: stops after the given number of calls."""

    def __init__(self, limit: int) -> None:
        self.limit, self.seen = limit, 0

    def __call__(self, info: IterationInfo) -> Status | None:
        self.seen += 1
        return Status.STOPPED if self.seen >= self.limit else None

    def memory(self) -> Any:
        return self.seen

    def recall(self, memory: Any) -> None:
        self.seen = memory


def test_rules_with_memory_go_on_counting(tmp_path: Path) -> None:
    path, problem = tmp_path / "run.ckpt", constrained_problem()
    with pytest.raises(KeyError):
        solve(
            problem,
            "unipdgrad",
            accuracy=1e-9,
            stop=EverySecond(9),
            callback=_interrupt_and_resume,
            checkpoint=path,
            every="1it",
        )
    result = solve(problem, "unipdgrad", accuracy=1e-9, stop=EverySecond(9), checkpoint=path, resume=True)
    assert result.iterations == 9


def _interrupt_and_resume(info: IterationInfo) -> None:
    if info.iteration == 5:
        raise KeyError("a user-supplied callback")


def test_a_comparison_has_one_checkpoint(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"accuracy": 1e-9, "stop": MaxIterations(5)}
    plain = compare(vector_problem(), ["frank-wolfe", "pairwise"], **settings)
    for _ in range(2):
        kept = compare(
            vector_problem(), ["frank-wolfe", "pairwise"], **settings, checkpoint=tmp_path / "a", resume=True
        )
        for name, result in plain.items():
            same_run(kept[name], result)


def test_a_status_that_is_none_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(2), accuracy=1e-9, checkpoint=path)
    header, arrays = read_checkpoint(path)
    header["runs"][0]["status"] = [1]
    write_checkpoint(path, header, arrays)
    with pytest.raises(FileFormatError, match="status"):
        unipd.solve(problem, "unipdgrad", accuracy=1e-9, checkpoint=path, resume=True)


@pytest.mark.parametrize("method", ["auto", "unipdgrad", "accunipdgrad", "frank-wolfe", "corrective"])
def test_a_bound_at_the_origin_is_accepted_however_large_the_matrices(method: str, tmp_path: Path) -> None:
    """It rests on no eigenvalue, and is rigorous where others of 11 qubits are probabilistic."""
    rng = np.random.default_rng(1)
    strings = unipd.maps.PauliMap(11, rng.integers(0, 1 << 11, 40), rng.integers(0, 1 << 11, 40), "double", 1)
    state = rng.standard_normal((1 << 11, 1)) / np.sqrt(1 << 11)
    values = strings.image(LowRank(state, state, np.ones(1)))
    problem = unipd.Problem(unipd.sharp.Spectrahedron(1 << 11), strings, values, unipd.couplings.LeastSquares())
    path = tmp_path / "run.ckpt"
    first = solve(problem, method, accuracy=1e-9, stop=MaxIterations(1), checkpoint=path)
    assert first.bound_kind == "rigorous"
    assert first.dual_bound == 0.0
    solve(problem, method, accuracy=1e-9, stop=MaxIterations(2), checkpoint=path, resume=True)
