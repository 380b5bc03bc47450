"""Compile the kernels ahead of their first use: ``unipd doctor --compile``.

Numba compiles a kernel for the types with which it is called, and keeps the machine code beside the package (or in
``NUMBA_CACHE_DIR``). So each job here is a small problem, large enough for the kernels, with the types that occur.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from unipd._util.lazy import SMALL, can_compile
from unipd.doctor.report import NOTE, Check, Report, run_check

_STEPS = 3
"""Iterations of a job: every kernel of a method is called in its first few."""


def compile_kernels() -> Report:
    """Compile the kernels of each part, or load those that are kept already; one line for each part.

    >>> [check.name for check in compile_kernels()][:2]  # doctest: +SKIP
    ['sampled entries', 'Pauli measurements']
    """
    if not can_compile():
        return Report((Check("kernels", NOTE, "not compiled: NUMBA_DISABLE_JIT is set, and NumPy takes their place"),))
    return Report(tuple(run_check(name, _run_job, job) for name, job in JOBS.items()))


def count_kept_kernels() -> int:
    """Return the number of compiled kernels beside the package or in ``NUMBA_CACHE_DIR``."""
    from numba.core import config

    cache = str(vars(config).get("CACHE_DIR") or "")
    folder = Path(cache) if cache else Path(__file__).parent.parent
    return sum(1 for _ in folder.rglob("*.nbc"))


def _run_job(job: Callable[[], Any]) -> str:
    """Return how many kernels were compiled, and in how many seconds."""
    from numba.core import event

    begun = time.perf_counter()
    with event.install_recorder("numba:compile") as recorder:
        job()
    count = sum(1 for _, each in recorder.buffer if each.is_start)
    return f"{count} compiled in {time.perf_counter() - begun:.1f} s" if count else "all kept from before"


def _complete() -> None:
    """Call the kernels of sampled matrices and of long dual vectors, in both precisions and all orders."""
    rng = np.random.default_rng(0)
    rows, cols = np.divmod(rng.permutation(300 * 200)[: 1 << 15], 200)
    for dtype in (np.float64, np.float32):
        for order in (slice(None), np.argsort(rows, kind="stable")):
            sampling = unipd.maps.Sampling(rows[order], cols[order], (300, 200), dtype)
            b = rng.standard_normal(rows.size).astype(dtype)
            ball = unipd.sharp.NuclearBall((300, 200), 10.0)
            problem = unipd.Problem(ball, sampling, b, unipd.couplings.LeastSquares())
            for method in ("accunipdgrad", "corrective", "factored"):
                unipd.solve(problem, method, stop=unipd.MaxIterations(_STEPS))


def _measure() -> None:
    """Call the kernels of Pauli maps, light and heavy, in both precisions."""
    from unipd.atoms import LowRank
    from unipd.maps.pauli import PauliMap, random_paulis

    rng = np.random.default_rng(0)
    for precision in ("single", "double"):
        x, z = random_paulis(9, 2000, seed=0)
        measure = PauliMap(9, x, z, precision, method="matrix-free")
        u: Any = rng.standard_normal((512, 1)) + 1j * rng.standard_normal((512, 1))
        measure.image(LowRank(u, u, np.ones(1)))
        measure.adjoint(rng.standard_normal(2000)).matvec(u[:, 0])


def _cut() -> None:
    """Call the kernels of semidefinite programs with sparse data and of cuts."""
    import scipy.sparse

    from unipd.apps.graphs.maxcut import maxcut

    nodes = 1 + SMALL // 4
    ends = np.random.default_rng(0).integers(0, nodes, (2, 4 * nodes))
    edges: Any = scipy.sparse.coo_array((np.ones(4 * nodes), tuple(ends)), (nodes, nodes))
    maxcut(edges + edges.T, accuracy=0.1, effort=0.01, stop=unipd.MaxIterations(_STEPS))


def _descend() -> None:
    """Call the kernels of coordinate descent, with dense and sparse columns."""
    import scipy.sparse

    A = np.random.default_rng(0).standard_normal((60, 90))
    for matrix in (A, scipy.sparse.csc_array(np.where(np.abs(A) > 1.5, A, 0.0))):
        problem = unipd.Problem(unipd.sharp.L1Ball(90, 2.0), matrix, A[:, 0], unipd.couplings.LeastSquares())
        unipd.solve(problem, "coordinate", stop=unipd.MaxIterations(_STEPS))


def _classify() -> None:
    """Call the kernels of support vector machines and of flows."""
    from unipd.apps.learning import SupportVectorClassifier

    samples = np.random.default_rng(0).standard_normal((60, 2))
    SupportVectorClassifier(kernel="rbf").fit(samples, samples[:, 0] > 0.0)
    unipd.sharp.FlowPolytope([0, 0, 1, 2], [1, 2, 3, 3], source=0, sink=3)(np.ones(4))


JOBS: dict[str, Callable[[], Any]] = {
    "sampled entries": _complete,
    "Pauli measurements": _measure,
    "semidefinite programs": _cut,
    "coordinate descent": _descend,
    "classification and flows": _classify,
}
"""Parts of the library with kernels, and what calls them."""
