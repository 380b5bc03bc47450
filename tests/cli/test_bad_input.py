"""Invalid input to every command: one line that names the mistake, exit code 2, before any computation."""

import os
from pathlib import Path

import numpy as np
import pytest

from unipd import MaxIterations, Problem, sharp, solve
from unipd.io import save
from unipd.run import Run

SDPA = "1\n1\n2\n1.0\n0 1 1 2 1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"
GRAPH = "3 3\n1 2 1\n2 3 1\n1 3 1\n"
RATINGS = "".join(f"{user},{item},{1 + (user * item) % 5}\n" for user in range(4) for item in range(4))
PAULIS = "pauli,expectation\nX,0.6\nY,0.0\nZ,0.7\n"
INPUTS = {
    "solve": ("input.dat-s", SDPA),
    "compare": ("input.dat-s", SDPA),
    "maxcut": ("input.txt", GRAPH),
    "theta": ("input.txt", GRAPH),
    "complete": ("input.csv", RATINGS),
    "tomography": ("input.csv", PAULIS),
    "show": ("input.npz", None),
    "report": ("input.npz", None),
}
EXTENSIONS = {
    "--out": ".npz",
    "--plot": ".png",
    "--spectrum": ".svg",
    "--json": ".json",
    "--log-file": ".log",
    "--checkpoint": ".ckpt",
    "--sides": ".txt",
}
SOLVERS = {"--out", "--plot", "--json", "--log-file", "--checkpoint"}
OUTPUTS = {
    "solve": SOLVERS,
    "theta": SOLVERS,
    "complete": SOLVERS,
    "tomography": SOLVERS,
    "maxcut": SOLVERS | {"--sides"},
    "compare": {"--plot", "--json", "--log-file"},
    "show": {"--plot", "--json", "--log-file", "--spectrum"},
    "report": {"--out", "--log-file"},
    "doctor": {"--json", "--log-file"},
    "data": {"--json", "--log-file"},
    "reproduce fig1": {"--json", "--log-file"},
    "reproduce fig2": {"--json", "--log-file"},
}
PAIRS = [(command, option) for command, options in OUTPUTS.items() for option in sorted(options)]


KINDS = ("--out", "--plot", "--spectrum")


def deny_permission(*_, **__):
    raise PermissionError(13, "Permission denied")


def extension(command, option):
    return ".html" if (command, option) == ("report", "--out") else EXTENSIONS[option]


@pytest.fixture
def mistaken(invoke, tmp_path, monkeypatch):
    """Run a command with a mistake; return its line of complaint."""
    monkeypatch.chdir(tmp_path)

    def fail_if_started(*_):
        raise AssertionError("the computing has begun")

    def run(*words):
        monkeypatch.setattr(Run, "__enter__", fail_if_started)
        result = invoke(*words)
        assert (result.exit_code, result.stdout) == (2, ""), result.stderr
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr
        return result.stderr

    return run


def good_words(command):
    """Return words that the command accepts, its input written to the folder at hand."""
    if command not in INPUTS:
        return command.split()
    name, text = INPUTS[command]
    if text is None:
        problem = Problem(sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
        save(solve(problem, "unipdgrad", stop=MaxIterations(2)), name)
    else:
        Path(name).write_text(text)
    return [command, name]


@pytest.mark.parametrize("command", INPUTS)
def test_a_missing_input(mistaken, command):
    name = "nowhere" + Path(INPUTS[command][0]).suffix
    line = mistaken(command, name)
    assert name in line
    assert "no such file" in line or "expected" in line


@pytest.mark.parametrize("command", INPUTS)
def test_a_folder_in_the_place_of_the_input(mistaken, tmp_path, command):
    name = INPUTS[command][0]
    (tmp_path / name).mkdir()
    line = mistaken(command, name)
    assert "folder" in line or "directory" in line


@pytest.mark.parametrize("command", ["solve", "compare", "tomography", "show", "report"])
def test_an_input_of_unknown_kind(mistaken, tmp_path, command):
    (tmp_path / "input.xyz").write_text("words\n")
    assert "input.xyz" in mistaken(command, "input.xyz")


@pytest.mark.parametrize(("command", "option"), PAIRS)
@pytest.mark.parametrize("kind", ["folder", "nowhere", "under a file", "read-only file", "read-only folder"])
def test_an_output_that_cannot_be_written(mistaken, tmp_path, monkeypatch, command, option, kind):
    words, name = good_words(command), f"output{extension(command, option)}"
    (tmp_path / "file").write_text("")
    place = {"nowhere": f"nowhere/{name}", "under a file": f"file/{name}"}.get(kind, name)
    if kind == "folder":
        (tmp_path / name).mkdir()
    elif kind == "read-only file":
        (tmp_path / name).write_text("kept")
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != name)
    elif kind == "read-only folder":
        monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and os.path.samefile(path, tmp_path)))
        monkeypatch.setattr(Path, "touch", deny_permission)
    line = mistaken(*words, option, place)
    assert option in line
    assert place in line
    if kind == "read-only file":
        assert (tmp_path / name).read_text() == "kept"


@pytest.mark.parametrize(("command", "option"), [pair for pair in PAIRS if pair[1] in KINDS])
def test_an_output_of_unknown_kind(mistaken, command, option):
    line = mistaken(*good_words(command), option, "output.xyz")
    assert option in line
    assert extension(command, option) in line


@pytest.mark.parametrize(("command", "option"), [pair for pair in PAIRS if pair[1] != "--log-file"])
def test_two_outputs_in_one_file(mistaken, tmp_path, command, option):
    name = f"output{extension(command, option)}"
    line = mistaken(*good_words(command), option, name, "--log-file", f"./{name}")
    assert "another file than that of" in line
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(("command", "option"), [pair for pair in PAIRS if pair[0] in INPUTS])
def test_an_output_over_the_input(mistaken, tmp_path, command, option):
    words = good_words(command)
    before = (tmp_path / words[1]).read_bytes()
    line = mistaken(*words, option, f"./{words[1]}")
    assert option in line
    assert (tmp_path / words[1]).read_bytes() == before


CONTRADICTIONS = {
    "quiet and verbose": ("theta", "--quiet", "--verbose"),
    "resume without checkpoint": ("maxcut", "--resume"),
    "every without checkpoint": ("complete", "--every", "5m"),
    "live page and page file": ("report", "--live", "--out", "page.html"),
    "a file and a simulation": ("tomography", "--simulate", "ghz", "--qubits", 2),
    "a file and a demonstration": ("compare", "--demo", "maxcut"),
    "radius and residual": ("complete", "--radius", 5, "--residual", 0.5),
    "shots of a file": ("tomography", "--shots", 100),
    "noise level without its objective": ("tomography", "--noise-level", 0.1),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictory_options(mistaken, name):
    command, *options = CONTRADICTIONS[name]
    line = mistaken(*good_words(command), *options)
    assert any(str(option) in line for option in options if str(option).startswith("--"))


def test_a_folder_without_anything_to_put_there_is_refused(invoke, tmp_path):
    done = invoke("data", "--folder", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("unipd: --folder: expected the name of a data set with this option (movielens-100k)")


@pytest.mark.parametrize(("command", "word"), [("report", "RESULT"), ("show", "RESULT"), ("complete", "RATINGS")])
def test_arguments_are_called_what_the_help_calls_them(invoke, tmp_path, command, word):
    name = tmp_path / "input.npz"
    name.write_bytes(b"")
    done = invoke(command, name, "--log-file", name)
    assert done.exit_code == 2
    assert f"expected another file than {word}, got" in done.stderr
