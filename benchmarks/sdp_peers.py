"""The same semidefinite programs with interior-point and splitting solvers through CVXPY.

    python benchmarks/sdp_peers.py FOLDER NAME ... [--solver SCS CLARABEL] [--accuracy 1e-6]

Times include what each needs to set up; the objective is that of the file's maximisation.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd.apps.sdp import SDP


def as_cvxpy(program: SDP) -> tuple[Any, Any]:
    """Return (problem, variable) with one equation a row of the data."""
    import cvxpy as cp

    order, size = program.order, program.data.size
    rows = [sp.csr_array(program.data.extended.adjoint(row).tocsr()).reshape((1, order**2)) for row in np.eye(size + 1)]
    x = cp.Variable((order, order), PSD=True)
    flat = cp.vec(x, order="F")
    data = sp.csr_array(sp.vstack(rows[1:]))
    return cp.Problem(cp.Maximize(-(rows[0] @ flat)), [data @ flat == program.data.b]), x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--solver", nargs="+", default=["SCS", "CLARABEL"])
    parser.add_argument("--accuracy", type=float, default=1e-6)
    given = parser.parse_args()
    for name in given.names:
        program = SDP.from_file(given.folder / f"{name}.dat-s")
        begun = time.perf_counter()
        ours = program.solve(given.accuracy)
        print(
            f"{name:10} unipd    {time.perf_counter() - begun:8.2f} s  {ours.objective:.8g}  gap {ours.gap:.0e}",
            flush=True,
        )
        for solver in given.solver:
            begun = time.perf_counter()
            problem, _ = as_cvxpy(program)
            options = {"eps": given.accuracy, "max_iters": 100_000} if solver == "SCS" else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = problem.solve(solver=solver, **options)
            print(
                f"{name:10} {solver:8} {time.perf_counter() - begun:8.2f} s  {value:.8g}  {problem.status}", flush=True
            )


if __name__ == "__main__":
    main()
