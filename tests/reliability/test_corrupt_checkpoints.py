"""Checkpoints with a valid checksum and invalid content: runs resume from them, or refuse them by name."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

import numpy as np
import pytest

from support.corruption import corrupt_checkpoint, exchange_in_checkpoint, raise_inner_bounds
from support.runs import cases
from unipd import MaxIterations, Problem, Status, solve
from unipd.errors import CheckpointMismatch, FileFormatError
from unipd.run import IterationInfo
from unipd.run.checkpoint import read_checkpoint, write_checkpoint
from unipd.sharp import Linear, Simplex

CASES = cases()
TRIALS = 10


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers may be senseless too
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("limit", [2, 4])
def test_a_run_goes_on_from_senseless_content_or_refuses_it(name: str, limit: int, tmp_path: Path) -> None:
    """The limit is the one of the run that wrote the file, which had ended (its result is rebuilt), or higher."""
    (problem, method, tracker), path = CASES[name], tmp_path / "file.ckpt"
    run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
    run(stop=MaxIterations(2))
    content, rng = path.read_bytes(), np.random.default_rng(limit)
    run(stop=MaxIterations(limit), resume=True)  # as it was written
    refused: list[str] = []
    for _ in range(TRIALS):
        path.write_bytes(corrupt_checkpoint(content, rng))
        try:
            run(stop=MaxIterations(limit), resume=True)
        except (FileFormatError, CheckpointMismatch) as error:
            refused.append(str(error))
    assert refused
    assert [message for message in refused if path.name not in message] == []


@pytest.mark.parametrize("limit", [2, 4])
@pytest.mark.parametrize(
    ("case", "name", "value"),
    [
        ("accunipdgrad, float32", "seconds", {"$array": 0}),
        ("accunipdgrad, float32", "seconds", "nan"),
        ("accunipdgrad, float32", "counts", {"$array": 0}),
        ("unipdgrad, sketch, rectangular", "rank", 10**9),
    ],
)
def test_values_that_fail_late_are_refused_by_name(
    case: str, name: str, value: object, limit: int, tmp_path: Path
) -> None:
    (problem, method, tracker), path = CASES[case], tmp_path / "file.ckpt"
    run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
    run(stop=MaxIterations(2))
    path.write_bytes(exchange_in_checkpoint(path.read_bytes(), name, value))
    with pytest.raises(FileFormatError, match=path.name):
        run(stop=MaxIterations(limit), resume=True)


@pytest.mark.parametrize("limit", [2, 4])
@pytest.mark.parametrize("name", list(CASES)[::4])
def test_a_raised_bound_is_not_called_rigorous(name: str, limit: int, tmp_path: Path) -> None:
    """Where the bound counts as proved: every part of a state that has a bound gets the same false one."""
    (problem, method, tracker), path = CASES[name], tmp_path / "file.ckpt"
    run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
    true = run(stop=MaxIterations(2))
    false = max(true.objective, true.dual_bound) + true.gap_scale
    path.write_bytes(exchange_in_checkpoint(path.read_bytes(), "dual_bound", false))
    with contextlib.suppress(FileFormatError):  # a bound that only steers the run is not refused
        result = run(stop=MaxIterations(limit), resume=True)
        assert result.bound_kind == "residual" or result.dual_bound < false


def test_a_raised_bound_is_refused_by_name(tmp_path: Path) -> None:
    (problem, method, tracker), path = CASES["unipdgrad, dense"], tmp_path / "file.ckpt"
    run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
    run(stop=MaxIterations(2))
    path.write_bytes(exchange_in_checkpoint(path.read_bytes(), "dual_bound", 1e3))
    with pytest.raises(FileFormatError, match="lower bound 1000 is not what its dual vector proves"):
        run(resume=True)


def test_a_status_that_the_state_does_not_prove_is_refused(tmp_path: Path) -> None:
    (problem, method, tracker), path = CASES["unipdgrad, dense"], tmp_path / "file.ckpt"
    run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
    run(stop=MaxIterations(2))
    for status in ("solved", "infeasible"):
        path.write_bytes(exchange_in_checkpoint(path.read_bytes(), "status", {"$status": status}))
        with pytest.raises(FileFormatError, match=f"its status is {status}"):
            run(resume=True)


@pytest.mark.parametrize("limit", [60, 61])
@pytest.mark.parametrize("method", ["accunipdgrad", "cgal"])
def test_a_point_outside_the_set_is_refused(method: str, limit: int, tmp_path: Path) -> None:
    """Feasible, at the cost of the bound and with its own image, so that nothing but X speaks against it."""
    random, path = np.random.default_rng(0), tmp_path / "file.ckpt"
    matrix, cost = random.standard_normal((4, 30)), random.standard_normal(30)
    problem = Problem(Linear(cost, Simplex(30)), matrix, matrix @ random.dirichlet(np.ones(30)))
    run = functools.partial(solve, problem, method, accuracy=1e-6, checkpoint=path)
    bound = run(stop=MaxIterations(60)).dual_bound
    x = np.linalg.lstsq(np.vstack([matrix, cost]), np.append(problem.b, bound))[0]
    header, arrays = read_checkpoint(path)
    state = header["runs"][0]["state"]["$object"][2]
    arrays[state["primal"]["$object"][2]["value"]["$array"]] = x
    arrays[state["image"]["$array"]] = matrix @ x
    state["mean_objective"] = bound
    state["certificate"]["$object"][2].update(objective=bound, violation=0.0, infeasibility=0.0)
    write_checkpoint(path, header, arrays)
    with pytest.raises(FileFormatError, match=r"file\.ckpt: .*its point lies outside X"):
        run(stop=MaxIterations(limit), resume=True)


def test_a_raised_bound_inside_a_wrapper_does_not_outlive_an_interruption(tmp_path: Path) -> None:
    """The outer bound is verified when a run resumes; those of inner states cannot be above it."""

    def interrupt(info: IterationInfo) -> None:
        if info.iteration > 2:
            raise KeyboardInterrupt

    wrapped = 0
    for name, (problem, method, tracker) in CASES.items():
        path = tmp_path / f"{name}.ckpt"
        run = functools.partial(solve, problem(), method, tracker=tracker, accuracy=1e-9, checkpoint=path)
        true = run(stop=MaxIterations(2))
        false = max(true.objective, true.dual_bound) + 1e3 * true.gap_scale
        edited = raise_inner_bounds(path.read_bytes(), false)
        if edited == raise_inner_bounds(edited, 2.0 * false):
            continue
        wrapped += 1
        path.write_bytes(edited)
        result = run(stop=MaxIterations(4), resume=True, callback=interrupt)
        assert result.status is Status.INTERRUPTED
        assert result.dual_bound < false
    assert wrapped > 2
