"""Processes killed at random times, also during writes, resume to the result of an undisturbed run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
