"""Several runs in one checkpoint, some ended by a limit: the next run may differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unipd
from unipd.errors import CheckpointMismatch

FEW = unipd.MaxIterations(5)


def problem(seed: int) -> unipd.Problem:
    rng = np.random.default_rng(seed)
    return unipd.Problem(unipd.sharp.Simplex(6), rng.standard_normal((8, 6)), rng.standard_normal(8), "=")


def solve_few(seed: int) -> unipd.Result:
    return unipd.solve(problem(seed), "unipdgrad", accuracy=1e-9, stop=FEW)


def test_a_later_run_that_is_another_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path):
        first = solve_few(1)
        solve_few(2)
        solve_few(3)
    with unipd.Checkpoint(path, resume=True):
        again, other, last = solve_few(1), solve_few(4), solve_few(3)
    for found, expected in ((again, first), (other, solve_few(4)), (last, solve_few(3))):
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.dual_bound == expected.dual_bound
        assert found.counts == expected.counts


def test_the_first_run_must_be_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path):
        solve_few(1)
    before = path.read_bytes()
    with unipd.Checkpoint(path, resume=True), pytest.raises(CheckpointMismatch):
        solve_few(2)
    assert path.read_bytes() == before


def test_a_run_without_a_whole_iteration_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path) as book:
        first = solve_few(1)
        book.begin(problem(2), unipd.UniPDGrad(), 1e-9, None, None)
        solve_few(3)
    with unipd.Checkpoint(path, resume=True):
        again, second = solve_few(1), solve_few(2)
    np.testing.assert_array_equal(again.x, first.x)
    np.testing.assert_array_equal(second.x, solve_few(2).x)
