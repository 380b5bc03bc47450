"""Checks of the installation: versions, threads, BLAS, kernels and a known solution; kernels compiled ahead of use.

Numba compiles a kernel for the types with which it is called, and keeps the machine code next to the package (or in
``NUMBA_CACHE_DIR``). So each job of ``unipd doctor --compile`` is a small problem, large enough for the kernels, with
the types that occur.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from unipd._util.lazy import SMALL, can_compile
from unipd._version import __version__
from unipd.doctor.report import NOTE, SKIP, Check, Report, require, run_check
from unipd.memory import available_memory, size_text


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
            *(run_check(name, _check_optional, name, extra) for name, extra in find_optional().items()),
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


def find_optional() -> dict[str, str]:
    """Return the packages that extras for users install, each with the smallest of its extras.

    >>> find_optional()["matplotlib"], find_optional()["qics"]
    ('plot', 'sdp')
    """
    matches = (re.match(r"([\w-]+).*extra == .(\w+)", line) for line in metadata.requires("unipd") or ())
    pairs = [match.groups() for match in matches if match and match.group(2) not in ("all", "docs", "dev")]
    size = Counter(extra for _, extra in pairs)
    return {name: extra for name, extra in sorted(pairs, key=lambda pair: -size[pair[1]]) if name != "unipd"}


def _check_optional(name: str, extra: str) -> str | Check:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, SKIP, f'not installed: pip install "unipd[{extra}]"')


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
    result = solve(problem, "accunipdgrad", accuracy=1e-4)
    require(result.status.success, result.status.message)
    error = float(np.abs(result.x - answer).max())
    require(error <= 0.05, f"the projection on the simplex is wrong by {error:.1e}")
    return "a small problem is solved and certified"


_STEPS = 3
"""Iterations of a job: every kernel of a method is called in its first few."""


def compile_kernels() -> Report:
    """Compile the kernels of each part, or load those that are kept already; one line for each part.

    Returns
    -------
    Report
        A check for each part.

    See Also
    --------
    check_installation

    Examples
    --------
    >>> [check.name for check in compile_kernels()][:2]  # doctest: +SKIP
    ['sampled entries', 'Pauli measurements']
    """
    if not can_compile():
        return Report((Check("kernels", NOTE, "not compiled: NUMBA_DISABLE_JIT is set, and NumPy takes their place"),))
    return Report(tuple(run_check(name, run_job, job) for name, job in JOBS.items()))


def count_kept_kernels() -> int:
    """Return the number of compiled kernels next to the package or in ``NUMBA_CACHE_DIR``."""
    from numba.core import config

    cache = str(vars(config).get("CACHE_DIR") or "")
    folder = Path(cache) if cache else Path(__file__).parent.parent
    return sum(1 for _ in folder.rglob("*.nbc"))


def run_job(job: Callable[[], Any]) -> str:
    """Return how many kernels were compiled, and in how many seconds."""
    from numba.core import event

    begun = time.perf_counter()
    with event.install_recorder("numba:compile") as recorder:
        job()
    count = sum(1 for _, each in recorder.buffer if each.is_start)
    return f"{count} compiled in {time.perf_counter() - begun:.1f} s" if count else "all kept from before"


def _complete() -> list[float]:
    """Call the kernels of sampled matrices and of long dual vectors, in both precisions and all orders.

    Those for images in parts, and for runs that are continued, are called by themselves: they need millions of entries.
    """
    from unipd.dual import call_oracle
    from unipd.dual.long_vectors import ChunkedSpace
    from unipd.spectral.kernels import orthonormalize_rows

    rng, found = np.random.default_rng(0), list[float]()
    rows, cols = np.divmod(rng.permutation(300 * 200)[: 1 << 15], 200)
    for dtype in (np.float64, np.float32):
        for order in (slice(None), np.argsort(rows, kind="stable")):
            sampling = unipd.maps.Sampling(rows[order], cols[order], (300, 200), dtype)
            b = rng.standard_normal(rows.size).astype(dtype)
            ball = unipd.sharp.NuclearBall((300, 200), 10.0)
            problem = unipd.Problem(ball, sampling, b, unipd.couplings.LeastSquares())
            for method in ("accunipdgrad", "corrective", "factored"):
                found.append(unipd.solve(problem, method, stop=unipd.MaxIterations(_STEPS)).objective)
            space, answer = ChunkedSpace(problem), call_oracle(problem, b)
            base = space.complete(b, answer)
            found += [np.linalg.norm(space.step(base, 1.0).dual), space.lower_model(base, answer).value]
        basis = rng.standard_normal((4, 20)).astype(dtype)
        orthonormalize_rows(basis, len(basis))
        found += basis.ravel().tolist()
    return found


def _measure() -> list[float]:
    """Call the kernels of Pauli maps, light and heavy, in both precisions."""
    from unipd.atoms import LowRank
    from unipd.maps.pauli import PauliMap, random_paulis

    rng, found = np.random.default_rng(0), list[float]()
    for precision in ("single", "double"):
        x, z = random_paulis(9, 2000, seed=0)
        measure = PauliMap(9, x, z, precision, method="matrix-free")
        u: Any = rng.standard_normal((512, 1)) + 1j * rng.standard_normal((512, 1))
        found += measure.image(LowRank(u, u, np.ones(1))).tolist()
        found += np.abs(measure.adjoint(rng.standard_normal(2000)).matvec(u[:, 0])).tolist()
    return found


def _cut() -> list[float]:
    """Call the kernels of semidefinite programs with sparse data and of cuts, and those of threads and of traces."""
    import scipy.sparse

    from unipd.apps.graphs.maxcut import maxcut
    from unipd.spectral.symmetric import lanczos_workspace, steps_by_rows

    nodes = 1 + SMALL // 4
    ends = np.random.default_rng(0).integers(0, nodes, (2, 4 * nodes))
    edges: Any = scipy.sparse.coo_array((np.ones(4 * nodes), tuple(ends)), (nodes, nodes))
    graph, few = (edges + edges.T).tocsr(), unipd.MaxIterations(_STEPS)
    cut = maxcut(graph, accuracy=0.1, effort=1e-4, stop=few)  # the least number of sweeps
    half = np.arange(nodes) < nodes // 2
    traces = [scipy.sparse.diags_array(rows.astype(float)) for rows in (half, ~half)]
    program = unipd.SDP.from_matrices(graph, traces, np.ones(2)).solve(method="factored", stop=few)
    long: Any = scipy.sparse.diags_array(np.arange(SMALL + 1.0), format="csr")
    alpha, beta, work = np.zeros(_STEPS), np.zeros(_STEPS), lanczos_workspace(np.full(SMALL + 1, (SMALL + 1) ** -0.5))
    steps_by_rows(long.indptr, long.indices, long.data, work, alpha, beta, 0, _STEPS, *np.zeros((2, 0)))
    return [cut.cut_value, program.objective, *alpha, *beta]


def _descend() -> list[float]:
    """Call the kernels of coordinate descent, with dense and sparse columns, and of entries that repeat."""
    import scipy.sparse

    A, found = np.random.default_rng(0).standard_normal((60, 90)), list[float]()
    for matrix in (A, scipy.sparse.csc_array(np.where(np.abs(A) > 1.5, A, 0.0))):
        problem = unipd.Problem(unipd.sharp.L1Ball(90, 2.0), matrix, A[:, 0], unipd.couplings.LeastSquares())
        found.append(unipd.solve(problem, "coordinate", stop=unipd.MaxIterations(_STEPS)).objective)
    places = np.arange(SMALL + 1) % 7
    return found + unipd.maps.Incidence(places, 7).adjoint(np.cos(places)).tolist()


def _classify() -> list[float]:
    """Call the kernels of support vector machines and of flows."""
    from unipd.apps.learning import SupportVectorClassifier

    samples = np.random.default_rng(0).standard_normal((60, 2))
    classifier = SupportVectorClassifier(kernel="rbf").fit(samples, samples[:, 0] > 0.0)
    flow = unipd.sharp.FlowPolytope([0, 0, 1, 2], [1, 2, 3, 3], source=0, sink=3)(np.array([1.0, 2.0, 3.0, 1.0]))
    return [*classifier.decision_function(samples).tolist(), *np.asarray(flow.atom).tolist()]


JOBS: dict[str, Callable[[], list[float]]] = {
    "sampled entries": _complete,
    "Pauli measurements": _measure,
    "semidefinite programs": _cut,
    "coordinate descent": _descend,
    "classification and flows": _classify,
}
"""Parts of the library with kernels, and what calls all of them; the numbers do not depend on the compiler."""
