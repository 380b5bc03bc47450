"""A transport-like linear program over a product of simplices, to a certified accuracy, and HiGHS in the same run.

    python benchmarks/transport.py [--quick] [--size 500] [--accuracy 1e-4]

min sum_ij c_ij x_ij with x_i in the probability simplex for every source i and sum_i x_i = b: as many simplices as
sources and one coupling constraint per sink. Costs are squared distances of points in the unit square, then independent
uniform numbers. Printed: CPU seconds of one thread, oracle calls, bounds and infeasibility; HiGHS by its dual simplex
and by its interior-point method (SciPy's ``linprog``), at their own accuracy of 1e-7.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import unipd
from figures import note
from unipd import maps, sharp


def costs_and_demands(kind: str, size: int) -> tuple[Any, Any]:
    """Return c and b; every source has one unit, the demands are random."""
    random = np.random.default_rng(0)
    if kind == "distances":
        sources, sinks = random.random((size, 2)), random.random((size, 2))
        costs = ((sources[:, None] - sinks[None]) ** 2).sum(-1)
    else:
        costs = random.random((size, size))
    return costs, random.dirichlet(np.ones(size)) * size


def transport(costs: Any, demands: Any) -> unipd.Problem:
    """Return the program with one block per source."""
    size = demands.size
    blocks = [sharp.Linear(row, sharp.Simplex(size)) for row in costs]
    return unipd.Problem(blocks, [maps.Identity(size) for _ in blocks], demands, "=")


def highs(costs: Any, demands: Any, method: str) -> tuple[float, float]:
    """Return HiGHS' optimum and CPU seconds."""
    size = demands.size
    rows = sp.kron(sp.eye_array(size), np.ones((1, size)))
    columns = sp.kron(np.ones((1, size)), sp.eye_array(size))
    matrix = sp.vstack([rows, columns]).tocsc()
    begun = time.process_time()
    answer = linprog(costs.ravel(), A_eq=matrix, b_eq=np.append(np.ones(size), demands), method=method)
    return float(answer.fun), time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 sources and sinks")
    parser.add_argument("--size", type=int, default=500, help="sources and sinks (default 500)")
    parser.add_argument("--accuracy", type=float, default=1e-4)
    options = parser.parse_args()
    size = 100 if options.quick else options.size
    for kind in ("distances", "uniform"):
        costs, demands = costs_and_demands(kind, size)
        problem = transport(costs, demands)
        begun = time.process_time()
        result = unipd.solve(problem, accuracy=options.accuracy, stop=unipd.MaxSeconds(120))
        ours = time.process_time() - begun
        print(
            f"{kind:10s} unipd auto    {ours:6.2f} s  {result.counts.oracle_calls} oracle calls, "
            f"{result.status.value}, "
            f"objective {result.objective:.6f}, bound {result.dual_bound:.6f}, "
            f"infeasibility {result.infeasibility:.1e}",
            flush=True,
        )
        for method in ("highs-ds", "highs-ipm"):
            optimum, seconds = highs(costs, demands, method)
            print(
                f"{kind:10s} {method:13s} {seconds:6.2f} s  optimum {optimum:.6f}, ratio {ours / seconds:.2f}",
                flush=True,
            )
            note(f"{kind}, {size} x {size}: {method} / unipd", seconds / ours, "x")


if __name__ == "__main__":
    main()
