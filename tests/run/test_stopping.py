"""Stopping rules alone and combined, callbacks, and interrupts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from support.oracles import Wrapped
from support.references import constrained_reference, loss_reference
from unipd import Accuracy, MaxIterations, MaxOracleCalls, MaxSeconds, Problem, Stall, Status, iterate, solve
from unipd.methods import State
from unipd.run import History, IterationInfo, StoppingRule
from unipd.sharp import Simplex


class At(StoppingRule):
    """Stop from a given iteration on, with a given status."""

    def __init__(self, iteration: int, status: Status) -> None:
        self.iteration, self.status = iteration, status

    def __call__(self, info: IterationInfo) -> Status | None:
        return self.status if info.state.iteration >= self.iteration else None


def slow_problem() -> Problem:
    """A linear program that the universal methods do not finish in a few iterations."""
    return constrained_reference("linear on the simplex", "equality")[0]


def test_limits_end_a_run_with_their_own_status() -> None:
    problem = slow_problem()
    result = solve(problem, "unipdgrad", stop=MaxIterations(7))
    assert (result.status, result.iterations) == (Status.ITERATION_LIMIT, 7)
    result = solve(problem, "unipdgrad", stop=MaxOracleCalls(30))
    assert result.status is Status.ORACLE_LIMIT
    assert 30 <= result.counts.oracle_calls <= 40
    result = solve(problem, "unipdgrad", stop=MaxSeconds(0.0))
    assert (result.status, result.iterations) == (Status.TIME_LIMIT, 1)


def test_either_rule_stops_and_the_first_to_speak_gives_the_status() -> None:
    early, late = At(3, Status.STOPPED), At(8, Status.TIME_LIMIT)
    for rule in (early | late, late | early):
        result = solve(slow_problem(), "unipdgrad", stop=rule)
        assert (result.status, result.iterations) == (Status.STOPPED, 3)
    both_at_once = At(3, Status.TIME_LIMIT) | At(3, Status.STOPPED)
    assert solve(slow_problem(), "unipdgrad", stop=both_at_once).status is Status.TIME_LIMIT


def test_both_rules_must_agree() -> None:
    early, late = At(3, Status.STOPPED), At(8, Status.TIME_LIMIT)
    result = solve(slow_problem(), "unipdgrad", stop=early & late)
    assert (result.status, result.iterations) == (Status.STOPPED, 8)
    result = solve(slow_problem(), "unipdgrad", stop=late & early)
    assert (result.status, result.iterations) == (Status.TIME_LIMIT, 8)


def test_combinations_nest() -> None:
    rule = At(20, Status.STOPPED) | At(3, Status.STALLED) & At(6, Status.TIME_LIMIT)
    result = solve(slow_problem(), "unipdgrad", stop=rule)
    assert (result.status, result.iterations) == (Status.STALLED, 6)


def test_the_accuracy_wins_over_a_limit_reached_at_the_same_time() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    needed = solve(problem, "pairwise", accuracy=1e-4)
    assert needed.status is Status.SOLVED
    again = solve(problem, "pairwise", accuracy=1e-4, stop=MaxIterations(needed.iterations))
    assert again.status is Status.SOLVED
    short = solve(problem, "pairwise", accuracy=1e-4, stop=MaxIterations(needed.iterations - 1))
    assert short.status is Status.ITERATION_LIMIT


def info_with(problem: Problem, gaps: list[float], distances: list[float], state: State) -> IterationInfo:
    """Return what observers see of an iteration whose history has these relative gaps and infeasibilities."""
    history = History()
    scale = problem.scale(0.0)
    for gap, distance in zip(gaps, distances, strict=True):
        certificate = replace(state.certificate, objective=0.0, dual_bound=-gap * scale, infeasibility=distance)
        history.record(problem, replace(state, certificate=certificate), 0.0)
    return IterationInfo(problem, state, 0.0, history)


def test_a_stall_is_no_progress_in_gap_and_feasibility_over_a_window() -> None:
    problem = slow_problem()
    state = next(iterate(problem))
    rule = Stall(window=3)
    flat, falling = [1.0] * 6, [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]
    assert rule(info_with(problem, flat, flat, state)) is Status.STALLED
    assert rule(info_with(problem, falling, flat, state)) is None
    assert rule(info_with(problem, flat, falling, state)) is None
    assert rule(info_with(problem, flat[:3], flat[:3], state)) is None


def test_a_run_that_stalls_is_stopped() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    result = solve(problem, "unipdgrad", eps=1.0, accuracy=1e-12, stop=Stall(window=100))
    assert result.status is Status.STALLED
    assert result.iterations < 10_000


def test_a_callback_sees_every_iteration_and_may_stop() -> None:
    seen: list[tuple[int, int, float]] = []

    def watch(now: IterationInfo) -> bool:
        seen.append((now.state.iteration, len(now.history), now.seconds))
        return now.state.iteration == 4

    result = solve(slow_problem(), "unipdgrad", callback=watch)
    assert (result.status, result.iterations) == (Status.STOPPED, 4)
    assert [item[:2] for item in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert all(earlier[2] <= later[2] for earlier, later in pairwise(seen))


def test_a_callback_that_returns_nothing_does_not_stop() -> None:
    result = solve(slow_problem(), "unipdgrad", callback=lambda now: None, stop=MaxIterations(5))
    assert (result.status, result.iterations) == (Status.ITERATION_LIMIT, 5)


def test_an_error_in_a_callback_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        solve(slow_problem(), "unipdgrad", callback=lambda now: 1 / 0)


def test_an_interrupt_in_a_callback_returns_the_last_point() -> None:
    def interrupt(now: IterationInfo) -> None:
        if now.state.iteration == 5:
            raise KeyboardInterrupt

    result = solve(slow_problem(), "unipdgrad", callback=interrupt)
    assert (result.status, result.iterations) == (Status.INTERRUPTED, 5)
    check_consistent(result)


@pytest.mark.parametrize(("method", "when"), [("unipdgrad", 60), ("accunipdgrad", 60), ("corrective", 9)])
def test_an_interrupt_inside_the_oracle_returns_the_last_whole_iteration(method: str, when: int) -> None:
    def interrupt(call: int, answer: Any, direction: Any) -> Any:
        if call == when:
            raise KeyboardInterrupt
        return answer

    random = np.random.default_rng(0)
    A = random.standard_normal((8, 30))
    problem = Problem(Wrapped(Simplex(30), interrupt), A, A @ random.dirichlet(np.ones(30)), "=")
    result = solve(problem, method, accuracy=1e-4)
    assert result.status is Status.INTERRUPTED
    assert 1 <= result.iterations < when
    check_consistent(result)


def check_consistent(result: Any) -> None:
    problem = result.problem
    assert len(result.history) == result.iterations == result.state.iteration
    np.testing.assert_allclose(problem.map.image(result.x), result.image)
    residual = result.image - problem.b
    assert result.infeasibility == pytest.approx(problem.infeasibility(residual))
    assert result.violation == pytest.approx(problem.coupling.distance(residual))


def test_an_interrupt_before_the_first_iteration_has_no_result_to_return() -> None:
    def interrupt(call: int, answer: Any, direction: Any) -> Any:
        raise KeyboardInterrupt

    problem = Problem(Wrapped(Simplex(3), interrupt), np.eye(3), [0.2, 0.3, 0.5], "=")
    with pytest.raises(KeyboardInterrupt):
        solve(problem)


def test_the_accuracy_rule_needs_both_the_gap_and_feasibility() -> None:
    problem = slow_problem()
    state = next(iterate(problem))
    scale = problem.scale(0.0)

    def verdict(gap: float, distance: float) -> Status | None:
        certificate = replace(state.certificate, objective=0.0, dual_bound=-gap * scale, infeasibility=distance)
        return Accuracy(1e-2)(IterationInfo(problem, replace(state, certificate=certificate), 0.0, History()))

    assert verdict(0.009, 0.009) is Status.STOPPED
    assert verdict(-0.009, 0.009) is Status.STOPPED
    assert verdict(0.011, 0.009) is None
    assert verdict(-0.011, 0.009) is None
    assert verdict(0.009, 0.011) is None
