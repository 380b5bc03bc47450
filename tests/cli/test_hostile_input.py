"""Closed streams, signals while input is read, and messages that cannot control a terminal."""

import errno
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import unipd
from unipd.cli.runtime import explain
from unipd.io import load, save

GRAPH = "4 4\n1 2 1\n2 3 1\n3 4 1\n1 4 1\n"
PROBLEM = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\udc80"


def run_in_shell(words, redirections, folder):
    """Run a command in a shell, which closes streams as users do."""
    line = f"exec {sys.executable} -m unipd {words} {redirections}"
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_a_run_without_standard_streams_writes_its_files(closed, tmp_path):
    (tmp_path / "graph.txt").write_text(GRAPH)
    done = run_in_shell("maxcut graph.txt --json run.json --out run.npz --sides cut.txt", closed, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["cut_value"] == 4.0
    assert load(tmp_path / "run.npz").extras["cut_value"] == 4.0
    assert len((tmp_path / "cut.txt").read_text().splitlines()) == 4


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_mistakes_and_tables_without_standard_streams(closed, tmp_path):
    assert run_in_shell("show missing.npz", closed, tmp_path).returncode == 2
    assert run_in_shell("doctor", closed, tmp_path).returncode == 0


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", ">/dev/full"])
def test_a_json_object_that_nobody_can_read_is_no_success(closed, tmp_path):
    (tmp_path / "graph.txt").write_text(GRAPH)
    done = run_in_shell("maxcut graph.txt --json - --quiet --out run.npz", closed, tmp_path)
    assert done.returncode == 1
    assert load(tmp_path / "run.npz").extras["cut_value"] == 4.0
    if "2>" not in closed:
        assert done.stderr.startswith("unipd: standard output: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ["--json - >run.json 2>/dev/full", "--json run.json --verbose >cut.txt 2>/dev/full"])
def test_a_full_standard_error_loses_nothing(words, tmp_path):
    """Progress, tables and warnings have no reader; the run and its outputs do."""
    (tmp_path / "graph.txt").write_text(GRAPH)
    done = run_in_shell("maxcut graph.txt --out run.npz", words, tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "solved"
    assert load(tmp_path / "run.npz").extras["cut_value"] == 4.0
    assert run_in_shell("show missing.npz", "2>/dev/full", tmp_path).returncode == 2


def test_a_reader_that_leaves_does_not_end_the_run(tmp_path):
    """``unipd ... 2>&1 | head -1``: files are written although progress and table have no reader."""
    (tmp_path / "graph.txt").write_text(GRAPH)
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "unipd", "maxcut", "graph.txt", "--out", "run.npz", "--json", "run.json"]
    with os.fdopen(writer, "wb") as broken:
        done = subprocess.run(words, cwd=tmp_path, stdout=broken, stderr=broken, check=False, timeout=120)
    assert done.returncode == 1  # the table is lost
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "solved"
    assert load(tmp_path / "run.npz").extras["cut_value"] == 4.0


class Broken(io.StringIO):
    """A stream whose reader has left."""

    def write(self, text):
        """Fail."""
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize("stream", [Broken(), None])
def test_progress_in_python_needs_no_standard_error(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    assert unipd.solve(PROBLEM, verbose=True).status.value == "solved"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["maxcut", "complete", "solve", "tomography"])
def test_a_signal_ends_the_reading_of_a_pipe_that_never_delivers(command, number, tmp_path):
    path = tmp_path / {"solve": "p.dat-s", "tomography": "p.csv"}.get(command, "pipe")
    os.mkfifo(path)
    words = [sys.executable, "-m", "unipd", command, str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(path, "wb", buffering=0) as pipe:  # opens when the command does
        pipe.write(b"1 2")
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "unipd: interrupted\n")


def test_file_names_and_results_cannot_control_the_terminal(invoke, tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    result = unipd.solve(problem, accuracy=1e-2)
    path = tmp_path / f"run{ESCAPES[:-1]}.npz"
    save(result, path, message=ESCAPES[:-1], settings={ESCAPES[:-1]: ESCAPES[:-1]})
    for words in (("show", path), ("show", path, "--json", "-"), ("show", path, "--verbose")):
        done = invoke(*words)
        assert done.exit_code == 0
        assert printable_lines(done.stdout + done.stderr)
    done = invoke("show", tmp_path / f"none{ESCAPES}.npz")
    assert done.exit_code == 2
    assert printable_lines(done.stderr)
    assert "\\x1b[2J" in done.stderr


def printable_lines(text):
    return all(line.isprintable() for line in text.split("\n"))


def test_messages_are_short(invoke, tmp_path):
    path = tmp_path / "wide.json"
    path.write_text(json.dumps({"pauli": ["X"], "expectation": [1]} | {f"c{k}": [1] for k in range(10**5)}))
    done = invoke("tomography", path)
    assert done.exit_code == 2
    assert len(done.stderr) < 2100
    assert "expected the columns" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("counts.json", '{"counts": {"X": {"0": 1%s}}}' % ("0" * 300), "at most 2^53 shots"),
        ("counts.json", '{"counts": {"X": {"0": 1%s}}}' % ("0" * 400), "beyond the floating-point range"),
        ("counts.json", '{"counts": {"X": {"0": 9223372036854775807, "1": 9223372036854775807}}}', "2^53"),
        ("data.csv", "pauli,expectation,shots\nX,0.5,1e300\n", "line 2: the number of shots 1e+300"),
    ],
)
def test_numbers_beyond_every_experiment_are_refused(invoke, tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    done = invoke("tomography", tmp_path / name)
    assert done.exit_code == 2
    assert words in done.stderr


def test_an_endless_time_limit_is_refused_by_its_name(invoke):
    done = invoke("demo", "--time-limit", "inf")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "--time-limit" in done.stderr


@pytest.mark.parametrize("option", [None, "--out", "--json", "--checkpoint", "--log-file"])
def test_links_that_lead_to_themselves(invoke, tmp_path, option):
    path = tmp_path / "loop.npz"
    path.symlink_to(path)
    done = invoke("show", path) if option is None else invoke("demo", option, path)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "leads to itself" in done.stderr
    assert path.is_symlink()


def test_a_link_in_a_longer_loop_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links") as caught:
        (tmp_path / "a").read_bytes()
    assert explain(caught.value)[1] == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="only Linux has files that open and cannot be read")
@pytest.mark.parametrize(
    "words", ["maxcut /proc/self/mem", "show link.npz", "tomography link.csv", "solve link.dat-s", "solve link.mat"]
)
def test_a_file_that_cannot_be_read_is_named(invoke, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for name in ("link.npz", "link.csv", "link.dat-s", "link.mat"):
        os.symlink("/proc/self/mem", name)
    done = invoke(*words.split())
    assert done.exit_code == 2
    assert done.stderr.startswith(f"unipd: {words.split()[1]}: ")
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupt_while_options_are_parsed_is_one_line(invoke, monkeypatch):
    """Typer would exit with 130 and say nothing."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("unipd.cli.app.Group.resolve_command", interrupt)
    monkeypatch.setattr("unipd.cli.app.Group.parse_args", interrupt)
    done = invoke("demo")
    assert (done.exit_code, done.stderr) == (130, "unipd: interrupted\n")
