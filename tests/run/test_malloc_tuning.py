"""Vectors freed by an iteration are not returned to the operating system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from unipd.run.loop import tune_malloc

def faults(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        vectors = [np.ones(size) for _ in range(6)]
        del vectors
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20

size = 80_000
asked = tune_malloc(8 * size)
faults(size)
print(asked, faults(size))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an allocator of another kind")
def test_freed_vectors_are_written_again_without_page_faults() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    asked, faults = done.stdout.split()
    assert asked == "True"
    assert float(faults) < 100  # a vector alone has 157 pages
