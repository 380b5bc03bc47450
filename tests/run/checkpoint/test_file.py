"""Checkpoint files: exact values, atomic writes, and no damaged file accepted."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.runs import constrained_problem, same_run
from unipd import MaxIterations, Problem, Status, sharp, solve
from unipd._util import files
from unipd.errors import FileFormatError, InvalidInput
from unipd.report import load_checkpoint
from unipd.run.checkpoint import (
    CheckpointWarning,
    Every,
    Packer,
    file,
    read_checkpoint,
    remove_leftovers,
    unpack,
    write_checkpoint,
)

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


def write_checkpoint_of_run(path: Path, iterations: int = 4, **more: Any) -> Any:
    stop = MaxIterations(iterations)
    return solve(constrained_problem(), "unipdgrad", accuracy=1e-9, stop=stop, checkpoint=path, **more)


def test_a_file_cut_short_at_any_place_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    write_checkpoint_of_run(path)
    whole = path.read_bytes()
    for length in [*range(0, 60, 7), *range(60, len(whole), 397), len(whole) - 33, len(whole) - 32, len(whole) - 1]:
        path.write_bytes(whole[:length])
        advice = r"run\.ckpt: .* damaged .*; restore an intact copy, or delete it"
        with pytest.raises(FileFormatError, match=advice):
            write_checkpoint_of_run(path, resume=True)
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


@pytest.mark.parametrize("number", [1, 2, file.FORMAT + 1, "x"])
def test_another_format_is_refused(number: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(file, "FORMAT", number)
        write_checkpoint_of_run(tmp_path / "run.ckpt")
    for read in (load_checkpoint, lambda path: write_checkpoint_of_run(path, resume=True)):
        message = rf"run\.ckpt: format {number} of another version of unipd; this version reads format {file.FORMAT}"
        with pytest.raises(FileFormatError, match=message):
            read(tmp_path / "run.ckpt")


def test_a_file_that_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    path.write_text("somebody's notes")
    with pytest.raises(InvalidInput, match="resume"):
        write_checkpoint_of_run(path)
    with pytest.raises(FileFormatError, match="not a unipd checkpoint"):
        write_checkpoint_of_run(path, resume=True)
    assert path.read_text() == "somebody's notes"


@pytest.mark.parametrize("place", [".", "missing/run.ckpt", "file/run.ckpt"])
def test_places_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="checkpoint: expected a file"):
        write_checkpoint_of_run(tmp_path / place, callback=lambda info: pytest.fail("the run began"))


def test_a_folder_without_permission_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *rest: Any, **named: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(InvalidInput, match="Permission denied"):
        write_checkpoint_of_run(tmp_path / "run.ckpt")


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
        monkeypatch.setattr(files, "open", failing, raising=False)
    else:
        monkeypatch.setattr(os, fault, failing)
    with pytest.warns(CheckpointWarning, match=os.strerror(number)) as caught:
        result = write_checkpoint_of_run(path, 12, every="1it")
    monkeypatch.undo()
    assert len(caught) == 1
    assert calls > 6
    assert result.iterations == 12
    assert [found.name for found in tmp_path.iterdir()] == ["run.ckpt"]
    assert 1 <= read_checkpoint(path)[0]["runs"][0]["state"]["$object"][2]["iteration"] < 12
    same_run(write_checkpoint_of_run(path, 12, resume=True), result)


def test_the_file_is_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    monkeypatch.setattr("unipd.run.checkpoint.checkpoint.write_checkpoint", note)
    write_checkpoint_of_run(tmp_path / "run.ckpt", 12, every=every)
    assert written == expected


def test_a_history_with_other_columns_is_refused_with_their_names(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    write_checkpoint_of_run(path)
    header, arrays = read_checkpoint(path)
    header["runs"][0]["columns"][-1] = "curvature"
    write_checkpoint(path, header, arrays)
    for read in (load_checkpoint, lambda path: write_checkpoint_of_run(path, resume=True)):
        with pytest.raises(FileFormatError, match=r"has the columns iteration, .*, curvature; this version has"):
            read(path)
