"""The examples run on two ranks."""

import sys
from pathlib import Path

import pytest

from support.mpi import command, needs_mpi, run

pytestmark = needs_mpi
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("cluster_*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_speaks_once(path):
    done = run(command(2, sys.executable, path))
    assert done.returncode == 0, done.stderr
    assert [line[:7] for line in done.stdout.splitlines()] == ["2 ranks"]
