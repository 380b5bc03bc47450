"""Runs that end early return the incumbent."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import MaxIterations, Problem, Status, solve
from unipd.couplings import LeastSquares
from unipd.methods import fast_replace
from unipd.run import Incumbent
from unipd.sharp import L1Ball


def problem() -> Problem:
    """Return a problem on which the accelerated method does not descend."""
    random = np.random.default_rng(0)
    matrix = random.standard_normal((20, 40))
    return Problem(L1Ball(40, 20.0), matrix, random.standard_normal(20), LeastSquares())


def wavering(limit: int) -> int:
    """Return an iteration, beyond the first few, after which the objective is worse than it was before."""
    objectives = solve(problem(), "accunipdgrad", accuracy=1e-9, stop=MaxIterations(limit)).history["objective"]
    worse = [k for k in range(5, limit) if objectives[k] > 1.0001 * objectives[:k].min()]
    assert worse, "the objective falls all the time: choose another problem"
    return worse[0] + 1


def ends_after(count: int) -> dict[str, Any]:
    """Return options that end a run after so many iterations by a callback."""
    return {"accuracy": 1e-9, "callback": lambda info: info.iteration >= count}


@pytest.mark.parametrize("tracker", ["dense", "atoms", "image"])
def test_a_run_that_is_stopped_returns_the_best_point(tracker: str) -> None:
    result = solve(problem(), "accunipdgrad", tracker=tracker, **ends_after(wavering(60)))
    objectives = result.history["objective"]
    assert result.objective <= objectives.min() * (1 + 1e-9) < objectives[-1]
    assert result.dual_bound == result.history["dual_bound"].max()
    residual = result.image - result.problem.b
    assert result.objective == pytest.approx(0.5 * residual @ residual, rel=1e-9)
    if result.x is not None:
        np.testing.assert_allclose(result.problem.map.image(result.x), result.image, atol=1e-9)


def test_a_limit_of_iterations_gives_the_last_one() -> None:
    result = solve(problem(), "accunipdgrad", accuracy=1e-9, stop=MaxIterations(wavering(60)))
    assert result.status is Status.ITERATION_LIMIT
    assert result.objective == pytest.approx(result.history["objective"][-1])


def test_ctrl_c_returns_the_best_point() -> None:
    count = wavering(60)

    def press(info: Any) -> None:
        if info.iteration == count:
            raise KeyboardInterrupt

    result = solve(problem(), "accunipdgrad", accuracy=1e-9, callback=press)
    assert result.status is Status.INTERRUPTED
    assert result.objective <= result.history["objective"].min() * (1 + 1e-9)


def test_resuming_keeps_the_best_point(tmp_path: Path) -> None:
    count, options = wavering(60), {"checkpoint": tmp_path / "run.ckpt"}
    first = solve(problem(), "accunipdgrad", **ends_after(count), **options)
    again = solve(problem(), "accunipdgrad", **ends_after(count), **options, resume=True)
    np.testing.assert_array_equal(first.x, again.x)
    assert first.objective == again.objective
    longer = solve(problem(), "accunipdgrad", **ends_after(count + 1), **options, resume=True)
    whole = solve(problem(), "accunipdgrad", **ends_after(count + 1))
    np.testing.assert_array_equal(longer.x, whole.x)


def test_a_large_dense_point_is_not_held_twice() -> None:
    given = problem()
    states = list(islice(unipd.iterate(given, "accunipdgrad", tracker="dense"), wavering(60)))
    small, large = Incumbent(given), Incumbent(given, most_bytes=100)
    for state in states:
        small.observe(state)
        large.observe(state)
    assert small.with_incumbent(states[-1]).certificate.objective < states[-1].certificate.objective
    assert large.with_incumbent(states[-1]) is states[-1]


def test_a_result_prints_as_a_table_and_its_repr_is_one_line() -> None:
    result = solve(problem(), "accunipdgrad", stop=MaxIterations(3))
    assert str(result).splitlines()[0].startswith("status")
    assert repr(result).startswith("Result(iteration_limit, ")
    assert "\n" not in repr(result)
    assert "array" not in repr(result) + str(result)


def test_the_frame_has_whole_numbers_and_the_exponent() -> None:
    pytest.importorskip("pandas")
    history = solve(problem(), unipd.UniPDGrad(), stop=MaxIterations(30)).history
    frame = history.to_dataframe()
    for name in ("iteration", "oracle_calls", "trials", "matvecs"):
        assert frame[name].dtype.kind == "i"
    np.testing.assert_array_equal(frame["nu"], history["nu"])


def test_feasibility_counts_when_the_bound_is_far_away() -> None:
    """An early point far from feasible, with a large objective, must not win by a small relative gap."""
    simple = Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    state = next(unipd.iterate(simple, "unipdgrad"))
    early, late = (
        fast_replace(state, certificate=fast_replace(state.certificate, objective=f, violation=r, dual_bound=-1e8))
        for f, r in ((2718.0, 4700.0), (10.0, 0.006))
    )
    best = Incumbent(simple)
    best.observe(early)
    best.observe(late)
    assert best.with_incumbent(late) is late
