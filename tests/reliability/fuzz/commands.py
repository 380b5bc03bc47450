"""Commands that get a signal at a random moment: they end within seconds, and what they leave is whole."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from reliability.fuzz import Case, NothingToCheckError

PATIENCE = 5.0
"""CPU seconds within which a command ends after a signal; wall time also measures how busy the machine is."""
LONGEST_WAIT = 60.0
"""Seconds of wall time after which a command that does not end hangs."""
LONGEST = 6.0
"""Latest moment of a signal, in seconds after the start."""
CODES = (0, 3, 130, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes: solved, a limit, interrupted, or killed before Python's handlers were there."""


def _graph(folder: Path, random: np.random.Generator, nodes: int) -> Path:
    ends = random.integers(1, nodes + 1, (3 * nodes, 2))
    path = folder / "graph.txt"
    path.write_text(f"{nodes} {len(ends)}\n" + "".join(f"{i} {j} 1\n" for i, j in ends))
    return path


def _ratings(folder: Path, random: np.random.Generator, count: int) -> Path:
    triples = zip(*(random.integers(1, high, count) for high in (300, 400, 6)), strict=True)
    path = folder / "ratings.csv"
    path.write_text("".join(f"{user},{item},{value}\n" for user, item, value in triples))
    return path


def _command(kind: str, folder: Path, random: np.random.Generator) -> list[Any]:
    """Return the words of a command that would take long."""
    if kind == "maxcut":
        return ["maxcut", _graph(folder, random, 20_000), "--accuracy", "1e-9"]
    if kind == "theta":
        return ["theta", _graph(folder, random, 150), "--accuracy", "1e-9"]
    if kind == "complete":
        return ["complete", _ratings(folder, random, 30_000), "--accuracy", "1e-9"]
    qubits = int(random.integers(8, 12))
    return ["tomography", "--simulate", "mixed", "--qubits", qubits, "--shots", 500, "--accuracy", "1e-9"]


def draw_signal(random: np.random.Generator) -> Case:
    """Draw a command, a signal and its moment."""
    kind = str(random.choice(["maxcut", "theta", "complete", "tomography"]))
    number = signal.Signals(int(random.choice([signal.SIGINT, signal.SIGTERM])))
    moment, seed = float(random.uniform(0.0, LONGEST)), int(random.integers(1 << 30))

    def check(folder: Path) -> None:
        words = _command(kind, folder, np.random.default_rng(seed))
        answer, kept, out = folder / "answer.json", folder / "run.ckpt", folder / "run.npz"
        files = ["--json", answer, "--out", out, "--checkpoint", kept, "--every", "1it"]
        code, taken, said = _run_and_signal([*words, *files], number, moment)
        assert code in CODES, f"exit code {code}: {said[-300:]}"
        assert taken <= PATIENCE, f"ended {taken:.1f} CPU s after the signal"
        assert "Traceback" not in said or code < 0, said[-300:]
        if answer.exists():
            assert json.loads(answer.read_text())["exit_code"] == code
        _require_whole(out, kept)

    return Case(f"{kind}, {number.name} after {moment:.2f} s", check)


def _run_and_signal(words: list[Any], number: signal.Signals, moment: float) -> tuple[int, float, str]:
    """Return exit code, CPU seconds from the signal to the end, and standard error."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "unipd", *map(str, words)]
    before = _cpu_of_children()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **threads}
    )
    try:
        process.communicate(timeout=moment)
        raise NothingToCheckError  # it ended before the signal
    except subprocess.TimeoutExpired:
        used = _cpu_of_process(process.pid)
        process.send_signal(number)
    try:
        _, said = process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    return process.returncode, _cpu_of_children() - before - used, said


def _cpu_of_children() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _cpu_of_process(pid: int) -> float:
    """Return the CPU seconds of a process so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _require_whole(out: Path, kept: Path) -> None:
    """Assert that the result and the checkpoint can be read, and that nothing half written is beside them."""
    from unipd import load
    from unipd.run.checkpoint import read_checkpoint

    if out.exists():
        load(out)
    if kept.exists():
        read_checkpoint(kept)
    parts = [part.name for part in out.parent.iterdir() if part.name.endswith((".part", ".draft", ".tmp"))]
    assert not parts, f"left {parts}"
