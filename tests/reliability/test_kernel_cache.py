"""Kernels give the same bits when they are compiled and when they are loaded from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("compile_kernels.py")


def test_the_first_run_is_like_the_next(tmp_path: Path) -> None:
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    first, second = (
        subprocess.run([sys.executable, SCRIPT], env=settings, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == second
    assert any(tmp_path.rglob("*.nbc"))
