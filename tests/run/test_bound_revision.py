"""Bounds that are not rigorous and turn out to be false are revised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.protocols import SharpAnswer


class Missing(unipd.sharp.Simplex):
    """A simplex whose answers count as residual ones; the chosen call misses the top entry."""

    def __init__(self, size: int, wrong: tuple[int, ...], honest: bool = True) -> None:
        super().__init__(size)
        self.wrong, self.honest, self.calls = wrong, honest, 0

    @property
    def exact(self) -> bool:
        return False

    def _answer(self, direction: Any, *, misses: bool) -> SharpAnswer:
        y = np.asarray(direction)
        place = int(np.argmin(y)) if misses else int(np.argmax(y))
        atom = unipd.atoms.one_hot(self.shape, place, 1.0)
        return SharpAnswer(atom, float(y[place]), 0.0, 0.0, 1, "residual")

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.calls += 1
        return self._answer(direction, misses=self.calls in self.wrong)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self(direction)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        kind = "rigorous" if self.honest else "residual"
        return replace(self._answer(direction, misses=not self.honest), bound_kind=kind)


def least_squares(wrong: tuple[int, ...], honest: bool = True) -> tuple[unipd.Problem, float]:
    """Return a problem of least squares over the simplex and its optimal value."""
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((6, 9)), 2.0 * rng.standard_normal(6)
    loss = unipd.couplings.LeastSquares()
    exact = unipd.solve(unipd.Problem(unipd.sharp.Simplex(9), A, b, loss), "corrective", accuracy=1e-10)
    return unipd.Problem(Missing(9, wrong, honest), A, b, loss), exact.objective


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "frank-wolfe", "pairwise", "corrective", "auto"])
@pytest.mark.parametrize("wrong", [3, 5, 8])
def test_a_bound_from_one_missed_answer_does_not_stay(method: str, wrong: int) -> None:
    problem, optimum = least_squares((wrong,))
    result = unipd.solve(problem, method, accuracy=1e-6, stop=unipd.MaxIterations(400))
    assert result.dual_bound <= result.objective + 1e-9
    assert result.dual_bound <= optimum + 1e-9
    assert result.history["dual_bound"][-1] <= optimum + 1e-9


def test_stages_forget_the_false_bound_too() -> None:
    problem, optimum = least_squares((4,))
    result = unipd.solve(problem, "accunipdgrad", restart=True, accuracy=1e-6, stop=unipd.MaxIterations(400))
    assert result.dual_bound <= optimum + 1e-9


def test_iterating_by_hand_gives_up_false_bounds() -> None:
    problem, optimum = least_squares((3,))
    states = list(zip(range(300), unipd.iterate(problem, "frank-wolfe"), strict=False))
    assert states[-1][1].certificate.dual_bound <= optimum + 1e-9


def test_a_bound_that_stays_false_is_dropped_and_found_anew() -> None:
    problem, optimum = least_squares((3,), honest=False)
    result = unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=unipd.MaxIterations(300))
    assert -np.inf < result.dual_bound <= optimum + 1e-9


def test_the_false_bound_was_there() -> None:
    problem, optimum = least_squares((3,))
    method = unipd.FrankWolfe()
    state = method.start(problem, unipd.trackers.ImageOnly(), np.zeros(6), 1e-3)
    for _ in range(50):
        state = method.step(problem, state)
    assert state.certificate.dual_bound > optimum + 1e-3


def test_the_call_that_retracts_a_bound_is_counted_in_its_own_iteration() -> None:
    problem, _ = least_squares((3,))
    result = unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=unipd.MaxIterations(60))
    calls = np.diff(result.history["oracle_calls"])
    assert sorted(calls)[-2:] == [1, 2]
    # at the end one call certifies the bound, and seven compare it with other answers of the user-supplied oracle
    assert result.counts.oracle_calls == result.history["oracle_calls"][-1] + 1 + 7
    assert result.bound_kind == "rigorous"
