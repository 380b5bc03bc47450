"""Signals inside iterations, in set-ups and in final checks: the run ends at once, with what it has."""

from __future__ import annotations

import os
import signal
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.run import Termination, request, stop_on_signals

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


def make_problem(at: Callable[[int], bool], number: int) -> tuple[unipd.Problem, list[int]]:
    """Return a problem whose oracle sends a signal in some of its calls, and the calls that it completed."""
    A = np.random.default_rng(0).standard_normal((4, 6))
    calls: list[int] = []

    def answer(direction: np.ndarray) -> np.ndarray:
        if at(len(calls)):
            os.kill(os.getpid(), number)
            sum(range(1000))  # handlers run between two instructions
        calls.append(1)
        return np.eye(6)[np.argmax(direction)]

    return unipd.Problem(unipd.sharp.from_callable(answer, 6), A, A @ np.full(6, 1 / 6), "="), calls


def solve(problem: unipd.Problem, limit: int = 1000) -> unipd.Result:
    return unipd.solve(problem, "unipdgrad", accuracy=1e-12, stop=unipd.MaxIterations(limit))


@SIGNALS
def test_an_iteration_is_not_completed(number: int) -> None:
    problem, calls = make_problem(lambda count: count == 100, number)
    with stop_on_signals():
        result = solve(problem)
        assert request.pending
    assert result.status is unipd.Status.INTERRUPTED
    assert result.iterations >= 1
    assert len(calls) == 100


@SIGNALS
def test_a_set_up_is_not_completed(number: int) -> None:
    problem, calls = make_problem(lambda count: count == 0, number)
    with stop_on_signals(), pytest.raises(KeyboardInterrupt):
        solve(problem)
    assert calls == []


@SIGNALS
def test_a_later_run_completes_its_first_iteration_for_the_sake_of_the_earlier_one(number: int) -> None:
    earlier, _ = make_problem(lambda count: False, number)
    later, _ = make_problem(lambda count: count == 0, number)
    with stop_on_signals():
        assert solve(earlier, 3).status is unipd.Status.ITERATION_LIMIT
        result = solve(later)
    assert (result.status, result.iterations) == (unipd.Status.INTERRUPTED, 1)


@SIGNALS
@pytest.mark.parametrize("name", ["_certify_final", "decide"])
def test_a_check_is_not_completed(number: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: object) -> None:
        os.kill(os.getpid(), number)
        sum(range(1000))
        pytest.fail("the check goes on")

    problem, _ = make_problem(lambda count: False, number)
    monkeypatch.setattr(Termination, name, check)
    with stop_on_signals():
        result = solve(problem, 3)
    assert result.status is unipd.Status.INTERRUPTED
    assert result.x.shape == (6,)


@SIGNALS
def test_after_a_run_signals_interrupt_nothing(number: int) -> None:
    problem, _ = make_problem(lambda count: False, number)
    with stop_on_signals():
        solve(problem, 3)
        os.kill(os.getpid(), number)
        sum(range(1000))
        assert request.pending


@pytest.mark.parametrize("is_callback", [False, True])
def test_a_signal_inside_the_compiler_is_handled_after_it(is_callback: bool) -> None:
    """An exception inside llvmlite would leave its objects half made, and be lost in a callback from LLVM."""
    reached: list[str] = []

    def send() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("end of llvmlite's work")

    namespace = {"__name__": "llvmlite.binding.ffi"}
    exec("def construct(work):\n    work()", namespace)
    inside: Any = namespace["construct"]
    work = types.FunctionType(send.__code__, {**globals(), **namespace}, closure=send.__closure__)

    def compile_kernel() -> None:
        inside(send if is_callback else work)
        for _ in range(1000):
            time.sleep(0.01)

    with stop_on_signals(), pytest.raises(KeyboardInterrupt):
        compile_kernel()
    assert reached == ["end of llvmlite's work"]


def test_an_interrupt_that_a_destructor_loses_comes_again() -> None:
    class Interrupts:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))

    def work() -> None:
        Interrupts()
        for _ in range(1000):
            time.sleep(0.01)

    with stop_on_signals(), pytest.raises(KeyboardInterrupt):
        work()
