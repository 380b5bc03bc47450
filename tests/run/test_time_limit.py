"""The time limit is checked between the trials of a line search; the clock here counts oracle calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import Status
from unipd._util.context import Communicator, use_communicator
from unipd.protocols import SharpAnswer


class Slow(unipd.sharp.Simplex):
    """A simplex each of whose calls takes a second of a fake clock."""

    seconds = 0.0

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.seconds += 1.0
        return super().__call__(direction)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.seconds += 1.0
        return super().value(direction)


class Clock(Communicator):
    def __init__(self, oracle: Slow) -> None:
        self.oracle = oracle

    def now(self) -> float:
        return self.oracle.seconds

    def read_clocks(self) -> tuple[float, float]:
        return self.now(), self.now()


def run(method: Any, limit: float, **options: Any) -> tuple[unipd.Result, float]:
    """Solve with a time limit on the oracle's clock; return the result and the seconds spent in the run."""
    oracle = Slow(4)
    problem = unipd.Problem(oracle, np.eye(4), [0.1, 0.2, 0.3, 0.4], "=")
    with use_communicator(Clock(oracle)):
        begun = oracle.seconds
        result = unipd.solve(problem, method, accuracy=1e-9, stop=unipd.MaxSeconds(limit), **options)
    return result, oracle.seconds - begun


METHODS = [
    unipd.UniPDGrad(smoothness=1e-12, eps=1e-3),
    unipd.AccUniPDGrad(smoothness=1e-12, eps=1e-3),
    unipd.AccUniPDGrad(smoothness=1e-12, eps=1e-3, monotone=False),
]


@pytest.mark.parametrize("method", METHODS, ids=["unipdgrad", "accunipdgrad", "falling"])
def test_the_first_line_search_is_cut_short(method: Any) -> None:
    result, spent = run(method, 10.0)
    assert result.status is Status.TIME_LIMIT
    assert result.iterations == 1
    assert result.x is not None
    assert spent <= 12.0


@pytest.mark.parametrize("method", METHODS, ids=["unipdgrad", "accunipdgrad", "falling"])
def test_a_later_one_is_given_up_and_the_iteration_before_stands(method: Any) -> None:
    whole, _ = run(method, 1000.0)
    seconds = whole.history["seconds"]
    assert seconds[0] > 20.0  # the first search is the long one
    between = float(seconds[1]) - 1.0  # inside the second iteration
    result, spent = run(method, between)
    assert result.status is Status.TIME_LIMIT
    assert spent <= between + 2.0
    rows = result.history.table[: result.iterations]
    np.testing.assert_array_equal(rows, whole.history.table[: result.iterations])


def test_a_search_cut_short_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    cut, _ = run(METHODS[0], 10.0, checkpoint=path, every="1it")
    assert cut.status is Status.TIME_LIMIT
    again, _ = run(METHODS[0], 1000.0, checkpoint=path, every="1it", resume=True)
    whole, _ = run(METHODS[0], 1000.0)
    np.testing.assert_array_equal(again.dual, whole.dual)
    assert again.iterations == whole.iterations
