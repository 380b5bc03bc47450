"""Every kernel is called by a job of ``unipd doctor --compile``; each job computes the same without a compiler."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.doctor import JOBS

SMALL = 1000
"""Entries up to which NumPy replaces kernels here: smaller jobs, for the sake of loops in Python."""
RUN = """
import json, sys
from unipd._util import lazy

lazy.SMALL, called = int(sys.argv[1]), set()
compile_lazily = lazy.compile_lazily


def record(**options):
    def decorate(function):
        kernel = compile_lazily(**options)(function)

        def call(*arguments, **named):
            if not (options.get("plain") and lazy.is_small(*arguments)):
                called.add(f"{function.__module__}.{function.__name__}")
            return kernel(*arguments, **named)

        return call

    return decorate


lazy.compile_lazily = record
from unipd.doctor import JOBS

numbers = {name: job() for name, job in JOBS.items()}
for home in [home for home in sys.modules if home.startswith("unipd.")]:
    for name, value in vars(sys.modules[home]).items():
        if getattr(value, "signatures", None) and value.py_func.__module__ == home:
            called.add(f"{home}.{name}")
print(json.dumps([numbers, sorted(called)], default=float))
"""


@cache
def run_jobs(disable: str) -> tuple[dict[str, list[float]], set[str]]:
    """Return the numbers of every job, and the kernels that Python called, in a new process."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
    command = [sys.executable, "-c", RUN, str(SMALL)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    numbers, called = json.loads(done.stdout)
    return numbers, set(called)


def list_kernels() -> set[str]:
    """Return the kernels in the sources that no other kernel calls: those that Python calls."""
    source, found, inner = Path(unipd.__file__).parent, dict[str, Any](), set[str]()
    for path in source.rglob("*.py"):
        home = ".".join(("unipd", *path.relative_to(source).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(map(is_compiler, node.decorator_list)):
                found[f"{home}.{node.name}"] = node
                calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
                inner |= {call.id for call in calls if isinstance(call, ast.Name)}
    return {name for name, node in found.items() if node.name not in inner}


def is_compiler(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Name) and function.id in ("njit", "compile_lazily")


def test_every_kernel_has_a_job() -> None:
    kernels = list_kernels()
    assert len(kernels) > 30
    assert sorted(kernels - run_jobs("0")[1]) == []


@pytest.mark.parametrize("job", JOBS)
def test_jobs_compute_the_same_without_a_compiler(job: str) -> None:
    compiled, plain = (np.array(run_jobs(disable)[0][job]) for disable in "01")
    assert compiled.size > 0
    np.testing.assert_allclose(plain, compiled, rtol=1e-4, atol=1e-4)
