"""Problems at which column generation, or a plain first-order method, meets its walls, and what one would use instead.

    python benchmarks/walls.py [--quick] [--only "maximum entropy"] [--list]

One row per problem: CPU seconds of one thread to a certified 1e-4 and 1e-6 with ``method="auto"``, the best of three
runs, and those of the peers on the same instance in the same run, with the accuracy that they reach, measured alike.
A peer that is not installed is skipped with a note. A further row is an entry in ``WALLS``: a function that returns an
:class:`Instance` for the full or the quick size.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

import unipd
from figures import note
from unipd import couplings, maps, sharp

ACCURACIES = (1e-4, 1e-6)
LIMIT = 60.0
"""CPU seconds after which a run of ours ends."""
REPEATS = 3


@dataclass(frozen=True)
class Instance:
    """A problem and the alternatives to unipd for it."""

    problem: unipd.Problem
    peers: dict[str, Callable[[float], Any]] = field(default_factory=dict)
    """By name: takes an accuracy and returns x, or raises ImportError where it is not installed."""
    goal: tuple[str, float] | None = None
    """A peer, and the multiple of its time at 1e-6 that ours should not exceed."""


def maximum_entropy(quick: bool) -> Instance:
    """Largest entropy with 100 given moments."""
    size, rows = (5_000, 50) if quick else (100_000, 100)
    random = np.random.default_rng(0)
    A, weights = random.standard_normal((rows, size)), np.exp(2.0 * random.standard_normal(size))
    b = A @ (weights / weights.sum())

    def softmax(dual: Any) -> tuple[float, Any]:
        y = -(A.T @ dual)
        total = logsumexp(y)
        return float(total), np.exp(y - total)

    def lbfgs(accuracy: float) -> Any:
        """SciPy's L-BFGS-B on the dual, until the residual is within the accuracy."""

        def dual(lam: Any) -> tuple[float, Any]:
            total, x = softmax(lam)
            return total + float(lam @ b), b - A @ x

        options = {"gtol": accuracy * np.linalg.norm(b) / np.sqrt(rows), "ftol": 1e-16, "maxcor": 20}
        return softmax(minimize(dual, np.zeros(rows), jac=True, method="L-BFGS-B", options=options).x)[1]

    return Instance(
        unipd.Problem(sharp.Entropy(size), A, b, "="), {"L-BFGS on the dual": lbfgs}, ("L-BFGS on the dual", 2.0)
    )


def entropic_transport(quick: bool) -> Instance:
    """Transport between two clouds of 300 points with an entropy of 0.05, one block per source."""
    size, strength = 60 if quick else 300, 0.05
    random = np.random.default_rng(0)
    sources, sinks = random.random((size, 2)), random.random((size, 2))
    costs = ((sources[:, None] - sinks[None]) ** 2).sum(-1)
    blocks = [sharp.Linear(row / strength, sharp.Entropy(size)) for row in costs]

    def sinkhorn(accuracy: float) -> Any:
        """POT's Sinkhorn iteration in the logarithmic domain."""
        import ot

        share = np.full(size, 1.0 / size)
        options = {"method": "sinkhorn_log", "stopThr": accuracy / size, "numItermax": 10_000, "warn": False}
        return unipd.atoms.Blocks(tuple(size * ot.sinkhorn(share, share, costs, strength, **options)))

    problem = unipd.Problem(blocks, [maps.Identity(size)] * size, np.ones(size), "=")
    return Instance(problem, {"POT sinkhorn_log": sinkhorn}, ("POT sinkhorn_log", 4.0))


def mixed_rows(quick: bool) -> Instance:
    """Sparse regression with side conditions: 20 rows hold exactly, 30 are upper limits, 150 are least squares."""
    size, sizes = (200, [5, 10, 40]) if quick else (2_000, [20, 30, 150])
    random = np.random.default_rng(0)
    A = random.standard_normal((sum(sizes), size))
    truth = np.where(np.arange(size) < 20, random.standard_normal(size), 0.0)
    b = A @ truth
    b[-sizes[2] :] += 0.1 * random.standard_normal(sizes[2])
    coupling = couplings.Product([couplings.Equality(), couplings.AtMost(), couplings.LeastSquares()], sizes)
    problem = unipd.Problem(sharp.L1Ball(size, float(np.abs(truth).sum())), A, b, coupling)

    def clarabel(accuracy: float) -> Any:
        """CVXPY with Clarabel at its own accuracy."""
        import cvxpy

        from unipd.interop.cvxpy import to_cvxpy

        del accuracy
        model = to_cvxpy(problem)
        model.solve(solver=cvxpy.CLARABEL)
        return model.variables()[0].value

    return Instance(problem, {"CVXPY with Clarabel": clarabel})


WALLS: dict[str, Callable[[bool], Instance]] = {
    "maximum entropy": maximum_entropy,
    "entropic transport": entropic_transport,
    "mixed rows": mixed_rows,
}
"""The rows of the table."""


def run_ours(problem: unipd.Problem, accuracy: float) -> tuple[float, unipd.Result]:
    """Return the least CPU time of several runs, and the result."""
    best, result = np.inf, unipd.Result(unipd.Status.STOPPED)
    for _ in range(REPEATS):
        begun = time.process_time()
        result = unipd.solve(problem, accuracy=accuracy, stop=unipd.MaxCpuSeconds(LIMIT))
        best = min(best, time.process_time() - begun)
        if best > LIMIT / REPEATS:
            break
    return best, result


def run_peer(peer: Callable[[float], Any], accuracy: float) -> tuple[float, Any]:
    """Return the least CPU time of several runs of a peer, and its point."""
    best, x = np.inf, None
    for _ in range(REPEATS):
        begun = time.process_time()
        x = peer(accuracy)
        best = min(best, time.process_time() - begun)
    return best, x


def print_row(name: str, instance: Instance) -> None:
    """Run and print one problem."""
    problem, times = instance.problem, dict[float, float]()
    for accuracy in ACCURACIES:
        times[accuracy], result = run_ours(problem, accuracy)
        print(
            f"{name:20s} unipd {result.method:20s} {accuracy:.0e} {times[accuracy]:8.3f} s  {result.status.value}, "
            f"objective {result.objective:.8g}, gap {result.gap:.1e}, infeasibility {result.infeasibility:.1e}, "
            f"{result.counts.oracle_calls} oracle calls",
            flush=True,
        )
    for peer, run in instance.peers.items():
        try:
            for accuracy in ACCURACIES:
                seconds, x = run_peer(run, accuracy)
                residual = problem.map.image(x) - problem.b
                print(
                    f"{name:20s} {peer:26s} {accuracy:.0e} {seconds:8.3f} s  "
                    f"objective {problem.sharp.objective(x) + problem.coupling.penalty(residual):.8g}, "
                    f"infeasibility {problem.infeasibility(residual):.1e}",
                    flush=True,
                )
        except ImportError as error:
            print(f"{name:20s} {peer:26s} not installed ({error})", flush=True)
            continue
        note(f"{name}: {peer} / unipd at 1e-6", seconds / times[1e-6], "x")
        if instance.goal is not None and instance.goal[0] == peer:
            note(f"{name}: unipd / {peer} at 1e-6", times[1e-6] / seconds, "x", instance.goal[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small instances")
    parser.add_argument("--only", action="append", choices=list(WALLS), help="rows to run (default: all)")
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    options = parser.parse_args()
    for name in options.only or WALLS:
        if options.list:
            print(f"{name:20s} {(WALLS[name].__doc__ or '').strip()}")
        else:
            print_row(name, WALLS[name](options.quick))


if __name__ == "__main__":
    main()
