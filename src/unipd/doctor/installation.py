"""Checks of the installation: versions, threads, BLAS, compiled kernels, and a problem with a known answer."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata, util
from typing import Any

import numpy as np

from unipd._version import __version__
from unipd.doctor.report import FAIL, NOTE, PASS, SKIP, Check, Report, guarded
from unipd.memory import available_memory, size_text

OPTIONAL = {
    "typer": "the command line (extra cli)",
    "rich": "progress bars and tables (extra cli)",
    "matplotlib": "pictures (extra plot)",
    "pandas": "histories as DataFrames (extra data)",
    "threadpoolctl": "limiting BLAS threads",
}


def check_installation() -> Report:
    """Return what is installed and whether it works."""
    return Report(
        (
            *guarded("python", _check_python),
            *(
                check
                for name in ("numpy", "scipy", "numba")
                for check in guarded(name, lambda n=name: _check_package(n))
            ),
            *(_check_optional(name, purpose) for name, purpose in OPTIONAL.items()),
            *guarded("threads", _check_threads),
            *guarded("BLAS", _check_blas),
            *guarded("compiler", _check_compiler),
            *guarded("memory", lambda: Check("memory", PASS, f"{size_text(available_memory())} available")),
            *guarded("solve", _check_solve),
        )
    )


def _check_python() -> Check:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, unipd {__version__}"
    return Check("python", PASS if sys.version_info >= (3, 10) else FAIL, text)


def _check_package(name: str) -> Check:
    found, least = metadata.version(name), _least_version(name)
    if least is not None and _numbers(found) < _numbers(least):
        return Check(name, FAIL, f"{found}, but unipd needs {least} or newer")
    return Check(name, PASS, found)


def _check_optional(name: str, purpose: str) -> Check:
    if util.find_spec(name) is None:
        return Check(name, SKIP, f"not installed: needed for {purpose}")
    return Check(name, PASS, metadata.version(name))


def _least_version(name: str) -> str | None:
    """Return the version that unipd's own metadata asks for, if any."""
    for line in metadata.requires("unipd") or ():
        match = re.match(rf"{name}\s*>=\s*([0-9.]+)", line)
        if match:
            return match.group(1)
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _check_threads() -> Check:
    import numba

    count, cores = numba.get_num_threads(), os.cpu_count() or 1
    text = f"numba uses {count} of {cores} cores"
    return Check("threads", PASS, text)


def _check_blas() -> Check:
    try:
        import threadpoolctl
    except ImportError:
        settings: Any = np.show_config(mode="dicts")
        blas = settings.get("Build Dependencies", {}).get("blas", {})
        return Check("BLAS", PASS, f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip())
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    parts = {f"{pool.get('internal_api')} {pool.get('version')}, {pool.get('num_threads')} threads" for pool in pools}
    return Check("BLAS", PASS, "; ".join(sorted(parts)) or "none found")


def _check_compiler() -> Check:
    """Compile and run a kernel of a line, and look for a place to keep compiled ones."""
    import numba

    total: Any = numba.njit(_sum_of_squares)
    if total(np.arange(4.0)) != 14.0:
        return Check("compiler", FAIL, "numba compiled a sum of squares to a wrong answer")
    folder = os.path.dirname(os.path.abspath(__file__))
    place = os.environ.get("NUMBA_CACHE_DIR")
    if place is None and not os.access(folder, os.W_OK):
        return Check("compiler", NOTE, "works; the package folder is read-only, set NUMBA_CACHE_DIR to keep kernels")
    return Check("compiler", PASS, "numba compiles and runs")


def _sum_of_squares(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value * value
    return total


def _check_solve() -> Check:
    """Project a point on the simplex, where the answer is known, and check every part on the way."""
    from unipd import couplings, sharp
    from unipd.doctor.problem import check
    from unipd.problem import Problem
    from unipd.run import solve

    point, answer = np.array([0.9, 0.5, -0.2]), np.array([0.7, 0.3, 0.0])
    problem = Problem(sharp.Simplex(3), np.eye(3), point, couplings.LeastSquares())
    found = check(problem)
    if not found.ok:
        return Check("solve", FAIL, f"self-test: {found.failures[0].name}: {found.failures[0].detail}")
    error = 0.0
    for method in ("accunipdgrad", "pairwise"):
        result = solve(problem, method, accuracy=1e-4)
        if not result.status.success:
            return Check("solve", FAIL, f"{method}: {result.status.message}")
        error = max(error, float(np.abs(result.x - answer).max()))
    if error > 0.05:
        return Check("solve", FAIL, f"the projection on the simplex is wrong by {error:.1e}")
    return Check("solve", PASS, "a small problem is solved and certified by two methods")
