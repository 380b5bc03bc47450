"""Exit codes of the command line."""

import json

import pytest

from unipd import Status
from unipd.cli.runtime import MEANINGS, exit_code, explain
from unipd.errors import FileFormatError, InvalidInput, MissingExtra, OracleError


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("demo",), 0),
        (("demo", "--kind", "equality"), 0),
        (("demo", "--method", "unipdgrad", "--accuracy", "1e-9", "--max-iterations", 3), 3),
        (("demo", "--method", "unipdgrad", "--accuracy", "1e-9", "--time-limit", 0), 3),
        (("demo", "--method", "unipdgrad", "--accuracy", "1e-9", "--max-oracle-calls", 2), 3),
        (("demo", "--kind", "infeasible"), 4),
        (("demo", "--kind", "crash"), 1),
        (("demo", "--kind", "memory"), 2),
        (("demo", "--kind", "interrupt"), 130),
        (("demo", "--method", "simplex"), 2),
        (("demo", "--accuracy", "-1"), 2),
        (("demo", "--accuracy", "much"), 2),
        (("demo", "--weights", "heavy"), 2),
        (("demo", "--threads", 0), 2),
        (("demo", "--nonsense",), 2),
        (("demo", "--quiet", "--verbose"), 2),
        (("demo", "--method", "pairwise", "--weights", "greedy"), 2),
        (("demo", "--method", "pairwise", "--kind", "equality"), 2),
        ((), 2),
    ],
)  # fmt: skip
def test_exit_code(invoke, arguments, code):
    assert invoke(*arguments).exit_code == code


@pytest.mark.parametrize("arguments", [("demo", "--kind", "crash"), ("demo", "--method", "no"), ("dmeo",), ("show",)])
def test_a_mistake_is_one_line_on_standard_error(invoke, arguments):
    result = invoke(*arguments)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("unipd")


@pytest.mark.parametrize("method", ["auto", "pairwise"])
def test_weights_without_an_average_are_refused_in_words_of_the_command_line(invoke, method):
    result = invoke("demo", "--method", method, "--weights", "greedy", "--json", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    expected = f"--weights: expected --method unipdgrad or accunipdgrad with this option, got --method {method}"
    assert result.stderr == f"unipd: {expected}\n"


@pytest.mark.parametrize(("option", "value", "method"), [("--eps", 0.1, "pairwise"), ("--memory", 9, "unipdgrad")])
def test_options_of_other_methods_are_refused(invoke, option, value, method):
    result = invoke("demo", "--method", method, option, value)
    assert result.exit_code == 2
    assert f"{option}: expected --method" in result.stderr
    assert invoke("demo", "--method", "corrective", option, value).exit_code == 0
    assert invoke("demo", "--method", "corrective", option, -1).exit_code == 2


def test_a_full_disk_under_standard_output_is_named():
    assert explain(OSError(28, "No space left on device")) == ("standard output: No space left on device", 1)
    assert explain(OSError(28, "No space left on device", "a.npz"))[0] == "a.npz: No space left on device"


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_an_interruption_before_the_run_is_reported(invoke, quiet):
    result = invoke("demo", "--kind", "interrupt", *quiet)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "unipd: interrupted\n")


def test_debug_shows_the_traceback(invoke):
    result = invoke("demo", "--kind", "crash", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "demo_command.py" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("unipd: unexpected RuntimeError")


def test_unknown_command_is_answered_with_a_suggestion(invoke):
    result = invoke("doctr")
    assert result.exit_code == 2
    assert "doctor" in result.stderr


def test_every_status_has_a_documented_exit_code():
    assert {status: exit_code(status) for status in Status} == {
        Status.SOLVED: 0,
        Status.LOCAL: 0,
        Status.STOPPED: 3,
        Status.ITERATION_LIMIT: 3,
        Status.ORACLE_LIMIT: 3,
        Status.MEMORY_LIMIT: 3,
        Status.TIME_LIMIT: 3,
        Status.STALLED: 3,
        Status.INTERRUPTED: 130,
        Status.LINE_SEARCH_FAILED: 3,
        Status.INFEASIBLE: 4,
        Status.UNBOUNDED: 5,
        Status.RUNNING: 3,
    }
    assert set(MEANINGS) == {0, 1, 2, 3, 4, 5, 130}


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InvalidInput("--out", "a file", "a folder"), 2, "--out"),
        (FileFormatError("g.txt", "no edges", 3), 2, "g.txt, line 3"),
        (MissingExtra("matplotlib", "plot", "a picture"), 2, "unipd[plot]"),
        (FileNotFoundError(2, "x", "g.txt"), 2, "g.txt: no such file"),
        (IsADirectoryError(21, "x", "folder"), 2, "folder: is a folder"),
        (PermissionError(13, "x", b"g.txt"), 2, "g.txt: permission"),
        (NotADirectoryError(20, "x", "a/b"), 2, "a/b"),
        (OSError(28, "No space left on device", "out.npz"), 1, "out.npz: No space left"),
        (OSError(28, "No space left on device"), 1, "No space left"),
        (OracleError("the oracle says nan"), 1, "the oracle says nan"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("float division\nby zero"), 1, "unexpected ZeroDivisionError: float division by zero"),
        (MemoryError(), 1, "MemoryError"),
    ],
)
def test_explanations(error, code, words):
    line, found = explain(error)
    assert found == code
    assert words in line
    assert "\n" not in line


def test_json_tells_the_exit_code(invoke):
    result = invoke("demo", "--kind", "infeasible", "--json", "-")
    content = json.loads(result.stdout)
    assert content["status"] == "infeasible"
    assert content["exit_code"] == result.exit_code == 4


def test_an_interrupt_inside_a_class_body_is_an_interrupt():
    error = RuntimeError("Error calling __set_name__ on 'cached_property' instance")
    error.__cause__ = KeyboardInterrupt()
    assert explain(error) == ("interrupted", 130)
