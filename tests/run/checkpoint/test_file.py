"""Checkpoint files: values bit for bit, writes in one step, and no damaged file taken for a good one."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.runs import constrained_problem, same_run
from unipd import Checkpoint, MaxIterations, Problem, Status, replacing, sharp, solve
from unipd.couplings import LeastSquares
from unipd.errors import FileFormatError, InvalidInput
from unipd.report.checkpoints import load_checkpoint
from unipd.run.checkpoint import CheckpointWarning, file
from unipd.run.checkpoint.every import Every
from unipd.run.checkpoint.file import read_checkpoint, remove_leftovers, write_checkpoint
from unipd.run.checkpoint.packing import Packer, unpack

LAYOUTS = {
    "C": np.arange(12.0).reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "columns": np.arange(12.0).reshape(3, 4)[:, :2],
    "rows": np.asfortranarray(np.arange(12.0).reshape(4, 3))[:2],
    "every other": np.arange(10)[::2],
    "backwards": np.arange(5.0)[::-1],
    "broadcast": np.broadcast_to(1.5, (3, 2)),
    "empty": np.zeros((0, 3), np.complex64),
    "scalar": np.array(2.5, np.float32),
    "column": np.arange(8.0).reshape(4, 2)[:, :1],
    "words": np.array(["one", "three"]),
    "truth": np.array([True, False]),
    "three axes": np.arange(24, dtype=np.int16).reshape(2, 3, 4).transpose(1, 0, 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_come_back_with_dtype_shape_layout_and_bits(name: str, tmp_path: Path) -> None:
    array = LAYOUTS[name]
    write_checkpoint(tmp_path / "a", {}, [array])
    (back,) = read_checkpoint(tmp_path / "a")[1]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    if name not in ("backwards", "broadcast", "empty"):
        long = [axis for axis, size in enumerate(array.shape) if size > 1]
        assert [back.strides[axis] for axis in long] == [array.strides[axis] for axis in long]


FLOATS = st.floats(allow_nan=False) | st.sampled_from([np.inf, -np.inf, -0.0, 5e-324])
LEAVES = (
    st.none() | st.booleans() | st.integers() | FLOATS | st.text() | st.binary() | st.complex_numbers(allow_nan=False)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
@settings(max_examples=100)
def test_plain_values_come_back_equal_and_of_the_same_type(value: Any) -> None:
    packer = Packer()
    back = unpack(packer.pack(value), packer.arrays)
    assert repr(back) == repr(value)


def test_scalars_keep_their_precision_and_shared_arrays_stay_shared() -> None:
    array, packer = np.ones(3), Packer()
    value = (np.float32(0.1), np.int8(3), array, array, np.bool_(True), Status.STALLED, np.dtype(np.complex64))
    back = unpack(packer.pack(value), packer.arrays)
    assert [type(part) for part in back] == [type(part) for part in value]
    assert back[2] is back[3]
    assert back[0] == value[0]


def test_objects_of_unknown_classes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="register"):
        Packer().pack(object())
    with pytest.raises(InvalidInput, match="dtype object"):
        Packer().pack(np.array([object()]))


def made(path: Path, iterations: int = 4, **more: Any) -> Any:
    stop = MaxIterations(iterations)
    return solve(constrained_problem(), "unipdgrad", accuracy=1e-9, stop=stop, checkpoint=path, **more)


def test_a_file_cut_short_at_any_place_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    made(path)
    whole = path.read_bytes()
    for length in [*range(0, 60, 7), *range(60, len(whole), 397), len(whole) - 33, len(whole) - 32, len(whole) - 1]:
        path.write_bytes(whole[:length])
        advice = r"run\.ckpt: .* damaged .*; put back a copy that is whole, or delete it"
        with pytest.raises(FileFormatError, match=advice):
            made(path, resume=True)
        assert path.read_bytes() == whole[:length]


@given(st.data())
@settings(max_examples=60)
def test_changed_bytes_are_noticed(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ckpt"
        write_checkpoint(path, {"runs": []}, [np.arange(5.0), np.ones((2, 2))])
        whole = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] ^= data.draw(st.integers(1, 255))
        path.write_bytes(bytes(whole))
        with pytest.raises(FileFormatError):
            read_checkpoint(path)


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_foreign_files_are_refused(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ckpt"
        for start in (b"", file.MAGIC):
            path.write_bytes(start + content)
            with pytest.raises(FileFormatError):
                read_checkpoint(path)


def test_a_newer_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "FORMAT", 7)
    write_checkpoint(tmp_path / "a", {"runs": []}, [])
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="format 7 is newer"):
        read_checkpoint(tmp_path / "a")


def test_a_file_that_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    path.write_text("somebody's notes")
    with pytest.raises(InvalidInput, match="resume"):
        made(path)
    with pytest.raises(FileFormatError, match="not a checkpoint"):
        made(path, resume=True)
    assert path.read_text() == "somebody's notes"


@pytest.mark.parametrize("place", [".", "missing/run.ckpt", "file/run.ckpt"])
def test_places_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="checkpoint: expected a file"):
        made(tmp_path / place, callback=lambda moment: pytest.fail("the run began"))


def test_a_folder_without_permission_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *rest: Any, **named: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(InvalidInput, match="Permission denied"):
        made(tmp_path / "run.ckpt")


@pytest.mark.parametrize("fault", ["open", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_writes_that_fail_warn_once_and_the_last_good_file_stays(
    fault: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, calls = tmp_path / "run.ckpt", 0
    real: Any = {"open": open, "fsync": os.fsync, "replace": os.replace}[fault]

    def failing(*rest: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 4:
            raise OSError(number, os.strerror(number))
        return real(*rest, **named)

    if fault == "open":
        monkeypatch.setattr(replacing, "open", failing, raising=False)
    else:
        monkeypatch.setattr(os, fault, failing)
    with pytest.warns(CheckpointWarning, match=os.strerror(number)) as caught:
        result = made(path, 12, every="1it")
    monkeypatch.undo()
    assert len(caught) == 1
    assert calls > 6
    assert result.iterations == 12
    assert [found.name for found in tmp_path.iterdir()] == ["run.ckpt"]
    assert 1 <= read_checkpoint(path)[0]["runs"][0]["state"]["$object"][2]["iteration"] < 12
    same_run(made(path, 12, resume=True), result)


def test_the_disk_is_told_before_the_name_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    for name in ("fsync", "replace"):
        real: Any = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *rest, real=real, name=name: (order.append(name), real(*rest))[1])
    write_checkpoint(tmp_path / "a", {}, [])
    assert order == ["fsync", "replace", "fsync"]


def test_leftovers_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    gone, mine = tmp_path / ".run.ckpt.4194305-ab.part", tmp_path / f".run.ckpt.{os.getpid()}-ab.part"
    other = tmp_path / ".another.ckpt.4194305-ab.part"
    for part in (gone, mine, other):
        part.touch()
    remove_leftovers(path)
    assert sorted(tmp_path.iterdir()) == sorted([mine, other])


@pytest.mark.parametrize("text", ["", "s", "-1s", "5 weeks", "nan", "inf", "1.5it", "0it", "1,5s", None, True, -1.0])
def test_intervals_that_mean_nothing_are_refused(text: Any) -> None:
    with pytest.raises(InvalidInput, match="every: expected an interval"):
        Every.parse(text)


@pytest.mark.parametrize(
    ("text", "seconds", "iterations"),
    [
        *[("60s", 60.0, None), ("5m", 300.0, None), ("0.2s", 0.2, None), ("2h", 7200.0, None), ("1e1", 10.0, None)],
        *[("10it", None, 10), ("1 iteration", None, 1), ("7 iterations", None, 7), (3, 3.0, None), (0.5, 0.5, None)],
    ],
)
def test_intervals(text: Any, seconds: float | None, iterations: int | None) -> None:
    assert Every.parse(text) == Every(seconds, iterations)


@pytest.mark.parametrize("every", ["x", "5 parsecs", -1.0, None])
def test_an_interval_that_is_none_is_refused_without_a_checkpoint_too(every: Any) -> None:
    problem = Problem(sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    with pytest.raises(InvalidInput, match="every: expected an interval"):
        solve(problem, every=every)


@pytest.mark.parametrize(("every", "expected"), [("3it", [1, 4, 7, 10, 12]), ("1h", [1, 12])])
def test_the_file_is_written_when_due_at_the_first_iteration_and_at_the_end(
    every: str, expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def note(path: Path, header: Any, arrays: Any) -> None:
        written.append(header["runs"][-1]["state"]["$object"][2]["iteration"])

    monkeypatch.setattr("unipd.run.checkpoint.session.write_checkpoint", note)
    made(tmp_path / "run.ckpt", 12, every=every)
    assert written == expected


KEPT = {number: Path(__file__).parents[2] / "data" / f"checkpoint_format_{number}.ckpt" for number in (1, 2)}


def small_problem(coupling: Any = "=") -> Problem:
    """The problem of the kept files: numbers without rounding, so that its digest is the same on every machine."""
    return Problem(sharp.Simplex(3), np.eye(3), [0.25, 0.25, 0.5], coupling)


def test_there_is_a_kept_file_of_every_format() -> None:
    assert max(KEPT) == file.FORMAT


@pytest.mark.parametrize("number", KEPT)
def test_files_of_earlier_formats_stay_readable(number: int) -> None:
    header, arrays = read_checkpoint(KEPT[number])
    assert header["format"] == number
    assert set(header["versions"]) == {"unipd", "python", "numpy", "scipy", "numba"}
    assert len(header["runs"]) == 2
    assert all(("columns" in run) is (number > 1) for run in header["runs"])
    assert sum(run["count"] for run in header["runs"]) == len(arrays)
    runs = load_checkpoint(KEPT[number])
    assert [run.history["iteration"].tolist() for run in runs] == [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]
    assert all(run.status is Status.ITERATION_LIMIT for run in runs)


@pytest.mark.parametrize("number", KEPT)
def test_runs_of_earlier_formats_go_on(number: int, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    path.write_bytes(KEPT[number].read_bytes())
    for last in (7, 9):  # what was written in the old format is also written again
        with Checkpoint(path, resume=True):
            ended = solve(small_problem(LeastSquares()), "frank-wolfe", accuracy=1e-9, stop=MaxIterations(3))
            result = solve(small_problem(), "unipdgrad", accuracy=1e-9, stop=MaxIterations(last))
        assert (ended.iterations, result.iterations) == (3, last)
        assert read_checkpoint(path)[0]["format"] == file.FORMAT
    whole = solve(small_problem(), "unipdgrad", accuracy=1e-9, stop=MaxIterations(9))
    np.testing.assert_allclose(result.dual, whole.dual, rtol=1e-12)
    np.testing.assert_allclose(result.history["objective"], whole.history["objective"], rtol=1e-12)
    assert replace(result.counts, matvecs=0) == replace(whole.counts, matvecs=0)
    assert result.counts.matvecs > whole.counts.matvecs  # earlier versions made an image for every trial


def renamed(path: Path, change: Any) -> None:
    """Write a checkpoint again with the columns of its histories changed."""
    header, arrays = read_checkpoint(path)
    for run in header["runs"]:
        run["columns"], place = change(list(run["columns"])), run["first"] + run["rows"]["$array"]
        arrays[place] = arrays[place][:, : len(run["columns"])]
    write_checkpoint(path, header, arrays)


def test_a_history_with_unknown_columns_is_refused_with_their_names(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    made(path)
    renamed(path, lambda columns: [*columns[:-1], "curvature"])
    for read in (load_checkpoint, lambda path: made(path, resume=True)):
        with pytest.raises(FileFormatError, match="columns that this version does not know: curvature"):
            read(path)


def test_a_history_without_one_of_the_columns_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    made(path)
    renamed(path, lambda columns: columns[:-1])
    result = made(path, 6, resume=True)
    assert np.isnan(result.history["gradient_change"]).tolist() == [True] * 4 + [False] * 2
    assert np.isfinite(result.history["dual_step"]).all()
