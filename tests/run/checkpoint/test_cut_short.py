"""Several runs in one checkpoint, of which a limit has cut some short: what comes next may be another one."""

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


def solved(seed: int) -> unipd.Result:
    return unipd.solve(problem(seed), "unipdgrad", accuracy=1e-9, stop=FEW)


def test_a_later_run_that_is_another_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path):
        first = solved(1)
        solved(2)
        solved(3)
    with unipd.Checkpoint(path, resume=True):
        again, other, last = solved(1), solved(4), solved(3)
    for found, expected in ((again, first), (other, solved(4)), (last, solved(3))):
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.dual_bound == expected.dual_bound
        assert found.counts == expected.counts


def test_the_first_run_must_be_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path):
        solved(1)
    before = path.read_bytes()
    with unipd.Checkpoint(path, resume=True), pytest.raises(CheckpointMismatch):
        solved(2)
    assert path.read_bytes() == before


def test_a_run_without_a_whole_iteration_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.ckpt"
    with unipd.Checkpoint(path) as book:
        first = solved(1)
        book.begin(problem(2), unipd.UniPDGrad(), 1e-9, None, None)
        solved(3)
    with unipd.Checkpoint(path, resume=True):
        again, second = solved(1), solved(2)
    np.testing.assert_array_equal(again.x, first.x)
    np.testing.assert_array_equal(second.x, solved(2).x)
