"""Runs in two threads: the context of one thread never affects the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd._util.context import (
    Communicator,
    bind_process_context,
    current_communicator,
    current_context,
    notify,
    subscribe,
    use_communicator,
)
from unipd.memory import limited_memory, memory_limit
from unipd.run import watch_runs, write_progress_to
from unipd.run.checkpoint import read_checkpoint


def record_work(listener: list[str]) -> Callable[[str, int], None]:
    return lambda work, products: listener.append(work)


def overlap(first: AbstractContextManager[Any], second: AbstractContextManager[Any], inside: Callable[[], Any]) -> Any:
    """Leave the first block, in another thread, while this one is in the second; return what this one sees then."""
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()

    def other() -> None:
        with first:
            entered.set()
            leave.wait(10)
        left.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(10)
    with second:
        leave.set()
        assert left.wait(10)
        seen = inside()
    thread.join()
    return seen


def test_leaving_a_memory_limit_leaves_the_other_threads_limit_in_place() -> None:
    assert overlap(limited_memory(10**12), limited_memory(2 * 10**12), memory_limit) == 2 * 10**12
    assert memory_limit() is None


def test_leaving_a_communicator_leaves_the_other_threads_in_place() -> None:
    mine = Communicator()
    assert overlap(use_communicator(Communicator()), use_communicator(mine), current_communicator) is mine
    assert current_communicator() is not mine


def test_listeners_hear_their_own_thread_only() -> None:
    theirs: list[str] = []
    mine: list[str] = []
    overlap(subscribe(record_work(theirs)), subscribe(record_work(mine)), lambda: notify("eigenvector", 1))
    assert (theirs, mine) == ([], ["eigenvector"])


def test_nested_memory_limits_keep_the_lowest() -> None:
    with limited_memory(10**12), limited_memory(2 * 10**12):
        assert memory_limit() == 10**12


@pytest.mark.parametrize("observe", [watch_runs, write_progress_to])
def test_runs_of_another_thread_are_not_observed(observe: Callable[[Any], AbstractContextManager[Any]]) -> None:
    problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    seen: list[Any] = []

    def run() -> None:
        unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(3), accuracy=1e-9)

    def watch(*_: Any) -> Callable[[Any], None]:
        seen.append(1)
        return seen.append

    with observe(watch):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert not seen
        run()
    assert seen


def test_work_handed_to_a_thread_keeps_communicator_and_memory_limit_and_nothing_else() -> None:
    seen: list[Any] = []
    mine = Communicator()
    with use_communicator(mine), limited_memory(10**12), subscribe(record_work([])):
        work = bind_process_context(lambda _: seen.append(current_context()))
        thread = threading.Thread(target=work, args=(None,))
        thread.start()
        thread.join()
    assert (seen[0].communicator, seen[0].memory_limit, seen[0].listeners) == (mine, 10**12, ())


def solve_observed(seed: int, folder: Path, limit: int, meet: threading.Barrier, out: dict[int, Any]) -> None:
    """Solve with a checkpoint, a limit and observers of this thread's own, in step with the other thread."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((4, 6))
    problem = unipd.Problem(unipd.sharp.Simplex(6), A, A @ np.full(6, 1 / 6), "=")
    seen: list[Any] = []

    def watch(*_: Any) -> Callable[[Any], None]:
        return lambda info: seen.append((info.problem is problem, memory_limit()))

    def wait(info: Any) -> None:
        if info.state.iteration <= 20:
            meet.wait(10)

    with limited_memory(limit), watch_runs(watch):
        result = unipd.solve(
            problem,
            "unipdgrad",
            accuracy=1e-9,
            stop=unipd.MaxIterations(20 + seed),
            checkpoint=folder / f"{seed}.ckpt",
            every="1it",
            callback=wait,
        )
    out[seed] = (result, seen)


def test_two_solves_in_two_threads_do_not_touch_each_other(tmp_path: Path) -> None:
    limits, both, alone = (10**12, 2 * 10**12), dict[int, Any](), dict[int, Any]()
    meet = threading.Barrier(2)
    arguments = [(seed, tmp_path, limit, meet, both) for seed, limit in enumerate(limits)]
    threads = [threading.Thread(target=solve_observed, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (tmp_path / "alone").mkdir()
    for seed, limit in enumerate(limits):
        solve_observed(seed, tmp_path / "alone", limit, threading.Barrier(1), alone)
        result, seen = both[seed]
        assert result.iterations == 20 + seed
        assert np.array_equal(result.x, alone[seed][0].x)
        assert seen == [(True, limit)] * (20 + seed)
        assert read_checkpoint(tmp_path / f"{seed}.ckpt")[0]["runs"]
    assert memory_limit() is None
