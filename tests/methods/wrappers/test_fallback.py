"""Fallback: the first method runs until it stalls, then the second; the better point is returned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import AccUniPDGrad, Corrective, MaxIterations, Restarts, Status, sharp
from unipd.methods.wrappers import PATIENCE, Fallback


def _program() -> unipd.Problem:
    random = np.random.default_rng(0)
    A = random.standard_normal((6, 25))
    oracle = sharp.Linear(random.standard_normal(25), sharp.Simplex(25))
    return unipd.Problem(oracle, A, A @ random.dirichlet(np.ones(25)), "=")


@dataclass(frozen=True)
class Lazy(Corrective):
    """A method that stops moving after its third step, or fails there."""

    fails: bool = False

    def step(self, problem: unipd.Problem, state: Any) -> Any:
        """Do nothing from the fourth step on."""
        if state.iteration < 3:
            return super().step(problem, state)
        return replace(state, iteration=state.iteration + 1, failure=Status.STALLED if self.fails else None)


def test_without_trouble_the_run_is_the_first_methods() -> None:
    problem = _program()
    alone = unipd.solve(problem, Corrective(), accuracy=1e-8)
    both = unipd.solve(problem, "auto", accuracy=1e-8)
    assert both.counts == alone.counts
    np.testing.assert_array_equal(both.x, alone.x)
    assert both.settings["fallback"] == "accunipdgrad"


@pytest.mark.parametrize("fails", [True, False])
def test_the_other_method_goes_on(fails: bool) -> None:
    problem = _program()
    result = unipd.solve(problem, Fallback(Lazy(fails=fails), Corrective()), accuracy=1e-8)
    assert result.status is Status.SOLVED
    assert (result.iterations < 60) if fails else (PATIENCE < result.iterations < PATIENCE + 60)
    assert result.state.turn == 1


def test_both_unable_to_go_on_is_a_failure() -> None:
    result = unipd.solve(_program(), Fallback(Lazy(fails=True), Lazy(fails=True)), accuracy=1e-8)
    assert result.status is Status.STALLED
    assert result.dual_bound <= unipd.solve(_program(), accuracy=1e-9).objective + 1e-8


def test_turns_lose_neither_bound_nor_point() -> None:
    problem = _program()
    method = Fallback(Lazy(), Restarts(AccUniPDGrad(), continuation=False))
    history = unipd.solve(problem, method, accuracy=1e-10, stop=MaxIterations(900)).history
    bounds = np.asarray(history["dual_bound"])
    assert (np.diff(bounds) >= 0).all()
    assert (np.diff(np.asarray(history["oracle_calls"])) >= 0).all()


def test_a_run_in_turns_resumes_bit_for_bit(tmp_path: Any) -> None:
    problem = _program()
    method = Fallback(Restarts(AccUniPDGrad(), continuation=False), Corrective())
    whole = unipd.solve(problem, method, accuracy=1e-12, stop=MaxIterations(PATIENCE + 40))
    path = tmp_path / "run.h5"
    for limit in (PATIENCE - 20, PATIENCE + 40):
        part = unipd.solve(
            problem, method, accuracy=1e-12, stop=MaxIterations(limit), checkpoint=path, every="10it", resume=True
        )
    assert part.iterations == whole.iterations
    np.testing.assert_array_equal(part.dual, whole.dual)
