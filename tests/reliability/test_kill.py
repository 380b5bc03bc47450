"""Processes killed at random times, also during writes, resume to the result of an undisturbed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.processes import python_path
from support.runs import cases

HERE = Path(__file__).parent


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_every_method_and_tracker_survives_kills_bit_for_bit() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": python_path(HERE.parent),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    seed = int.from_bytes(os.urandom(4), "little")
    command = [sys.executable, str(HERE / "kill_and_resume.py"), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == list(cases())
    assert [row for row in rows if not row["same"]] == [], f"seed {seed}\n{done.stderr}"
    assert [row for row in rows if row["left"]] == []
    assert sum(row["kills"] for row in rows) > len(rows)
    assert sum(row["writing"] for row in rows) > 10


def test_a_command_that_is_killed_again_and_again_prints_the_undisturbed_result(tmp_path: Path) -> None:
    """Each kill comes as soon as the file has been written anew, so however fast the run is, it is not at its end."""
    saved, output = tmp_path / "run.ckpt", tmp_path / "result.json"
    environment = {**os.environ, "PYTHONPATH": python_path(HERE.parent), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "unipd", "tomography", "--simulate", "random", "--qubits", "8", "--threads", "1"]
    command += ["--method", "accunipdgrad", "--accuracy", "1e-4", "--seed", "5", "--json", str(output), "--quiet"]
    options = ["--checkpoint", str(saved), "--every", "1it", "--resume"]

    def finish(*further: str) -> dict[str, object]:
        subprocess.run([*command, *further], check=True, env=environment, timeout=300, capture_output=True)
        figures = json.loads(output.read_text())
        output.unlink()
        return {name: figures[name] for name in ("status", "objective", "iterations", "oracle_calls", "fidelity")}

    undisturbed = finish()
    for _ in range(3):
        before, deadline = saved.stat().st_mtime_ns if saved.exists() else 0, time.monotonic() + 120.0
        with subprocess.Popen([*command, *options], env=environment, stderr=subprocess.DEVNULL) as process:
            while not saved.exists() or saved.stat().st_mtime_ns == before:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.001)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        assert not output.exists()
    assert finish(*options) == undisturbed
