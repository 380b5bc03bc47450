"""Saved results."""

import dataclasses
import json
import math
import os
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import unipd
from unipd.apps.graphs.theta import theta
from unipd.atoms import Blocks, LowRank, SparsePoint
from unipd.couplings import LeastSquares
from unipd.errors import FileFormatError, InvalidInput
from unipd.io import FORMAT, Graph, load, save
from unipd.run import COLUMNS, problem_facts
from unipd.run.checkpoint import Packer, unpack


@pytest.fixture(scope="module")
def result():
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    return unipd.solve(problem, "unipdgrad", accuracy=1e-2)


def same(left, right):
    """Equality with NaN equal to itself, and of arrays also in dtype."""
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray)
            and left.dtype == right.dtype
            and np.array_equal(left, right, equal_nan=left.dtype.kind in "fc")
        )
    if dataclasses.is_dataclass(left):
        return type(left) is type(right) and all(
            same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left)
        )
    if isinstance(left, dict):
        return isinstance(right, dict) and left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and math.isnan(left):
        return isinstance(right, float) and math.isnan(right)
    return type(left) is type(right) and left == right


def test_round_trip(result, tmp_path):
    extra = {"rmse": 0.5, "names": ["a", ("b", None)], "deep": {"values": np.arange(3, dtype=np.float32)}}
    path = save(result, tmp_path / "run.npz", seed=5, settings={"method": "unipdgrad"}, extras=extra)
    saved = load(path)
    for name in ("status", "objective", "dual_bound", "gap", "infeasibility", "bound_kind"):
        assert getattr(saved, name) == getattr(result, name)
    for name in ("method", "iterations", "seconds", "accuracy", "counts"):
        assert getattr(saved, name) == getattr(result, name)
    assert saved.summary() == {**result.summary(), "rmse": saved.extras["rmse"]}
    np.testing.assert_array_equal(saved.history.table, result.history.table)
    np.testing.assert_array_equal(saved.x, result.x)
    np.testing.assert_array_equal(saved.dual, result.dual)
    np.testing.assert_array_equal(saved.image, result.image)
    assert saved.facts == problem_facts(result)
    assert saved.facts.problem == repr(result.problem)
    assert saved.problem is None
    assert (saved.seed, saved.settings) == (5, {**result.settings, "method": "unipdgrad"})
    assert same(saved.extras, extra)
    assert saved.versions["unipd"] == unipd.__version__
    assert set(saved.versions) == {"unipd", "python", "numpy", "scipy", "numba"}


def test_a_saved_result_can_be_saved_again(result, tmp_path):
    first = load(save(result, tmp_path / "a.npz", seed=1, settings={"s": 2}, extras={"e": 3}))
    second = load(save(first, tmp_path / "b.npz", extras={"f": 4}))
    assert (second.seed, second.settings, second.extras) == (1, {**result.settings, "s": 2}, {"e": 3, "f": 4})
    assert second.facts == first.facts
    assert second.summary() == {**first.summary(), "f": 4}


E = np.eye(4)[:, :2]
FORMS = {
    "array": np.arange(6.0).reshape(2, 3),
    "complex": np.array([1j, 2.0], np.complex64),
    "hermitian": (lambda e: LowRank(e, e, np.array([1.0, 2.0])))(E),
    "low rank": LowRank(E, np.ones((3, 2), np.float32), np.array([1.0, 2.0])),
    "sparse": SparsePoint((2, 5), np.array([3, 7]), np.array([1.0, -1.0])),
    "blocks": Blocks((np.ones(2), LowRank(E, E, np.ones(2)), Blocks((np.zeros(1),)))),
    "nothing": None,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_x(result, tmp_path, form):
    point = FORMS[form]
    found = load(save(dataclasses.replace(result, x=point), tmp_path / "run.npz")).x
    assert same(point, found)
    if form == "hermitian":
        assert found.hermitian
        with np.load(tmp_path / "run.npz") as archive:
            assert "x.right" not in archive.files


def test_numpy_alone_reads_the_arrays(result, tmp_path):
    save(result, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {"header", "history", "x", "dual", "image"}
        np.testing.assert_array_equal(archive["x"], result.x)
        header = json.loads(archive["header"].tobytes())
    assert header["format"] == FORMAT
    assert header["columns"] == list(COLUMNS)


def test_a_loaded_result_prints_as_the_fresh_one(result, tmp_path):
    """One line where it is evaluated, a table where it is printed, HTML in notebooks."""
    loaded = unipd.load(unipd.save(result, tmp_path / "result.npz", seed=4))
    assert isinstance(loaded, unipd.Result)
    assert repr(loaded) == repr(result)
    assert repr(loaded).startswith("Result(solved, objective=")
    assert "\n" not in repr(loaded)
    assert str(loaded).splitlines()[:-2] == str(result).splitlines()
    assert [line.split()[0] for line in str(loaded).splitlines()[-2:]] == ["seed", "saved"]
    assert loaded._repr_html_().startswith("<table><tr><th style='text-align:left'>status</th>")
    assert loaded._repr_html_().count("<tr>") == len(str(loaded).splitlines())


def test_a_loaded_result_plots_as_the_fresh_one(result, tmp_path):
    pytest.importorskip("matplotlib")
    loaded = result.save(tmp_path / "result.npz")
    fresh, again = (run.plot().axes[0].lines for run in (result, load(loaded)))
    for one, other in zip(fresh, again, strict=True):
        assert one.get_label() == other.get_label()
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())


def test_only_results_are_saved(tmp_path):
    with pytest.raises(InvalidInput, match="result: expected a Result"):
        save({"status": "solved"}, tmp_path / "own.npz")


def test_a_failed_write_leaves_the_old_file(result, tmp_path, monkeypatch):
    path = save(result, tmp_path / "run.npz", seed=1)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(result, path, seed=2)
    assert load(path).seed == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.npz"]


def test_permissions_follow_the_umask(result, tmp_path):
    before = os.umask(0o027)
    try:
        path = save(result, tmp_path / "run.npz")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_refused_names_and_values(result, tmp_path):
    with pytest.raises(InvalidInput, match=r"\.npz"):
        save(result, tmp_path / "run.mat")
    for bad in ({"a": object()}, {"a": np.array([None])}, {"a": {1, 2}}):
        with pytest.raises(InvalidInput, match="extras"):
            save(result, tmp_path / "run.npz", extras=bad)
    assert not list(tmp_path.iterdir())


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.npz")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def _archive(path, **arrays):
    np.savez(path, **arrays)
    return path


def _header(**content):
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


def test_foreign_files(tmp_path):
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    files = [
        tmp_path / "array.npy",
        tmp_path / "text.npz",
        tmp_path / "empty.npz",
        _archive(tmp_path / "plain.npz", x=np.ones(3)),
        _archive(tmp_path / "words.npz", header=np.frombuffer(b"not json", np.uint8)),
        _archive(tmp_path / "list.npz", header=_header()),
        _archive(tmp_path / "other.npz", header=_header(kind="something else", format=1)),
        _archive(tmp_path / "bare.npz", header=_header(kind="unipd result", format=FORMAT)),
        _archive(tmp_path / "number.npz", header=np.ones(2)),
    ]
    for path in files:
        with pytest.raises(FileFormatError, match=path.name):
            load(path)


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_other_formats_are_refused(tmp_path, number):
    path = _archive(tmp_path / "other.npz", header=_header(kind="unipd result", format=number))
    with pytest.raises(FileFormatError, match=f"result of format {number}; this version of unipd reads"):
        load(path)


def test_pickles_are_never_opened(tmp_path):
    path = _archive(tmp_path / "pickle.npz", header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileFormatError):
        load(path)


def test_damaged_files(result, tmp_path):
    """Cut anywhere, the file is refused; with a bit turned it is refused or reads as the same."""
    whole = save(result, tmp_path / "run.npz").read_bytes()
    reference, broken = load(tmp_path / "run.npz"), tmp_path / "broken.npz"
    generator = np.random.default_rng(0)
    for length in generator.integers(0, len(whole) - 1, 60):
        broken.write_bytes(whole[:length])
        with pytest.raises(FileFormatError):
            load(broken)
    refused = 0
    for place in generator.integers(0, len(whole), 150):
        turned = bytearray(whole)
        turned[place] ^= 1 << int(generator.integers(8))
        broken.write_bytes(turned)
        try:
            found = load(broken)
        except FileFormatError:
            refused += 1
        else:
            assert same(reference.x, found.x)
            assert reference.summary() == found.summary()
    assert refused > 75


def test_columns_that_an_older_file_lacks_are_nan(result, tmp_path):
    with np.load(save(result, tmp_path / "run.npz")) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes())
    header["columns"] = ["iteration", "gap", "of the past"]
    arrays["header"] = _header(**header)
    arrays["history"] = np.array([[1.0, 0.5, 9.0]])
    history = load(_archive(tmp_path / "old.npz", **arrays)).history
    assert history["gap"].tolist() == [0.5]
    assert np.isnan(history["seconds"]).all()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | hnp.arrays(
        st.sampled_from([np.float64, np.complex64, np.int8, np.bool_, np.dtype("U3")]),
        hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["$array", "$"]) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_packing_round_trips_through_json(value):
    for name in ("v", None):
        packer = Packer()
        packed = json.loads(json.dumps(packer.pack(value, name), allow_nan=False))
        assert same(value, unpack(packed, packer.arrays))


def test_names_of_arrays_do_not_collide():
    packer = Packer()
    value = {"a.b": np.zeros(1), "a": {"b": np.ones(1)}}
    packed = packer.pack(value, "v")
    assert list(packer.arrays) == ["v.a.b", "v.a.b~2"]
    assert same(value, unpack(packed, packer.arrays))


def test_a_checkpoint_is_distinguished_from_a_result(tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    unipd.solve(problem, "unipdgrad", accuracy=1e-2, checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(FileFormatError, match=r"run\.ckpt: a checkpoint, not a result: show it with unipd report"):
        load(tmp_path / "run.ckpt")


def test_results_save_themselves(tmp_path):
    import unipd

    problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    result = unipd.solve(problem, accuracy=1e-2)
    saved = unipd.load(result.save(tmp_path / "run.npz", seed=3))
    assert saved.status is result.status
    assert np.array_equal(saved.x, result.x)
    assert unipd.load(unipd.save(result, tmp_path / "again.npz")).summary()["gap"] == result.gap


@pytest.mark.parametrize("tracker", ["dense", "atoms"])
@pytest.mark.parametrize("coupling", ["=", LeastSquares()])
def test_a_loaded_result_is_polished_continued_and_plotted_like_a_fresh_one(tracker, coupling, tmp_path):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((6, 20))
    problem = unipd.Problem(unipd.sharp.L1Ball(20), A, A @ rng.dirichlet(np.ones(20)) * 0.5, coupling)
    rough = unipd.solve(problem, "accunipdgrad", accuracy=1e-9, tracker=tracker, stop=unipd.MaxIterations(40))
    loaded = load(save(rough, tmp_path / "rough.npz"))
    fresh, again = unipd.polish(problem, rough), unipd.polish(problem, loaded)
    assert again.objective == pytest.approx(fresh.objective, rel=1e-9)
    assert again.infeasibility == pytest.approx(fresh.infeasibility, abs=1e-9)
    assert again.dual_bound == pytest.approx(fresh.dual_bound, rel=1e-9)
    for method in ("accunipdgrad", *(("pairwise",) if problem.loss else ())):
        one, other = (
            unipd.solve(problem, method, accuracy=1e-9, start=start, stop=unipd.MaxIterations(9))
            for start in (rough, loaded)
        )
        assert one.objective == pytest.approx(other.objective, rel=1e-9)
        assert one.dual_bound == pytest.approx(other.dual_bound, rel=1e-9)
    loaded.plot(str(tmp_path / "loaded.png"))
    saved_again = load(save(again, tmp_path / "again.npz"))
    assert saved_again.objective == again.objective


def test_atoms_that_take_much_memory_are_not_saved(monkeypatch, tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    result = unipd.solve(problem, accuracy=1e-6)
    assert len(load(save(result, tmp_path / "all.npz")).state.primal.atoms) == 3
    monkeypatch.setattr("unipd.io.results.LARGEST", 1)
    loaded = load(save(result, tmp_path / "point.npz"))
    np.testing.assert_allclose(loaded.state.primal.point(), result.x)


def test_results_that_an_application_has_changed_have_no_state(tmp_path):
    result = theta(Graph.of(5, [0, 1, 2, 3, 0], [1, 2, 3, 4, 4], np.ones(5)))
    assert load(save(result, tmp_path / "theta.npz")).state is None
