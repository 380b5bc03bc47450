"""Start programs on several real ranks of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parents[1] / "cluster" / "programs"
BIN = Path(sys.executable).parent
MPIRUN = str(BIN / "mpirun") if (BIN / "mpirun").exists() else shutil.which("mpirun")
PATIENCE = 240

needs_mpi = pytest.mark.skipif(MPIRUN is None, reason='mpirun is not installed: pip install "unipd[cluster]"')


def environment(**more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "MPI_", "HYDRA"))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {**ours, **threads, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", **more}


def command(ranks: int, *words: Any) -> list[str]:
    return [str(MPIRUN), "-n", str(ranks), *(str(word) for word in words)]


def program(ranks: int, name: str, *words: Any) -> list[str]:
    return command(ranks, sys.executable, "-W", "error", PROGRAMS / f"{name}.py", *words)


def run(words: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=environment(**more), check=False)


def answers(ranks: int, name: str, *words: Any) -> dict[str, Any]:
    """Return the JSON object that rank 0 of a program prints last."""
    done = run(program(ranks, name, *words))
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout.strip().splitlines()[-1])


def figures(ranks: int, *words: Any, codes: tuple[int, ...] = (0,)) -> tuple[dict[str, Any], str]:
    """Return the JSON object of a command of ``unipd`` and what it said; one rank is a process without mpirun."""
    alone = ["unipd", *map(str, words), "--json", "-"]
    done = run(alone if ranks == 1 else command(ranks, *alone))
    assert done.returncode in codes, done.stderr
    return json.loads(done.stdout), done.stderr


def ranks_of(launcher: int) -> list[int]:
    """Return the processes of the ranks: the Python processes below the launcher."""
    table = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in table.splitlines()]
    below = {launcher}
    for _ in range(4):
        below |= {int(pid) for pid, parent, _ in rows if int(parent) in below}
    return sorted(int(pid) for pid, _, words in rows if int(pid) in below and words.startswith(sys.executable))
