"""Output files of commands."""

import json
import os

import numpy as np
import pytest

from unipd import __version__
from unipd.cli import options
from unipd.cli.options import check_file
from unipd.cli.output import to_jsonable, write_json
from unipd.errors import InvalidInput, MissingExtra
from unipd.io import load

KEYS = {
    "status", "objective", "dual_bound", "gap", "infeasibility", "iterations", "oracle_calls", "matvecs", "seconds",
    "peak_memory_bytes", "seed", "version",
}  # fmt: skip


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_on_standard_output_is_one_object_and_nothing_else(invoke):
    result = invoke("demo", "--json", "-", "--seed", 7, "--verbose")
    content = strict(result.stdout)
    assert set(content) >= KEYS
    assert content["seed"] == 7
    assert content["version"] == __version__
    assert content["status"] == "solved"
    assert content["nothing"] is None
    assert content["largest"] == pytest.approx(1.0, abs=0.2)
    assert "a demonstration" in result.stderr
    assert "Problem(Simplex" in result.stderr


def test_json_with_infinite_figures_is_valid(invoke):
    content = strict(invoke("demo", "--kind", "infeasible", "--json", "-").stdout)
    assert content["dual_bound"] is None


def test_table_goes_to_standard_output_without_json(invoke):
    result = invoke("demo")
    for word in ("a demonstration", "objective", "dual bound", "requested 0.01", "oracle calls", "largest"):
        assert word in result.stdout


def test_quiet_prints_nothing(invoke):
    result = invoke("demo", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_quiet_still_prints_json(invoke):
    result = invoke("demo", "--quiet", "--json", "-")
    assert strict(result.stdout)["status"] == "solved"
    assert result.stderr == ""


def test_all_files_are_written_and_show_reads_them_back(invoke, tmp_path):
    out, plot, to, log = (tmp_path / name for name in ("run.npz", "run.svg", "run.json", "run.log"))
    files = ("--out", out, "--plot", plot, "--json", to, "--log-file", log)
    result = invoke("demo", *files, "--seed", 3, "--threads", 1, "--method", "accunipdgrad")
    assert result.exit_code == 0
    assert str(out) in result.stdout
    written, saved = strict(to.read_text()), load(out)
    assert saved.objective == written["objective"]
    assert saved.seed == 3
    assert saved.settings["accuracy"] == 1e-2
    assert saved.extras["labels"] == ["a", "b", "c"]
    assert saved.summary()["largest"] == written["largest"]
    assert plot.read_text().lstrip().startswith("<?xml")
    assert "begins" in log.read_text()
    assert "iteration 1" in log.read_text()
    assert "ends" in log.read_text()
    shown = invoke("show", out)
    assert shown.exit_code == 0
    for word in ("solved", "Problem(Simplex", "accuracy", "seed", "numpy", "extra: labels"):
        assert word in shown.stdout
    again = invoke("show", out, "--json", "-", "--quiet", "--plot", tmp_path / "again.png")
    assert strict(again.stdout)["objective"] == written["objective"]
    assert (tmp_path / "again.png").stat().st_size > 1000


def test_log_file_keeps_the_traceback(invoke, tmp_path):
    log = tmp_path / "run.log"
    assert invoke("demo", "--kind", "crash", "--log-file", log).exit_code == 1
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("option", ["--out", "--plot", "--json", "--log-file"])
@pytest.mark.parametrize("place", ["missing/{}", "file/{}", "{}"])
def test_outputs_are_checked_before_the_computing(invoke, tmp_path, monkeypatch, option, place):
    name = {"--out": "run.npz", "--plot": "run.png", "--json": "run.json", "--log-file": "run.log"}[option]
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / name).mkdir()
    import unipd.run

    monkeypatch.setattr(unipd.run, "solve", lambda *_, **__: pytest.fail("the computing has started"))
    result = invoke("demo", option, tmp_path / place.format(name))
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert option in result.stderr


@pytest.mark.parametrize(("option", "name"), [("--out", "run.txt"), ("--plot", "run.bmp"), ("--plot", "run")])
def test_extensions_are_checked(invoke, tmp_path, option, name):
    result = invoke("demo", option, tmp_path / name)
    assert result.exit_code == 2
    assert name in result.stderr


def test_read_only_folders_and_files_are_refused(tmp_path, monkeypatch):
    existing = tmp_path / "old.npz"
    existing.write_text("")
    check_file("--out", existing)
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(existing))
    with pytest.raises(InvalidInput, match="written to"):
        check_file("--out", existing)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidInput, match="written to"):
        check_file("--out", tmp_path / "new.npz")


def test_a_plot_without_matplotlib_is_refused_at_once(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(options.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra):
        options.Options(plot=tmp_path / "a.png").check()


def test_a_failing_file_does_not_lose_the_figures(invoke, tmp_path, monkeypatch):
    from unipd.io import results

    def full(*_, **__):
        raise OSError(28, "No space left on device", "run.npz")

    monkeypatch.setattr(results, "save", full)
    result = invoke("demo", "--out", tmp_path / "run.npz", "--json", "-")
    assert result.exit_code == 1
    assert strict(result.stdout)["status"] == "solved"
    assert strict(result.stdout)["exit_code"] == 1
    assert result.stderr.splitlines()[-1] == "unipd: run.npz: No space left on device"


def test_plain_values():
    value = {"a": np.float32(0.5), "b": np.array([1.0, np.nan]), "c": (1j,), 4: {True}, "d": np.int64(3)}
    assert to_jsonable(value) == {"a": 0.5, "b": [1.0, None], "c": [{"re": 0.0, "im": 1.0}], "4": [True], "d": 3}


def test_json_file(tmp_path):
    write_json({"a": float("inf")}, str(tmp_path / "a.json"))
    assert strict((tmp_path / "a.json").read_text()) == {"a": None}


@pytest.mark.parametrize("second", ["--json", "--log-file", "--checkpoint"])
def test_two_outputs_in_one_file_are_refused(invoke, tmp_path, second):
    same = tmp_path / "run.npz"
    result = invoke("tomography", "--simulate", "ghz", "--qubits", 2, "--out", same, second, tmp_path / "." / "run.npz")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"unipd: {second}: expected another file than that of --out, got ")
    assert not same.exists()


def full_at(names):
    """Return an ``os.fsync`` for a disk that has no room for the files of these names."""
    import errno

    plainly = os.fsync

    def fsync(handle):
        if any(f".{name}." in os.readlink(f"/proc/self/fd/{handle}") for name in names):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        plainly(handle)

    return fsync


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files are identified by /proc")
@pytest.mark.parametrize("failing", [["run.npz"], ["run.svg"], ["run.json"], ["run.npz", "run.svg", "run.json"]])
def test_what_a_full_disk_takes_is_named_and_the_rest_is_written(invoke, tmp_path, monkeypatch, failing):
    names = ["run.npz", "run.svg", "run.json"]
    monkeypatch.setattr(os, "fsync", full_at(failing))
    out, plot, to = (tmp_path / name for name in names)
    result = invoke("demo", "--out", out, "--plot", plot, "--json", to)
    assert result.exit_code == 1
    complaints = [f"unipd: {tmp_path / name}: No space left on device" for name in failing]
    assert [line for line in result.stderr.splitlines() if line.startswith("unipd: ")] == complaints
    assert "objective" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(set(names) - set(failing))
    assert ("wrote" in result.stdout) == (failing != names)
    if "run.json" not in failing:
        assert strict(to.read_text())["exit_code"] == 1


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files are identified by /proc")
def test_other_commands_write_what_they_can_too(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full_at(["methods.png", "unipdgrad.npz", "sides.txt"]))
    plot, runs = tmp_path / "methods.png", tmp_path / "runs"
    words = ("--demo", "least-squares", "--size", 5, "--methods", "unipdgrad,pairwise", "--accuracy", "1e-2")
    result = invoke("compare", *words, "--save", runs, "--plot", plot, "--json", "-", "-q")
    assert (result.exit_code, strict(result.stdout)["exit_code"]) == (1, 1)
    assert [line.split("/")[-1] for line in result.stderr.splitlines()] == [
        "unipdgrad.npz: No space left on device",
        "methods.png: No space left on device",
    ]
    assert [path.name for path in runs.iterdir()] == ["pairwise.npz"]
    graph = tmp_path / "triangle.txt"
    graph.write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n")
    result = invoke("maxcut", graph, "--sides", tmp_path / "sides.txt", "--out", tmp_path / "cut.npz", "-q")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "sides.txt: No space left" in result.stderr
    assert (tmp_path / "cut.npz").exists()
    assert not (tmp_path / "sides.txt").exists()


def test_outputs_keep_permissions_and_follow_links(invoke, tmp_path):
    to, link = tmp_path / "run.json", tmp_path / "link.json"
    to.write_text("old")
    to.chmod(0o600)
    link.symlink_to(to)
    assert invoke("demo", "-q", "--json", link).exit_code == 0
    assert link.is_symlink()
    assert to.stat().st_mode & 0o777 == 0o600
    assert strict(to.read_text())["status"] == "solved"


def test_devices_are_written_to_and_not_replaced(tmp_path):
    write_json({"a": 1}, os.devnull)
    assert not os.path.isfile(os.devnull)
