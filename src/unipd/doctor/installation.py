"""Checks of the installation: versions, threads, BLAS, compiled kernels, and a problem with a known solution."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from typing import Any

import numpy as np

from unipd._util.lazy import can_compile
from unipd._version import __version__
from unipd.doctor.kernels import count_kept_kernels
from unipd.doctor.report import NOTE, SKIP, Check, Report, require, run_check
from unipd.memory import available_memory, size_text

OPTIONAL = {
    "typer": "the command line (extra cli)",
    "rich": "progress bars and tables (extra cli)",
    "threadpoolctl": "limiting BLAS threads (extra cli)",
    "matplotlib": "pictures (extra plot)",
    "pandas": "histories as DataFrames (extra data)",
    "pyarrow": "Parquet files (extra data)",
    "scikit-learn": "the base classes of estimators (extra learn)",
    "qics": "interior points (extra sdp)",
    "cvxpy": "CVXPY models (extra cvxpy)",
    "qiskit": "objects of Qiskit (extra quantum)",
    "qutip": "objects of QuTiP (extra qutip)",
    "mpi4py": "several processes (extra cluster)",
}
"""Distributions that unipd uses where they are installed, and what for."""


def check_installation() -> Report:
    """Check what is installed and whether it works.

    Returns
    -------
    Report

    See Also
    --------
    check, Report

    Examples
    --------
    >>> report = check_installation()  # doctest: +SKIP
    >>> report.ok  # doctest: +SKIP
    True
    """
    return Report(
        (
            run_check("python", _check_python),
            *(run_check(name, _check_package, name) for name in ("numpy", "scipy", "numba")),
            *(run_check(name, _check_optional, name, purpose) for name, purpose in OPTIONAL.items()),
            run_check("threads", _check_threads),
            run_check("BLAS", _check_blas),
            run_check("compiler", _check_compiler),
            run_check("kernels", _check_kernels),
            run_check("memory", lambda: f"{size_text(available_memory())} available"),
            run_check("solve", _check_solve),
        )
    )


def _check_python() -> str:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, unipd {__version__}"
    require(sys.version_info >= (3, 10), text)
    return text


def _check_package(name: str) -> str:
    found, least = metadata.version(name), _least_version(name)
    require(least is None or _numbers(found) >= _numbers(least), f"{found}, but unipd needs {least} or newer")
    return found


def _check_optional(name: str, purpose: str) -> str | Check:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, SKIP, f"not installed: needed for {purpose}")


def _least_version(name: str) -> str | None:
    """Return the lowest version that unipd's own metadata accepts, if any."""
    matches = (re.match(rf"{name}\s*>=\s*([0-9.]+)", line) for line in metadata.requires("unipd") or ())
    return next((match.group(1) for match in matches if match), None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _check_threads() -> str:
    import numba

    limits = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.endswith("_NUM_THREADS")]
    return ", ".join([f"numba uses {numba.get_num_threads()} of {os.cpu_count() or 1} cores", *limits])


def _check_blas() -> str:
    try:
        import threadpoolctl
    except ImportError:
        settings: Any = np.show_config(mode="dicts")
        blas = settings.get("Build Dependencies", {}).get("blas", {})
        return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    parts = {f"{pool.get('internal_api')} {pool.get('version')}, {pool.get('num_threads')} threads" for pool in pools}
    return "; ".join(sorted(parts)) or "none found"


def _check_compiler() -> str | Check:
    """Compile and run a one-line kernel, and check that compiled kernels can be cached."""
    import numba

    compiled: Any = numba.njit(_sum_of_squares)
    require(compiled(np.arange(4.0)) == 14.0, "numba compiled a sum of squares to a wrong answer")
    folder = os.path.dirname(os.path.abspath(__file__))
    if "NUMBA_CACHE_DIR" not in os.environ and not os.access(folder, os.W_OK):
        return Check("compiler", NOTE, "works; the package folder is read-only, set NUMBA_CACHE_DIR to keep kernels")
    from llvmlite import binding

    llvm = ".".join(map(str, binding.llvm_version_info))
    return f"numba compiles and runs, LLVM {llvm} for {binding.get_host_cpu_name()}"


def _check_kernels() -> str | Check:
    """Count the kernels that are compiled already."""
    if not can_compile():
        return Check("kernels", NOTE, "NumPy takes their place: NUMBA_DISABLE_JIT is set")
    count = count_kept_kernels()
    advice = "the others are compiled when they are first used, or by unipd doctor --compile"
    return f"{count} compiled and kept; {advice}"


def _sum_of_squares(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value * value
    return total


def _check_solve() -> str:
    """Project a point on the simplex, where the answer is known, and check every part on the way."""
    from unipd import couplings, sharp
    from unipd.doctor.problem import check
    from unipd.problem import Problem
    from unipd.run import solve

    point, answer = np.array([0.9, 0.5, -0.2]), np.array([0.7, 0.3, 0.0])
    problem = Problem(sharp.Simplex(3), np.eye(3), point, couplings.LeastSquares())
    for failure in check(problem).failures:
        require(False, f"self-test: {failure.name}: {failure.detail}")
    for method in ("accunipdgrad", "pairwise"):
        result = solve(problem, method, accuracy=1e-4)
        require(result.status.success, f"{method}: {result.status.message}")
        error = float(np.abs(result.x - answer).max())
        require(error <= 0.05, f"the projection on the simplex is wrong by {error:.1e}")
    return "a small problem is solved and certified by two methods"
