"""The log file of a command: timestamped progress, independent of the display; write errors are harmless."""

import re

import pytest

from unipd.cli.runtime import LOGGER, log_to

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO ")
FULL = "/dev/full"


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--live",)])
@pytest.mark.parametrize(
    "command", [("demo", "--method", "unipdgrad"), ("tomography", "--simulate", "ghz", "--qubits", 3)]
)
def test_the_log_has_the_progress_with_times(command, more, invoke, tmp_path):
    log = tmp_path / "run.log"
    result = invoke(*command, "--log-file", log, *more)
    assert result.exit_code == 0
    lines = log.read_text().splitlines()
    assert all(STAMP.match(line) for line in lines)
    messages = [STAMP.sub("", line) for line in lines]
    assert messages[0] == f"{command[0]} begins"
    assert "numpy" in messages[1]
    progress = [line for line in messages if re.search(r"\d s  iteration \d+  objective ", line)]
    assert 1 <= len(progress) == len(messages) - 4
    assert "'status': 'solved'" in messages[-2]
    assert messages[-1].endswith("ends")
    shown = "iteration 1  objective" in result.stderr
    assert shown == ("--quiet" not in more)


@pytest.mark.parametrize("command", [("demo", "-q"), ("tomography", "--simulate", "ghz", "--qubits", 3, "-q")])
def test_a_log_on_a_full_disk_costs_one_line(command, invoke):
    result = invoke(*command, "--log-file", FULL)
    assert result.exit_code == 0
    assert result.stderr == (
        f"unipd: warning: the log {FULL} cannot be written (No space left on device); continuing without it\n"
    )


def test_a_log_that_cannot_be_opened_costs_one_line(tmp_path, capsys):
    with log_to(tmp_path / "gone" / "run.log", "test"):
        LOGGER.info("one")
        LOGGER.info("two")
    assert capsys.readouterr().err.count("cannot be written (No such file or directory)") == 1


def test_what_ends_the_command_passes_a_log_that_cannot_be_written(capsys):
    with pytest.raises(ZeroDivisionError), log_to(FULL, "test"):  # noqa: PT012
        LOGGER.info("before")
        raise ZeroDivisionError
    assert capsys.readouterr().err.count("\n") == 1
