"""Every wrapper around every method: runs resume bit for bit, and infeasible problems are recognised.

Methods, wrappers and states are found by registry: a new one without a case here fails.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from support.runs import badly_scaled, product_problem, same_run, spectral_problem, vector_problem
from unipd import AccUniPDGrad, Corrective, MaxIterations, Problem, Status, UniPDGrad, sharp
from unipd.apps.completion import StagedState
from unipd.apps.sdp import SDP, InteriorPointState
from unipd.apps.tomography import Projected
from unipd.errors import InvalidInput
from unipd.maps import DenseMatrix, sdp
from unipd.methods import METHODS, State, common_fields, fast_replace, method_options
from unipd.methods.wrappers import Fallback, Rescaling, Restarts, Wrapper, WrapperState

ALL_METHODS: dict[str, Callable[[], Any]] = {**METHODS, "projected": Projected}
LENGTH = 8


def _is_universal(method: Any) -> bool:
    return isinstance(method, (UniPDGrad, AccUniPDGrad))


WRAPPERS: dict[str, Callable[[Any, int], Any]] = {
    "plain": lambda method, patience: method,
    "rescaling": lambda method, patience: Rescaling(method),
    "fallback": lambda method, patience: Fallback(method, Corrective(), patience),
    "fallback to it": lambda method, patience: Fallback(Corrective(), method, patience),
    "restarts": lambda method, patience: Restarts(method) if _is_universal(method) else None,
    "rescaling of a fallback": lambda method, patience: Rescaling(Fallback(method, Corrective(), patience)),
    "rescaling of restarts": lambda method, patience: (
        Rescaling(Restarts(method, False)) if _is_universal(method) else None
    ),
}


def _wrap(wrapper: str, name: str, patience: int = 2) -> Any:
    """Return the method in a wrapper, None where that does not take it; fallbacks switch after two iterations."""
    return WRAPPERS[wrapper](ALL_METHODS[name](), patience)


def _maxcut(units: Any = 1.0) -> Problem:
    """The relaxation of MaxCut, whose diagonal the factored method fixes by construction."""
    size = 6
    weights = np.triu(np.random.default_rng(8).random((size, size)), 1)
    weights += weights.T
    factors = units * np.ones(size)
    entries = sdp.Entries(np.arange(size), np.arange(size), np.arange(size), factors)
    oracle = sharp.Linear(0.25 * (weights - np.diag(weights.sum(0))), sharp.Spectrahedron(size, float(size)))
    return Problem(oracle, sdp.SdpMap((size, size), entries, size), factors, "=")


def _program(shift: float = 0.0) -> Problem:
    """A constrained matrix with one row in other units; infeasible with a shift of b."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((4, 5, 5))
    rows = (rows + rows.transpose(0, 2, 1)).reshape(4, -1)
    half = rng.standard_normal((5, 3))
    cost = np.diag(rng.standard_normal(5))
    b = rows @ (half @ half.T / np.sum(half**2)).reshape(-1) + shift
    units = np.array([1e3, 1.0, 1.0, 1.0])
    made = DenseMatrix(units[:, None] * rows, domain=(5, 5))
    return Problem(sharp.Linear(cost, sharp.Spectrahedron(5)), made, units * b, "=")


def _blocks(shift: float = 0.0) -> Problem:
    """Constraints on two blocks, one row in other units; infeasible with a shift of b."""
    rng = np.random.default_rng(5)
    units = np.array([1e3, 1.0, 1.0])
    maps = [units[:, None] * rng.standard_normal((3, size)) for size in (4, 5)]
    b = maps[0] @ np.full(4, 0.1) + maps[1] @ np.full(5, 0.2) + shift * units
    return Problem([sharp.L2Ball(4), sharp.Simplex(5)], maps, b, "=")


def _matrix_blocks(shift: float = 0.0) -> Problem:
    """Constraints on a matrix and a vector, one row in other units; infeasible with a shift of b."""
    rng = np.random.default_rng(9)
    units = np.array([1e3, 1.0, 1.0, 1.0])
    maps = [units[:, None] * rng.standard_normal((4, size)) for size in (12, 3)]
    b = 0.1 * maps[0].sum(1) + shift * units
    parts = [sharp.NuclearBall((3, 4), 2.0), sharp.L2Ball(3)]
    return Problem(parts, [DenseMatrix(maps[0], domain=(3, 4)), maps[1]], b, "=")


def _small_sdp() -> Problem:
    """The template of a small semidefinite program."""
    rng = np.random.default_rng(2)
    cost, row = (matrix + matrix.T for matrix in rng.standard_normal((2, 4, 4)))
    return SDP.from_matrices(cost, [np.eye(4), row], [1.0, float(np.trace(row)) / 4]).problem()


def _least_norm() -> Problem:
    rows, columns = np.nonzero(np.random.default_rng(1).random((6, 5)) < 0.6)
    entries = unipd.maps.Sampling(rows, columns, (6, 5))
    return Problem(sharp.NuclearNormSquared((6, 5)), entries, np.sin(1.0 + np.arange(rows.size)), "=")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "vector, loss": vector_problem,
    "vector, constraints": badly_scaled,
    "matrix, loss": spectral_problem,
    "matrix, constraints": _program,
    "matrix, fixed diagonal": _maxcut,
    "matrix, fixed diagonal in other units": lambda: _maxcut(10.0 ** np.arange(6)),
    "matrix, template": _small_sdp,
    "matrix, least norm": _least_norm,
    "product, loss": product_problem,
    "product, constraints": _blocks,
    "product, matrix and vector": _matrix_blocks,
}
INFEASIBLE: dict[str, Callable[[], Problem]] = {
    "vector": lambda: Problem(
        sharp.Linear(np.arange(6.0), sharp.Simplex(6)),
        np.array([1e3, 1.0, 1.0])[:, None] * np.random.default_rng(3).standard_normal((3, 6)),
        np.array([1e4, 10.0, 10.0]),
        "=",
    ),
    "matrix": lambda: _program(10.0),
    "product": lambda: _blocks(30.0),
    "matrix and vector": lambda: _matrix_blocks(30.0),
}


def _applies(method: Any, problem: Problem) -> bool:
    """Whether a method can be started on a problem."""
    try:
        method.start(problem, unipd.trackers.Dense(), np.zeros(problem.dual_shape, problem.dtype), 1e-9)
    except (InvalidInput, AttributeError):
        return False
    return True


@functools.cache
def _combinations(problems: str) -> list[tuple[str, str, str]]:
    """Return the names of wrapper, method and problem of everything that can be run."""
    makers = PROBLEMS if problems == "feasible" else INFEASIBLE
    found: list[tuple[str, str, str]] = []
    for name, problem in itertools.product(ALL_METHODS, makers):
        if _applies(ALL_METHODS[name](), makers[problem]()):
            found += [(wrapper, name, problem) for wrapper in WRAPPERS if _wrap(wrapper, name)]
    return found


def _states(problem: Problem, method: Any, count: int = LENGTH) -> list[State]:
    states = unipd.iterate(problem, method, accuracy=1e-11)
    return list(itertools.islice(states, count))


def _resume(make: Callable[[], Problem], method: Any, path: Path) -> None:
    """Assert that a run stopped twice is, bit for bit, the uninterrupted one."""
    whole = unipd.solve(make(), method, accuracy=1e-11, stop=MaxIterations(LENGTH))
    settings: dict[str, Any] = {"accuracy": 1e-11, "checkpoint": path, "resume": True}
    for limit in (1, 5, LENGTH):
        last = unipd.solve(make(), method, stop=MaxIterations(limit), **settings)
    same_run(last, whole)


@pytest.mark.parametrize(("wrapper", "name", "problem"), _combinations("feasible"))
def test_a_resumed_run_is_the_uninterrupted_one(
    wrapper: str, name: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    _resume(PROBLEMS[problem], _wrap(wrapper, name), tmp_path / "run.ckpt")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_resumed_run_of_the_default_method_is_the_uninterrupted_one(problem: str, tmp_path: Path) -> None:
    _resume(PROBLEMS[problem], "auto", tmp_path / "run.ckpt")


@pytest.mark.parametrize(("wrapper", "name", "problem"), _combinations("infeasible"))
def test_an_infeasible_problem_is_recognised(wrapper: str, name: str, problem: str) -> None:
    method = _wrap(wrapper, name, patience=300)
    result = unipd.solve(INFEASIBLE[problem](), method, accuracy=1e-6, stop=MaxIterations(64))
    assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize("problem", INFEASIBLE)
def test_an_infeasible_problem_is_recognised_by_the_default_method(problem: str) -> None:
    assert unipd.solve(INFEASIBLE[problem](), stop=MaxIterations(64)).status is Status.INFEASIBLE


@pytest.mark.parametrize(("wrapper", "name", "problem"), _combinations("feasible"))
def test_a_bound_is_lowered_at_every_depth(wrapper: str, name: str, problem: str) -> None:
    made = PROBLEMS[problem]()
    state = _states(made, _wrap(wrapper, name), 4)[-1]
    low = state.certificate.dual_bound - 1.0
    capped = state.cap_bound(low, "residual")
    assert type(capped) is type(state)
    assert capped.certificate.dual_bound <= low
    assert capped.unwrap().certificate.dual_bound <= low
    assert type(capped.unwrap()) is type(state.unwrap())


@dataclass(frozen=True)
class Periodic(Wrapper):
    """A user-supplied wrapper that restarts the inner method every ``period`` iterations, and counts a trial each."""

    period: int

    def start(self, problem: Problem, tracker: Any, dual: Any, accuracy: float) -> WrapperState:
        inner = self.inner.start(problem, tracker, dual, accuracy)
        return WrapperState(**common_fields(inner), inner=inner)

    def step(self, problem: Problem, state: WrapperState) -> WrapperState:
        inner = self.inner.step(problem, state.inner_state())
        own: dict[str, Any] = {"iteration": state.iteration + 1, "counts": inner.counts.plus(trials=1)}
        now = WrapperState(**{**common_fields(inner), **own}, inner=inner)
        return now.clear_history(state.certificate.dual) if now.iteration % self.period == 0 else now


ONCE = [(*pair, problem) for pair, problem in {case[:2]: case[2] for case in _combinations("feasible")}.items()]
"""Every method in every wrapper, with one problem each."""


@pytest.mark.parametrize(("wrapper", "name", "problem"), ONCE)
def test_a_user_supplied_wrapper_counts_all_work_and_records_its_options(wrapper: str, name: str, problem: str) -> None:
    method, made = _wrap(wrapper, name), PROBLEMS[problem]()
    plain = unipd.solve(made, method, accuracy=1e-11, stop=MaxIterations(LENGTH))
    inside = unipd.solve(made, Periodic(method, LENGTH + 1), accuracy=1e-11, stop=MaxIterations(LENGTH))
    assert inside.counts == plain.counts.plus(trials=inside.iterations)
    assert (inside.objective, inside.dual_bound, inside.gap) == (plain.objective, plain.dual_bound, plain.gap)
    assert Periodic(method, 3).options == {**method_options(method), "period": 3}


@pytest.mark.parametrize(("wrapper", "name", "problem"), ONCE)
def test_every_state_can_clear_its_history(wrapper: str, name: str, problem: str) -> None:
    method, made = Periodic(_wrap(wrapper, name), 3), PROBLEMS[problem]()
    states = _states(made, method)
    assert [state.iteration for state in states] == list(range(1, len(states) + 1))
    assert all(isinstance(state, WrapperState) for state in states)
    assert not any(state.failure for state in states[:3])


@pytest.mark.parametrize("name", ["unipdgrad", "accunipdgrad"])
def test_a_universal_method_continues_from_the_dual_vector_at_which_its_history_is_cleared(name: str) -> None:
    made, method = vector_problem(), METHODS[name]()
    state = _states(made, method, 3)[-1]
    dual = 0.5 * state.dual
    fresh = method.step(made, state.clear_history(dual))
    again = method.step(made, fast_replace(state.clear_history(dual), smoothness=1e12 * state.smoothness))
    assert fresh.iteration == 1
    np.testing.assert_allclose(again.dual, dual, rtol=1e-6, atol=1e-9)
    assert fresh.counts.oracle_calls == state.counts.oracle_calls + fresh.counts.trials - state.counts.trials + 1


def _all_subclasses(kind: type) -> set[type]:
    """Return the library's own subclasses of a class, all modules loaded."""
    for module in pkgutil.walk_packages(unipd.__path__, "unipd."):
        if module.name.startswith(("unipd.methods", "unipd.apps")):
            importlib.import_module(module.name)
    below = {kind} | {inner for one in kind.__subclasses__() for inner in _all_subclasses_loaded(one)}
    return {one for one in below if one.__module__.startswith("unipd.")}


def _all_subclasses_loaded(kind: type) -> set[type]:
    return {kind} | {inner for one in kind.__subclasses__() for inner in _all_subclasses_loaded(one)}


def test_every_state_and_every_wrapper_has_a_case() -> None:
    seen = set[type]()
    once = {(wrapper, name): problem for wrapper, name, problem in _combinations("feasible")}
    for (wrapper, name), problem in once.items():
        method = _wrap(wrapper, name)
        seen |= {type(method), *(type(state) for state in _states(PROBLEMS[problem](), method, 1))}
    abstract = {kind for kind in _all_subclasses(State) if kind.__subclasses__()}
    of_applications = {InteriorPointState, StagedState}  # programs and ratings only
    assert _all_subclasses(State) - abstract - of_applications <= seen
    assert _all_subclasses(Wrapper) - {Wrapper} <= seen
