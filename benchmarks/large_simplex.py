"""A linear program over the simplex with 10^6 variables and 100 inequalities, and HiGHS at a size it can solve.

    python benchmarks/large_simplex.py [--quick] [--variables 1000000] [--rows 100] [--peer 20000]

min <c, x> over x in the probability simplex with A x <= b, A and c Gaussian, b such that a random mixture is feasible.
Printed: CPU seconds of one thread, oracle calls and memory to a certified 1e-4 and 1e-6; then the same on a smaller
instance with HiGHS (SciPy's ``linprog``).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from typing import Any

import numpy as np
from scipy.optimize import linprog

import unipd
from figures import note
from unipd import sharp


def program(variables: int, rows: int) -> tuple[Any, Any, Any]:
    """Return c, A and b."""
    random = np.random.default_rng(0)
    A, c = random.standard_normal((rows, variables)), random.standard_normal(variables)
    mixture = random.dirichlet(np.ones(10))
    return c, A, A[:, :10] @ mixture


def ours(c: Any, A: Any, b: Any, accuracy: float) -> tuple[float, float]:
    """Solve, print a line, and return objective and CPU seconds."""
    problem = unipd.Problem(sharp.Linear(c, sharp.Simplex(c.size)), A, b, "<=")
    begun = time.process_time()
    result = unipd.solve(problem, accuracy=accuracy, stop=unipd.MaxSeconds(300))
    seconds = time.process_time() - begun
    print(
        f"{c.size:>8d} variables, accuracy {accuracy:.0e}: {seconds:.2f} s, {result.counts.oracle_calls} oracle calls, "
        f"{result.status.value}, gap {result.gap:.1e}, infeasibility {result.infeasibility:.1e}, "
        f"peak memory {result.peak_memory_bytes / 2**20:.0f} MiB (A has {A.nbytes / 2**20:.0f} MiB)",
        flush=True,
    )
    note(f"{c.size} variables to {accuracy:.0e}", seconds, "CPU s")
    note(f"{c.size} variables to {accuracy:.0e}: peak memory", result.peak_memory_bytes / 1e6, "MB")
    return result.objective, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 variables, peer at 2,000")
    parser.add_argument("--variables", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--peer", type=int, default=20_000, help="variables of the instance for HiGHS")
    options = parser.parse_args()
    variables, peer = (10_000, 2_000) if options.quick else (options.variables, options.peer)
    c, A, b = program(variables, options.rows)
    for accuracy in (1e-4, 1e-6):
        ours(c, A, b, accuracy)
    c, A, b = program(peer, options.rows)
    objective, seconds = ours(c, A, b, 1e-6)
    begun = time.process_time()
    answer = linprog(c, A_ub=A, b_ub=b, A_eq=np.ones((1, peer)), b_eq=[1.0], method="highs")
    spent = time.process_time() - begun
    ratio = seconds / spent
    print(f"{peer:>8d} variables, HiGHS: {spent:.2f} s, ratio {ratio:.2f}, difference {objective - answer.fun:.1e}")
    note(f"{peer} variables: HiGHS / unipd", spent / seconds, "x")


if __name__ == "__main__":
    main()
