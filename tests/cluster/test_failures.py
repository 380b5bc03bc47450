"""Invalid input is refused, and the failure of one rank ends all of them."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from support.mpi import answers, command, environment, needs_mpi, program, ranks_of, run
from unipd.cluster import SIZES, session
from unipd.errors import MissingExtra

pytestmark = needs_mpi
KILLED = 9
"""Exit code of mpirun where a rank that it kills, after another has aborted, is the last to end."""
ABORTED = (1, KILLED)
"""Exit codes of mpirun after MPI_Abort(1)."""


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("unsplittable", ("can be distributed: PauliMap", "got Identity")),
        ("data", ("the problem: expected the same on every rank", "b (array", "on rank 1)")),
        ("thing", ("problem: expected a unipd.Problem, got str",)),
        ("matrix", ("the map: expected the same on every rank", "A (array")),
        ("options", ("the options: expected the same", "accuracy (0.001 on rank 0, 0.002 on rank 1)")),
        ("apart", ("the ranks have diverged", "rank 1 is not that of rank 0 (product 16)")),
        ("different", ("the ranks have diverged", "rank 1 is not that of rank 0 (product 1)")),
    ],
)
def test_refused_on_every_rank(refusals, trouble, words):
    messages = refusals[trouble]
    assert len(messages) == 2
    assert messages[0] == messages[1]
    assert all(word in messages[0] for word in words)


@pytest.fixture(scope="module")
def refusals():
    return answers(2, "failures", "print_refusals")


def test_what_all_ranks_refuse_is_reported_once():
    done = run(program(2, "failures", "whole"))
    assert done.returncode in ABORTED
    assert done.stderr.count("the options: expected the same on every rank, got accuracy") == 1


@pytest.mark.parametrize(
    ("ranks", "case", "words"),
    [
        (3, "raising", "ValueError: the disk of this machine is full"),
        (2, "breaking", "OracleError: the sharp oracle or the map failed: ZeroDivisionError: the oracle of this rank"),
        (4, "breaking", "OracleError: the sharp oracle or the map failed: ZeroDivisionError: the oracle of this rank"),
    ],
)
def test_failure_of_one_rank_ends_all_and_names_it(ranks, case, words):
    done = run(program(ranks, "failures", case))
    assert done.returncode in ABORTED
    assert [line for line in done.stderr.splitlines() if line.startswith(f"unipd: rank 1 of {ranks}: {words}")]
    assert "have diverged" not in done.stderr


@pytest.mark.parametrize(
    ("ranks", "case"),
    [(2, "return_early"), (4, "exit_without_error"), (2, "sum_other_vectors"), (4, "sum_other_vectors")],
)
def test_ranks_that_wait_for_different_exchanges_end(ranks, case):
    done = run(program(ranks, "failures", case))
    assert done.returncode in ABORTED
    line = rf"unipd: rank \d of {ranks}: Disagreement: the ranks have diverged: rank [\d, ]+ is in another exchange"
    assert re.search(line, done.stderr)


def test_ranks_that_wait_long_go_on():
    assert answers(3, "failures", "late") == {"total": [3.0, 3.0, 3.0]}


@pytest.mark.parametrize(
    ("case", "sent", "code", "words"),
    [
        ("endless", signal.SIGKILL, 9, ""),
        ("waiting", signal.SIGTERM, 15, ""),
        ("waiting", signal.SIGINT, 130, "unipd: rank 1 of 2: KeyboardInterrupt"),
    ],
)
def test_signal_to_one_rank_ends_the_run(case, sent, code, words):
    job = subprocess.Popen(
        program(2, "failures", case),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with job:
        try:
            assert job.stdout is not None
            output = ""
            while not ("rank 0 runs" in output and "rank 1 runs" in output):  # in any order, and perhaps on one line
                output += job.stdout.readline()
            os.kill(ranks_of(job.pid)[-1], sent)
            _, said = job.communicate(timeout=30)
            assert job.returncode in (code, KILLED)
            assert words in said
        finally:
            job.terminate()


def test_signal_to_a_rank_ends_a_command_with_what_it_has(tmp_path):
    result = tmp_path / "result.json"
    words = ("tomography", "--simulate", "random", "--qubits", 6, "--accuracy", 1e-300, "--method", "unipdgrad")
    with subprocess.Popen(
        command(2, "unipd", *words, "--max-iterations", 10**7, "--json", result),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as job:
        try:
            assert job.stderr is not None
            while "iteration" not in job.stderr.readline():
                assert job.poll() is None
            os.kill(ranks_of(job.pid)[-1], signal.SIGTERM)
            job.communicate(timeout=30)
            assert job.returncode == 130
        finally:
            job.terminate()
    assert json.loads(result.read_text())["status"] == "interrupted"


def test_rank_that_leaves_alone_ends_the_run():
    done = run(program(2, "failures", "exit_with_error"))
    assert done.returncode in (7, KILLED)
    assert "unipd: rank 1 of 2: SystemExit: 7" in done.stderr


@pytest.mark.parametrize(("where", "prefix"), [("0123", ""), ("1", "rank 1: ")], ids=("everywhere", "on one rank"))
def test_mpi4py_missing_is_reported_in_one_line(tmp_path, where, prefix):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n\n\nclass Blocker:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'mpi4py':\n            raise ImportError(name=name)\n\n\n"
        f"if os.environ.get('PMI_RANK', '-') in '{where}':\n    sys.meta_path.insert(0, Blocker())\n"
    )
    done = run(command(2, "unipd", "tomography", "--simulate", "ghz", "--qubits", 3), PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("unipd")]
    assert lines == [f'unipd: {prefix}running under MPI needs mpi4py: pip install "unipd[cluster]"']
    assert done.stdout == ""


def test_one_process_works_without_mpi4py(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    for name in SIZES:
        monkeypatch.delenv(name, raising=False)
    with session() as communicator:
        assert communicator.size == 1
    monkeypatch.setenv(SIZES[0], "2")
    with pytest.raises(MissingExtra, match="running under MPI needs mpi4py"), session():
        pass


def test_one_process_never_imports_mpi4py():
    code = (
        "import sys, unipd, unipd.cluster, unipd.cli.main as m\n"
        "try:\n    m.main(['tomography', '--simulate', 'ghz', '--qubits', '3', '--quiet'])\n"
        "except SystemExit as end:\n    print(end.code, 'mpi4py' in sys.modules)\n"
    )
    done = run([sys.executable, "-c", code])
    assert done.stdout.split() == ["0", "False"], done.stderr
