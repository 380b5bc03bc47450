"""The first compilation of a process is announced, by commands on standard error."""

import logging
import subprocess
import sys

from unipd.cli.options import Options, common_options

PROGRAM = """
import logging
from unipd._util.lazy import njit
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
for step in (1, 2):
    assert njit(lambda x, step=step: x + step)(1) == 1 + step
"""


def test_the_first_compilation_of_a_process_is_logged_once():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert [line.split(" ")[:2] for line in run.stderr.splitlines()] == [["unipd._util.lazy", "compiling"]]


def test_a_command_prints_what_is_logged_about_kernels_unless_it_is_quiet(capsys):
    logger = logging.getLogger("unipd._util.lazy")

    @common_options(only=())
    def command(*, options: Options) -> int:
        """Do nothing."""
        logger.info("compiling")
        return 0

    for quiet in (True, False):
        assert command(quiet=quiet, verbose=False, log_file=None, debug=False) == 0
        logger.info("afterwards")
        assert capsys.readouterr().err == ("" if quiet else "unipd: compiling\n")
