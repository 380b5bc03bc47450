"""An absolute tolerance: violation and gap in the user's units count as well as the relative ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.runs import constrained_problem, vector_problem
from unipd import MaxIterations, Problem, Status, UniPDGrad, solve
from unipd.errors import CheckpointMismatch, InvalidInput
from unipd.io import load, save
from unipd.methods import Certificate
from unipd.run import Accuracy, Result
from unipd.sharp import Linear, Simplex

COLUMNS = ("objective", "dual_bound", "violation")
TINY = 1e-15
"""A relative accuracy that no run here reaches."""


def run(problem: Problem, method: Any, **settings: Any) -> Result:
    return solve(problem, method, accuracy=TINY, stop=MaxIterations(400), **settings)


@pytest.mark.parametrize("atol", [0.2, 0.1])
@pytest.mark.parametrize(
    ("problem", "method"),
    [
        (constrained_problem(), UniPDGrad(eps=0.1)),
        (vector_problem(), "frank-wolfe"),
        (vector_problem(), "away-step"),
    ],
)
def test_a_run_ends_as_soon_as_violation_and_gap_are_within_the_tolerance(
    problem: Problem, method: Any, atol: float
) -> None:
    result = run(problem, method, atol=atol)
    assert result.status is Status.SOLVED
    assert (result.accuracy, result.atol) == (TINY, atol)
    assert problem.loss or problem.coupling.distance(result.image - problem.b) <= atol
    assert abs(result.objective - result.dual_bound) <= atol
    assert result.relative_error > TINY
    table = run(problem, method).history
    first = [max(abs(a - b), v) <= atol for a, b, v in zip(*(table[n] for n in COLUMNS), strict=True)].index(True)
    assert result.iterations == first + 1


@pytest.mark.parametrize(
    ("gap", "violation", "is_met"),
    [(0.5, 0.5, True), (0.5, 9.0, True), (9.0, 0.5, True), (9.0, 9.0, True), (0.5, 11.0, False), (11.0, 0.5, False)],
)
def test_each_number_meets_one_of_its_tolerances(gap: float, violation: float, is_met: bool) -> None:
    """Objective and b of size 100, so that an accuracy of 1 % is 1, and an absolute tolerance of 10."""
    problem = Problem(Linear([100.0], Simplex(1)), np.eye(1), [100.0], "=")
    measured = Certificate(100.0, violation, problem.infeasibility(np.array([violation])), 100.0 - gap, np.zeros(1))
    assert Accuracy(0.01, atol=10.0).is_met(problem, measured) is is_met
    assert Accuracy(0.01).is_met(problem, measured) is (max(gap, violation) <= 1.0)


def test_polishing_and_files_keep_the_tolerance(tmp_path: Path) -> None:
    result = run(vector_problem(), "unipdgrad", atol=1e-1, polish=True)
    assert (result.status, result.atol) == (Status.SOLVED, 1e-1)
    assert load(save(result, tmp_path / "run.npz")).atol == 1e-1


def test_a_checkpoint_with_another_tolerance_is_another_run(tmp_path: Path) -> None:
    run(vector_problem(), "pairwise", atol=1e-1, checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(CheckpointMismatch) as caught:
        run(vector_problem(), "pairwise", atol=1e-3, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert caught.value.differences == ["the accuracy"]


@pytest.mark.parametrize("atol", [-1.0, float("nan"), "small"])
def test_other_values_are_refused(atol: Any) -> None:
    with pytest.raises(InvalidInput, match="atol"):
        run(vector_problem(), "pairwise", atol=atol)


def test_tables_and_json_show_the_absolute_tolerance() -> None:
    """A run that ends within ``atol`` alone must not look as if it had reached the relative accuracy."""
    result = run(constrained_problem(), UniPDGrad(eps=0.1), atol=0.2)
    assert result.status is Status.SOLVED
    assert (result.summary()["atol"], result.summary()["accuracy"]) == (0.2, TINY)
    for name, absolute in (("gap", result.absolute_gap), ("infeasibility", result.violation)):
        line = next(line for line in str(result).splitlines() if line.startswith(name))
        assert f"absolute {absolute:.3g}, allowed 0.2" in line
    assert "allowed" not in str(run(vector_problem(), "frank-wolfe"))
