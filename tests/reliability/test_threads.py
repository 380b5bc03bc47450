"""The same run on one thread and on two gives the same answer; twice on two threads, the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reliability.run_on_threads import RUNS
from support.processes import python_path

HERE = Path(__file__).parent
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
STATED = 1e-6
"""What the documentation promises (long-runs.md)."""


@pytest.fixture(scope="module")
def thread_answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what was found on one thread, on two, and on two again."""
    folder = tmp_path_factory.mktemp("threads")
    answers: list[dict[str, Any]] = []
    for number, threads in enumerate((1, 2, 2)):
        environment = {**os.environ, **dict.fromkeys(VARIABLES, str(threads)), "PYTHONPATH": python_path(HERE.parent)}
        path = folder / f"{number}.npz"
        command = [sys.executable, str(HERE / "run_on_threads.py"), str(threads), str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with np.load(path) as archive:
            answers.append(dict(archive))
    return answers


@pytest.mark.parametrize("name", RUNS)
def test_one_and_two_threads_agree_to_a_millionth(thread_answers: list[dict[str, Any]], name: str) -> None:
    one, two, _ = thread_answers
    assert one[f"{name}/status"] == two[f"{name}/status"]
    for figure in ("figures", "image"):
        expected = one[f"{name}/{figure}"]
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(two[f"{name}/{figure}"], expected, rtol=STATED, atol=STATED * scale)


@pytest.mark.parametrize("name", RUNS)
def test_two_threads_give_the_same_bits_again(thread_answers: list[dict[str, Any]], name: str) -> None:
    _, two, again = thread_answers
    for figure in ("figures", "image"):
        np.testing.assert_array_equal(two[f"{name}/{figure}"], again[f"{name}/{figure}"])
