"""A checkpoint resumes only the run it was written by, and the message says what differs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unipd
from unipd import Checkpoint, MaxIterations, Problem, sharp, solve
from unipd.couplings import AtMost, Equality, LeastSquares
from unipd.errors import CheckpointMismatch
from unipd.methods.wrappers import Wrapper
from unipd.run.checkpoint import CheckpointWarning, differences
from unipd.run.checkpoint.fingerprint import fingerprint
from unipd.sharp import Counted, from_callable

RNG = np.random.default_rng(0)
A, COST = RNG.standard_normal((4, 6)), RNG.standard_normal(6)
B = A @ RNG.dirichlet(np.ones(6))


def problem(**changed: Any) -> Problem:
    parts = {"oracle": sharp.Linear(COST, sharp.Simplex(6)), "A": A, "b": B, "coupling": Equality(), **changed}
    return Problem(parts["oracle"], parts["A"], parts["b"], parts["coupling"])


def run(path: Path, *, method: Any = "unipdgrad", accuracy: float = 1e-6, iterations: int = 3, **changed: Any) -> Any:
    extra = {name: changed.pop(name) for name in ("tracker", "start") if name in changed}
    stop = MaxIterations(iterations)
    return solve(problem(**changed), method, accuracy=accuracy, stop=stop, checkpoint=path, resume=True, **extra)


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "b": ({"b": B + 1e-15}, "the right-hand side b"),
    "map": ({"A": A + 1e-15}, "the linear map A"),
    "sparse map": ({"A": sp.csr_array(A)}, "the linear map A"),
    "cost": ({"oracle": sharp.Linear(2 * COST, sharp.Simplex(6))}, "the sharp oracle"),
    "set": ({"oracle": sharp.Linear(COST, sharp.L1Ball(6))}, "the sharp oracle"),
    "radius": ({"oracle": sharp.Linear(COST, sharp.Simplex(6, 2.0))}, "the sharp oracle"),
    "coupling": ({"coupling": AtMost()}, "the coupling"),
    "loss": ({"coupling": LeastSquares(2.0)}, "the coupling"),
    "method": ({"method": "accunipdgrad"}, "the method or its settings"),
    "settings": ({"method": unipd.UniPDGrad(weights="greedy")}, "the method or its settings"),
    "accuracy": ({"accuracy": 1e-5}, "the accuracy"),
    "tracker": ({"tracker": "atoms"}, "the tracker"),
    "start": ({"start": np.ones(4)}, "the starting point"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_named_and_the_file_is_left_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    run(path)
    before = path.read_bytes()
    changes, words = CHANGES[name]
    with pytest.raises(CheckpointMismatch, match=r"run\.ckpt: .* another run: .*differ") as caught:
        run(path, **changes)
    assert words in caught.value.differences
    if name not in ("method", "settings"):
        assert caught.value.differences == [words]
    assert path.read_bytes() == before


def test_the_same_data_in_new_objects_are_the_same(tmp_path: Path) -> None:
    run(tmp_path / "run.ckpt")
    copies = {"A": A.copy(), "b": B.copy(), "oracle": sharp.Linear(COST.copy(), sharp.Simplex(6))}
    assert run(tmp_path / "run.ckpt", iterations=5, **copies).iterations == 5


def test_counters_and_values_computed_on_demand_do_not_count() -> None:
    oracle = Counted(sharp.Linear(COST, sharp.Simplex(6)))
    given = Problem(oracle, sp.csc_array(A), B)
    before = fingerprint(given, "x", 1.0, "auto", None)
    solve(given, "unipdgrad", accuracy=1e-2, stop=MaxIterations(5))
    assert oracle.calls > 0
    assert differences(before, fingerprint(given, "x", 1.0, "auto", None)) == []


class Own:
    """A user-supplied oracle with a counter."""

    def __init__(self, target: Any) -> None:
        self.target, self.calls = target, 0

    def __call__(self, direction: Any) -> Any:
        self.calls += 1
        return self.target * np.sign(direction)


def test_user_supplied_code_is_distinguished_by_a_probe(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    run(path, oracle=from_callable(Own(np.ones(6)), 6), coupling=LeastSquares())
    again = run(path, oracle=from_callable(Own(np.ones(6)), 6), coupling=LeastSquares(), iterations=6)
    assert again.iterations == 6
    with pytest.raises(CheckpointMismatch, match="at a test vector") as caught:
        run(path, oracle=from_callable(Own(np.full(6, 1.1)), 6), coupling=LeastSquares())
    assert len(caught.value.differences) == 1


@dataclass(frozen=True)
class Periodic(Wrapper):
    """A user-supplied method with a parameter."""

    period: Any = 40

    def start(self, problem: Problem, tracker: Any, dual: Any, accuracy: float) -> Any:
        return self.inner.start(problem, tracker, dual, accuracy)

    def step(self, problem: Problem, state: Any) -> Any:
        return self.inner.step(problem, state)


def test_parameters_of_a_user_supplied_method_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    run(path, method=Periodic(unipd.UniPDGrad(), 40))
    for other in (Periodic(unipd.UniPDGrad(), 41), Periodic(unipd.UniPDGrad(weights="greedy"), 40)):
        with pytest.raises(CheckpointMismatch) as caught:
            run(path, method=other)
        assert caught.value.differences == ["the method or its settings"]
    assert run(path, method=Periodic(unipd.UniPDGrad(), 40), iterations=5).iterations == 5


@dataclass(frozen=True)
class Timed(Wrapper):
    """A user-supplied method whose parameters are called like the library's counters."""

    seconds: float = 1.0
    calls: int = 3


@pytest.mark.parametrize("changed", [{"seconds": 2.0}, {"calls": 4}])
def test_parameters_called_like_counters_are_compared(changed: dict[str, float]) -> None:
    given = Problem(sharp.Simplex(6), A, B)
    one, other = (fingerprint(given, Timed(unipd.UniPDGrad(), **new), 1e-3, "auto", None) for new in ({}, changed))
    assert differences(one, other) == ["the method or its settings"]


def test_a_user_supplied_method_that_holds_a_function_resumes_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    run(path, method=Periodic(unipd.UniPDGrad(), len))
    with pytest.warns(CheckpointWarning, match="the method or its settings cannot be compared"):
        assert run(path, method=Periodic(unipd.UniPDGrad(), len), iterations=5).iterations == 5


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    """An application of two runs, of which the second depends on the first, broken off at every iteration."""

    def application(limit: int) -> tuple[Any, Any]:
        first = solve(problem(), "unipdgrad", accuracy=1e-6, stop=MaxIterations(4))
        counted = 0

        def count(info: Any) -> bool:
            nonlocal counted
            counted += 1
            if counted > limit:
                raise ValueError("broken off")
            return False

        second = solve(problem(b=first.image), "accunipdgrad", accuracy=1e-9, stop=MaxIterations(6), callback=count)
        return first, second

    whole = application(100)
    path = tmp_path / "run.ckpt"
    for _ in range(2):
        with Checkpoint(path, "1it", resume=True), pytest.raises(ValueError, match="broken off"):
            application(2)
    with Checkpoint(path, "1it", resume=True):
        last = application(100)
    for one, two in zip(whole, last, strict=True):
        assert one.image.tobytes() == two.image.tobytes()
        assert (one.iterations, one.counts, one.dual_bound) == (two.iterations, two.counts, two.dual_bound)
        np.testing.assert_array_equal(one.history["objective"], two.history["objective"])
    stamp = path.stat().st_mtime_ns
    with Checkpoint(path, resume=True):
        again = application(100)
    assert again[1].image.tobytes() == whole[1].image.tobytes()
    assert path.stat().st_mtime_ns == stamp


def test_the_limit_of_an_earlier_run_may_be_raised(tmp_path: Path) -> None:
    def application(limit: int) -> int:
        first = solve(problem(), "unipdgrad", accuracy=1e-9, stop=MaxIterations(limit))
        second = solve(problem(b=first.image), "unipdgrad", accuracy=1e-9, stop=MaxIterations(limit))
        return first.iterations + second.iterations

    for limit in (2, 5):
        with Checkpoint(tmp_path / "run.ckpt", "1it", resume=True):
            assert application(limit) == 2 * limit


@dataclass(frozen=True)
class _InPrecision(unipd.FrankWolfe):
    """A user-supplied method that holds a type of numbers."""

    precision: type = np.float64


def test_types_of_numbers_are_compared_by_name() -> None:
    marks = [
        fingerprint(problem(), _InPrecision(precision=precision), 1e-3, "auto", None)
        for precision in (np.float64, np.float64, np.float32)
    ]
    assert marks[0]["opaque"] == []
    assert differences(marks[0], marks[1]) == []
    assert differences(marks[0], marks[2]) == ["the method or its settings"]
