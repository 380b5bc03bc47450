"""The process that compiles the kernels finds what later ones find, which take them from the cache: bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("first_run.py")


def test_the_first_run_is_like_the_next(tmp_path: Path) -> None:
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    first, second = (
        subprocess.run([sys.executable, SCRIPT], env=settings, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == second
    assert any(tmp_path.rglob("*.nbc"))
