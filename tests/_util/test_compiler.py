"""The first compilation of a process is announced, by commands on standard error."""

import logging

from numba.core import event

from unipd._util import compiler
from unipd.cli.runtime import announce_compilation


def test_the_first_compilation_is_logged_once(caplog):
    compiler.njit(lambda x: x)(1)  # what the listener of the process may log, it has logged now
    caplog.clear()
    with (
        caplog.at_level(logging.INFO, "unipd._util.compiler"),
        event.install_listener("numba:compile", compiler._Announcement()),
    ):
        for step in (1, 2):
            assert compiler.njit(lambda x, step=step: x + step)(1) == 1 + step
    assert [record.getMessage() for record in caplog.records if record.name == "unipd._util.compiler"] == [
        compiler.MESSAGE
    ]


def test_a_command_prints_what_is_logged_about_kernels_unless_it_is_quiet(capsys):
    logger = logging.getLogger("unipd._util.compiler")
    for quiet in (True, False):
        with announce_compilation(quiet=quiet):
            logger.info("compiling")
        logger.info("afterwards")
        assert capsys.readouterr().err == ("" if quiet else "unipd: compiling\n")
