"""Options common to all commands, and mistakes found before any computation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unipd.cli import commands
from unipd.cli.options import CHECKPOINTING, SOLVING, WATCHING, WRITING
from unipd.cli.runtime import MEANINGS

NAMES = [entry.name for entry in commands.ENTRIES]


def run(*arguments, **variables):
    command = [sys.executable, "-m", "unipd", *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "a.csv"), "SDPA"),
        (("solve", "model.py"), "FILE.py:NAME"),
        (("solve", "a.dat-s", "--accuracy", "nan"), "--accuracy"),
        (("solve", "a.dat-s", "--accuracy", "0"), "--accuracy"),
        (("solve", "a.dat-s", "--method", "best"), "--method"),
        (("complete", "a.csv", "--method", "pairwise"), "--method"),
        (("compare", "a.csv"), "SDPA"),
        (("solve", "missing.dat-s"), "missing.dat-s: no such file"),
        (("solve", "folder"), "is a folder"),
        (("maxcut", "folder"), "is a folder"),
        (("complete", "folder"), "is a folder"),
        (("show", "folder"), "is a folder"),
        (("report", "folder"), "is a folder"),
    ],
)
def test_mistakes_are_one_line_that_says_what_to_do(invoke, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "a.dat-s", "model.py"):
        (tmp_path / name).write_text("1\n")
    (tmp_path / "folder").mkdir()
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_usage_errors_have_a_traceback_with_debug(invoke):
    assert "Traceback" in invoke("solve", "--nonsense", "--debug").stderr
    assert "Traceback" not in invoke("solve", "--nonsense").stderr


def test_a_reader_that_leaves_is_no_error(tmp_path):
    code = (
        "import sys\n"
        "from unipd.cli import runtime\n"
        "from unipd.cli.app import Group, command_line\n"
        "from unipd.cli.main import main\n"
        "class Gone:\n"
        "    def write(self, text): raise BrokenPipeError(32, 'Broken pipe')\n"
        "    def flush(self): pass\n"
        "    def isatty(self): return False\n"
        "    def fileno(self): return 1\n"
        "sys.stdout = Gone()\n"
        "main(['data'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 1


NAMED_SHELL = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
"""The shell is the one named, whatever started the tests (make does so from sh)."""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(shell):
    done = run("--show-completion", shell, **NAMED_SHELL)
    assert done.returncode == 0
    assert "unipd" in done.stdout


def test_completion_can_be_installed(tmp_path):
    done = run("--install-completion", "bash", HOME=str(tmp_path), **NAMED_SHELL)
    assert done.returncode == 0, done.stderr
    assert "completion" in (tmp_path / ".bashrc").read_text()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("unipd ", {*NAMES}),
        ("unipd solve --met", {"--method"}),
        ("unipd solve --method fa", {"factored"}),
        ("unipd compare --demo max", {"maxcut"}),
        ("unipd report --ti", {"--title"}),
    ],
)
def test_completion_offers_commands_options_and_values(words, offered):
    parts = words.split(" ")
    done = run(_UNIPD_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(parts) - 1))
    assert offered <= set(done.stdout.split())


def test_the_module_runs_as_the_command_does():
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("unipd ")


def test_the_page_about_the_command_line_knows_every_command_and_exit_code():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"`{name}`" in page
    for code in MEANINGS:
        assert f"\n| {code} | " in page
    for option in (*SOLVING, *CHECKPOINTING, *WRITING, *WATCHING):
        if option != "weights":
            assert f"`--{option.replace('_', '-')}" in page
