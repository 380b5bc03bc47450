"""Faults during a run: the incumbent is not lost, and a repaired run resumes from its checkpoint bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.oracles import Wrapped, answer_at
from support.runs import constrained_problem, same_run, spectral_problem, vector_problem
from unipd import MaxIterations, Problem, Status, solve
from unipd._util.threads import run_chunks, run_on_threads
from unipd.atoms import LowRank
from unipd.errors import OracleError
from unipd.maps import DenseMatrix
from unipd.methods import Factored
from unipd.run import Result
from unipd.sharp import Product, Simplex, Spectrahedron
from unipd.spectral import Engine

ITERATIONS = 8


def _raises(answer: Any) -> Any:
    raise ConnectionError("the oracle's server is gone")


def _spoilt(answer: Any, factor: float) -> Any:
    atom = answer.atom
    if isinstance(atom, LowRank):
        return LowRank(factor * atom.left, factor * atom.right, atom.weights)
    return factor * atom.dense() if hasattr(atom, "dense") else factor * atom


FAULTS: dict[str, Callable[[Any], Any]] = {
    "raises": _raises,
    "NaN": lambda answer: replace(answer, atom=_spoilt(answer, math.nan), value=math.nan, objective=math.nan),
    "infinite": lambda answer: replace(answer, value=math.inf, objective=-math.inf),
    "wrong shape": lambda answer: replace(answer, atom=np.ones(3), value=math.nan),
}
RUNS: dict[str, tuple[Callable[[], Problem], Any]] = {
    **{method: (vector_problem, method) for method in ("frank-wolfe", "away-step", "pairwise", "corrective")},
    **{method: (constrained_problem, method) for method in ("unipdgrad", "accunipdgrad")},
    "factored": (spectral_problem, Factored(inner_steps=1, rank=1)),
}


def wrap_oracle(name: str, change: Callable[..., Any]) -> Problem:
    problem = RUNS[name][0]()
    if name == "factored":
        return Problem(_Matrices(problem.sharp, change), problem.map, problem.b, problem.coupling)
    return Problem(Wrapped(problem.sharp, change), problem.map, problem.b, problem.coupling)


class _Matrices(Spectrahedron):
    """A spectrahedron whose answers pass through ``change``; a set that the factored method knows."""

    def __init__(self, oracle: Any, change: Callable[..., Any]) -> None:
        super().__init__(oracle.shape[0])
        self.change, self.calls = change, 0

    def __call__(self, direction: Any, **named: Any) -> Any:
        self.calls += 1
        return self.change(self.calls, super().__call__(direction, **named), direction)


def run(problem: Problem, name: str, **settings: Any) -> Result:
    stop = MaxIterations(ITERATIONS)
    return solve(problem, RUNS[name][1], accuracy=1e-13, stop=stop, **settings)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_error_has_what_was_reached_and_the_checkpoint_goes_on(name: str, fault: str, tmp_path: Path) -> None:
    whole = run(wrap_oracle(name, lambda call, answer, direction: answer), name)
    fail_at = max(3, int(whole.history["oracle_calls"][-1]) - 1)  # before the final check
    path = tmp_path / "run.ckpt"
    with pytest.raises(OracleError) as caught:
        run(wrap_oracle(name, answer_at(fail_at, FAULTS[fault])), name, checkpoint=path)
    reached = caught.value.result
    assert isinstance(reached, Result)
    assert reached.status is Status.STOPPED
    assert 1 <= reached.iterations < ITERATIONS
    assert np.isfinite(reached.image).all()
    seen = whole.history["objective"][: reached.iterations]
    assert np.isclose(seen, reached.objective, rtol=1e-6).any()  # the best point so far
    if fault == "raises":
        assert isinstance(caught.value.__cause__, ConnectionError)
    repaired = run(wrap_oracle(name, lambda call, answer, direction: answer), name, checkpoint=path, resume=True)
    same_run(repaired, whole)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_before_the_first_iteration_has_no_result(fault: str) -> None:
    with pytest.raises(OracleError) as caught:
        run(wrap_oracle("unipdgrad", answer_at(1, FAULTS[fault])), "unipdgrad")
    assert caught.value.result is None


def hard_spectrum(engine: Engine) -> Problem:
    """A problem of order 80 with clustered eigenvalues, beyond what dense solvers are used for."""
    rng = np.random.default_rng(0)
    base = spectral_problem()
    rows = np.stack([np.diag(1.0 + 1e-3 * rng.random(80)).reshape(-1) for _ in range(6)])
    made = DenseMatrix(rows, domain=(80, 80))
    return Problem(Spectrahedron(80, engine=engine), made, np.ones(6), base.coupling)


@pytest.mark.parametrize("method", ["accunipdgrad", "frank-wolfe", "factored"])
def test_an_eigensolver_that_does_not_converge_proves_nothing_false(method: str) -> None:
    """With one product a call the eigenpairs are poor; the bound stays below the optimal value."""
    good = solve(hard_spectrum(Engine()), "factored", accuracy=1e-9)
    poor = Engine(solver="lanczos", max_products=1, array_limit=0, operator_limit=0)
    result = solve(hard_spectrum(poor), method, accuracy=1e-9, stop=MaxIterations(30))
    if result.bound_kind == "rigorous" or result.status is Status.SOLVED:
        assert result.dual_bound <= good.objective + 1e-9
    assert result.objective >= good.dual_bound - 1e-9


def test_a_worker_thread_that_dies_is_an_error_not_a_hang() -> None:
    class Dies(Wrapped):
        def __call__(self, direction: Any, **named: Any) -> Any:
            raise MemoryError("a worker died")

    oracle = Product([Simplex(3), Dies(Simplex(3), lambda *rest: rest[1])], threads=2)
    problem = Problem(oracle, [np.eye(3), np.eye(3)], np.ones(3), vector_problem().coupling)
    with pytest.raises((OracleError, MemoryError), match="a worker died"):
        solve(problem, "frank-wolfe")


def test_a_kernel_thread_that_dies_is_an_error_not_a_hang() -> None:
    def dies(chunk: int) -> None:
        raise MemoryError(f"chunk {chunk}")

    with pytest.raises(MemoryError, match="chunk"):
        run_chunks(dies, 8, threads=2)
    done: list[int] = []
    run_on_threads(lambda: done.append(1), 2)  # the helpers still work
    assert done
