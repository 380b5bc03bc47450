"""Reports of checkpoints."""

import dataclasses

import numpy as np
import pytest

import unipd
from report.runs import solve_constrained
from unipd.errors import FileFormatError
from unipd.report import is_checkpoint, load_checkpoint, render_page
from unipd.run.checkpoint import read_checkpoint, write_checkpoint


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "run.ckpt"
    problem = solve_constrained().problem
    result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(20), checkpoint=path, every="1it")
    return path, result


def test_the_history_is_read_without_the_problem(checkpoint):
    path, result = checkpoint
    (run,) = load_checkpoint(path)
    assert is_checkpoint(path)
    np.testing.assert_array_equal(run.history.table, result.history.table)
    assert run.status is result.status
    assert run.summary()["iterations"] == 20
    assert run.objective == pytest.approx(result.history["objective"][-1])


def test_a_page_of_it(checkpoint):
    (run,) = load_checkpoint(checkpoint[0])
    page = render_page({"a": run, "b": dataclasses.replace(run, status=unipd.Status.RUNNING)})
    assert "iteration limit" in page
    assert "running" in page
    assert run.feasibility_scale is run.gap_scale is None
    assert "scale of the infeasibility" not in page  # which a checkpoint does not hold


def test_damaged_and_foreign_files(checkpoint, tmp_path):
    path = checkpoint[0]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(FileFormatError):
        load_checkpoint(path)
    (tmp_path / "other").write_text("x")
    assert not is_checkpoint(tmp_path / "other")


def test_a_status_that_is_none_is_refused(checkpoint):
    header, arrays = read_checkpoint(checkpoint[0])
    header["runs"][0]["status"] = {"$float": "inf"}
    write_checkpoint(checkpoint[0], header, arrays)
    with pytest.raises(FileFormatError, match="status"):
        load_checkpoint(checkpoint[0])


def test_names_of_files_are_text_on_the_page(checkpoint):
    (run,) = load_checkpoint(checkpoint[0])
    names = ['"><img src=x onerror=alert(1)>&lt;', "</script><script>alert(1)</script>", "<b>'`${7*7}\u2028"]
    run = dataclasses.replace(run, note=names[0], settings=dict.fromkeys(names, names[1]))
    page = render_page(dict.fromkeys(names, run), title=names[1])
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "<b>'" not in page
