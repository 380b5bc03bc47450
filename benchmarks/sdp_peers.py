"""The same semidefinite programs by `unipd`, by CVXPY + SCS and by pymanopt (Burer-Monteiro), in one run.

    python benchmarks/sdp_peers.py [FOLDER] [NAME ...] [--nodes 100 400 800 2000] [--limit 100] [--quick]

FOLDER holds files NAME.dat-s; by default it is sdplib in $UNIPD_DATA. They are joined by MaxCut programs of graphs
G(n, 10 / n). `unipd` solves to a certified 1e-6, SCS to 1e-4; pymanopt (trust regions, the rank that `unipd`
begins with, MaxCut only) gives no certificate. CPU seconds after one small program that loads and compiles everything;
a peer that the limit ended has a ratio with ">=".
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from figures import note
from programs import random_maxcut_program, sdplib
from unipd.apps.sdp import SDP, analyse

NAMES = ("mcp100", "mcp250-1", "mcp500-1", "maxG11", "theta2", "gpp100")


def cost_of(program: SDP) -> Any:
    return program.data.cost_and_constraints.adjoint(np.eye(1, program.data.size + 1)[0]).tocsr()


def by_unipd(program: SDP, limit: float) -> tuple[float, str]:
    result = program.solve(1e-6)
    return result.objective, f"{result.status.value}, certified gap {result.gap:.0e}"


def by_scs(program: SDP, limit: float) -> tuple[float, str]:
    import cvxpy as cp

    order = program.order
    flat = cp.vec(variable := cp.Variable((order, order), PSD=True), order="F")
    rows = [
        sp.csr_array(program.data.cost_and_constraints.adjoint(row).tocsr()).reshape((1, order**2))
        for row in _units(program)
    ]
    problem = cp.Problem(cp.Maximize(-(rows[0] @ flat)), [sp.csr_array(sp.vstack(rows[1:])) @ flat == program.data.b])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = problem.solve(solver="SCS", eps=1e-4, max_iters=100_000, time_limit_secs=limit)
    return (float("nan") if variable.value is None else float(value)), problem.status


def by_pymanopt(program: SDP, limit: float) -> tuple[float, str]:
    import pymanopt
    from pymanopt.manifolds import Oblique
    from pymanopt.optimizers import TrustRegions

    analysis = analyse(program.data)
    if not analysis.has_fixed_diagonal:
        return float("nan"), "no MaxCut program"
    trace = analysis.trace_bound()
    assert trace is not None
    cost, manifold = cost_of(program), Oblique(analysis.method(None, 0, trace).rank, program.order)
    value = pymanopt.function.numpy(manifold)(lambda y: float(np.sum(y * (cost @ y.T).T)))
    slope = pymanopt.function.numpy(manifold)(lambda y: 2.0 * (cost @ y.T).T)
    curve = pymanopt.function.numpy(manifold)(lambda y, z: 2.0 * (cost @ z.T).T)
    problem = pymanopt.Problem(manifold, value, euclidean_gradient=slope, euclidean_hessian=curve)
    np.random.seed(0)  # noqa: NPY002 - pymanopt draws its start from the global generator
    found = TrustRegions(verbosity=0, min_gradient_norm=1e-4, max_time=limit).run(problem)
    return -float(found.cost), "no certificate"


def _units(program: SDP) -> Any:
    return np.eye(program.data.size + 1)


SOLVERS: dict[str, Callable[[SDP, float], tuple[float, str]]] = {
    "unipd": by_unipd,
    "pymanopt": by_pymanopt,
    "SCS": by_scs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--nodes", type=int, nargs="*", default=[100, 400, 800, 2000])
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--limit", type=float, default=100.0, help="seconds that a peer may take")
    parser.add_argument("--largest-scs", type=int, default=800, help="largest order that SCS is given")
    parser.add_argument("--quick", action="store_true", help="100 nodes only")
    given = parser.parse_args()
    programs = {} if given.quick else sdplib(given.folder, given.names)
    programs |= {f"G({n},10/n)": random_maxcut_program(n) for n in ([100] if given.quick else given.nodes)}
    random_maxcut_program(50).solve(1e-3)
    for name, program in programs.items():
        ours = float("nan")
        for solver in given.solvers:
            if solver == "SCS" and program.order > given.largest_scs:
                continue
            begun = time.process_time()
            try:
                objective, remark = SOLVERS[solver](program, given.limit)
            except ModuleNotFoundError as error:
                print(f"{name:14} {solver:9} skipped: {error.name} is not installed")
                continue
            spent = time.process_time() - begun
            ours = spent if solver == "unipd" else ours
            ended = ">=" if solver == "SCS" and remark != "optimal" else "  "
            ratio = f"({ended}{spent / ours:6.1f} x)"
            print(f"{name:14} {solver:9} {spent:8.2f} s {ratio}  {objective:14.8g}  {remark}", flush=True)
            if solver == "unipd":
                note(f"{name}: time", spent, "CPU s")
            elif not math.isnan(objective) or ended == ">=":
                note(f"{name}: {solver} / unipd", spent / ours, "x")


if __name__ == "__main__":
    main()
