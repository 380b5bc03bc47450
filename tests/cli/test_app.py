import json
import logging
import os
import re
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

from unipd import Result, Status, __version__
from unipd.cli import commands
from unipd.cli.app import app, command_line
from unipd.cli.options import ALWAYS, METHODS, SOLVING, WATCHING, WRITING, Options, common_options
from unipd.cli.output import REQUIRED_KEYS, emit, print_table, stopping_rule
from unipd.cli.runtime import LOGGER, log_to, thread_limit
from unipd.methods import METHODS as LIBRARY_METHODS


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.split() == ["unipd", __version__]


def test_help_lists_commands_and_exit_codes(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for word in ("show", "doctor", "demo", "Exit codes", "130", "--install-completion"):
        assert word in result.stdout


@pytest.mark.parametrize("name", [*(entry.name for entry in commands.ENTRIES), "demo", "reproduce fig1", ""])
def test_help_is_readable_at_80_columns(invoke, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    result = invoke(*name.split(), "--help")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert max(map(len, lines)) <= 80
    for word in ("<bool>", "<int", "<float", "RANGE"):
        assert word not in result.stdout
    described = [line for line in lines if line.startswith("│ --")]
    assert all(len(line[line.rindex("  ", 0, 60) :]) > 20 for line in described)


@pytest.mark.parametrize("name", [*(entry.name for entry in commands.ENTRIES), "demo"])
def test_every_command_has_help_with_examples(invoke, name):
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n   unipd {name}" in result.stdout
    if name != "reproduce":
        assert all(f"--{option.replace('_', '-')}" in result.stdout for option in ALWAYS)
    assert f"unipd {name}" in result.stdout
    assert "Examples:" in result.stdout


@pytest.mark.parametrize(
    ("command", "option"),
    [("compare", "--save"), ("data", "--folder"), ("reproduce fig1", "--folder")],
)
def test_folders_are_called_folders(invoke, command, option):
    (line,) = (line for line in invoke(*command.split(), "--help").stdout.splitlines() if option in line[:20])
    assert "FOLDER" in line


def test_help_of_a_solving_command_shows_the_common_options(invoke):
    text = invoke("demo", "--help").stdout
    for name in (*SOLVING, *WRITING, *WATCHING):
        assert f"--{name.replace('_', '-')}" in text
    assert "0.01" in text


def test_commands_are_imported_on_demand(invoke, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("unipd.cli.commands.")] + ["demo_command"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    invoke("--help")
    assert "unipd.cli.commands.results" not in sys.modules
    invoke("demo", "--help")
    assert "demo_command" in sys.modules
    assert "unipd.cli.commands.results" not in sys.modules


def test_a_module_may_hold_several_subcommands(invoke, monkeypatch, tmp_path):
    (tmp_path / "several.py").write_text(
        "import typer\n"
        "several = typer.Typer()\n"
        "@several.command()\n"
        "def first(): print('one'); return 3\n"
        "@several.command()\n"
        "def second(): raise FileNotFoundError(2, '', 'gone')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = commands.Entry("several", "Some.", "Study", "several")
    monkeypatch.setattr(commands, "ENTRIES", (*commands.ENTRIES, entry))
    result = invoke("several", "first")
    assert (result.exit_code, result.stdout) == (3, "one\n")
    assert invoke("several", "second").exit_code == 2
    assert invoke("several", "third").exit_code == 2


def test_completion_offers_commands(invoke, monkeypatch, capsys):
    monkeypatch.setenv("_UNIPD_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "unipd sh")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        command_line().main([], prog_name="unipd")
    assert "show" in capsys.readouterr().out


def test_methods_of_the_command_line_are_those_of_the_library():
    assert set(METHODS) == {"auto", *LIBRARY_METHODS}


def test_options_of_a_command_can_be_chosen():
    @common_options(only=("seed", "accuracy"), accuracy=0.5)
    def command(name: str, *, options: Options) -> int:
        """Do nothing."""
        assert options == Options(accuracy=0.25, seed=0)
        return 0

    import inspect

    assert list(inspect.signature(command).parameters) == ["name", "accuracy", "seed", *ALWAYS]
    assert inspect.signature(command).parameters["accuracy"].default == 0.5
    assert command(name="a", accuracy=0.25, seed=0, quiet=False, verbose=False, log_file=None, debug=False) == 0


def test_stopping_rule():
    assert stopping_rule(Options()) is None
    assert "MaxSeconds" in repr(stopping_rule(Options(time_limit=2.0, max_iterations=4)))


def test_emit_of_a_result_without_a_point(capsys):
    result = Result(Status.TIME_LIMIT)
    assert emit(result.with_extras(fidelity=0.5), Options(json="-")) == 3
    import json

    captured = capsys.readouterr()
    content = json.loads(captured.out)
    assert set(content) >= {*REQUIRED_KEYS, "seed", "version"}
    assert content["fidelity"] == 0.5
    assert content["objective"] is None
    assert "fidelity" in captured.err


def test_threads_are_limited_and_given_back():
    before, variable = numba.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def blas():
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

    pools = blas()
    with thread_limit(1):
        assert numba.get_num_threads() == 1
        assert os.environ["OMP_NUM_THREADS"] == "1"
        assert blas() == {1}
    with thread_limit(10**4):
        assert numba.get_num_threads() >= 1
    assert (numba.get_num_threads(), os.environ.get("OMP_NUM_THREADS"), blas()) == (before, variable, pools)


def test_log_handler_is_removed(tmp_path):
    before = list(LOGGER.handlers)
    with log_to(tmp_path / "a.log", "test"):
        assert LOGGER.handlers != before
        LOGGER.debug("detail")
    assert LOGGER.handlers == before
    assert LOGGER.level == logging.NOTSET
    assert "detail" in (tmp_path / "a.log").read_text()


def test_tables_are_drawn_on_a_terminal():
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    print_table([("pass", "adjoint [x]", "fine"), ("fail", "oracle", "bad")], terminal, "title")
    text = terminal.getvalue()
    assert "title" in text
    assert "adjoint [x]" in text
    assert "bad" in text


def test_the_recipe_for_a_command_works(invoke, monkeypatch, tmp_path):
    blocks = [part.splitlines() for part in re.findall(r"::\n\n((?:    .*\n|\n)+)", commands.__doc__)]
    (recipe,) = ("\n".join(line[4:] for line in lines) for lines in blocks)
    (tmp_path / "unmix_command.py").write_text(recipe)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = commands.Entry("unmix", "Find proportions.", "Solve", "unmix_command")
    monkeypatch.setattr(commands, "ENTRIES", (*commands.ENTRIES, entry))
    np.savez(tmp_path / "mixture.npz", A=np.eye(3), b=np.array([0.2, 0.3, 0.5]))
    result = invoke("unmix", tmp_path / "mixture.npz", "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["largest"] == pytest.approx(0.5, abs=0.01)
    assert "unipd unmix mixture.npz" in invoke("unmix", "--help").stdout


def test_demo_is_short():
    """The example of how to write a command keeps to what it promises."""
    lines = (Path(__file__).parent / "demo_command.py").read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("@common_options"))
    assert len(lines) - start < 40
