"""Least squares over the l1 ball: every unipd method and first-order peers, on one instance and in one run.

    python benchmarks/first_order.py [--quick] [--seconds S]

min 1/2 ||A x - b||^2 over ||x||_1 <= kappa, A Gaussian 1000 x 5000, a 50-sparse truth, 5 % noise, kappa at 0.9 of the
truth's norm. Printed: CPU seconds (one thread) and gradient evaluations or oracle calls until the relative objective
(phi - phi*) / phi* falls below 1e-2, 1e-4 and 1e-6; "-" when the budget ends first: 3.5 CPU seconds per method, so that
all of them end within a minute on a quiet machine. A gradient is a product with A and one with A^T; an oracle call is
one with A^T and a column of A. Time spent on measuring is subtracted.

Peers (skipped with a note when not installed): copt's Frank-Wolfe, PyProximal's FISTA, and a plain NumPy FISTA with
restart. They project on the ball or solve over it; only unipd's rows also end with a certified bound.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import contextlib
import io
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

import unipd
from figures import note
from unipd.couplings import LeastSquares
from unipd.methods import Method
from unipd.sharp import L1Ball

TARGETS = (1e-2, 1e-4, 1e-6)
clock = time.process_time


class BudgetSpent(Exception):
    """Raised inside a peer's callback to end its run."""


@dataclass(frozen=True)
class Instance:
    """The data, and the objective by which all solvers are compared."""

    A: Any
    b: Any
    radius: float
    optimum: float = math.nan

    def projected_objective(self, x: Any) -> float:
        """Return 1/2 ||A x - b||^2 at x scaled back into the ball: an approximate projection gains nothing."""
        residual = self.A @ (x * min(1.0, self.radius / max(float(np.abs(x).sum()), 1e-300))) - self.b
        return 0.5 * float(residual @ residual)

    def gradient(self, x: Any) -> Any:
        """Return A^T (A x - b)."""
        return self.A.T @ (self.A @ x - self.b)

    def lipschitz(self) -> float:
        """Return ||A||^2 from a few products with A, one per cent too large: peers that need it pay for it."""
        return (
            1.01
            * float(svds(self.A, 1, tol=1e-3, v0=np.ones(min(self.A.shape)), return_singular_vectors=False)[0]) ** 2
        )


@dataclass
class Trace:
    """When a run reached each target: CPU seconds without measuring, and evaluations."""

    optimum: float
    budget: float
    evaluations: int = 0
    begun: float = field(default_factory=clock)
    idle: float = 0.0
    reached: dict[float, tuple[float, int]] = field(default_factory=dict)
    best: float = math.inf

    def see(self, objective: float, since: float | None = None) -> bool:
        """Record an objective; return whether the run may end. ``since`` is when measuring it began."""
        now = clock()
        self.idle += 0.0 if since is None else now - since
        spent = now - self.begun - self.idle
        self.best = min(self.best, (objective - self.optimum) / self.optimum)
        for target in TARGETS:
            if self.best <= target and target not in self.reached:
                self.reached[target] = (spent, self.evaluations)
        return len(self.reached) == len(TARGETS) or spent > self.budget


def make_instance(rows: int, columns: int, nonzeros: int) -> Instance:
    """Return the instance, with its optimum from a certified high-accuracy solve."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(rows, columns)) / np.sqrt(rows)
    truth = np.zeros(columns)
    truth[rng.choice(columns, nonzeros, replace=False)] = rng.normal(size=nonzeros)
    noise = 0.05 * np.linalg.norm(A @ truth) / np.sqrt(rows)
    b = A @ truth + noise * rng.normal(size=rows)
    radius = 0.9 * float(np.abs(truth).sum())
    problem = unipd.Problem(L1Ball(columns, radius), A, b, LeastSquares())
    best = unipd.solve(problem, "corrective", accuracy=1e-11)
    print(f"{rows} x {columns}: phi* in [{best.dual_bound:.10g}, {best.objective:.10g}] (certified)")
    return Instance(A, b, radius, best.objective)


def run_unipd(instance: Instance, method: Method, budget: float) -> Trace:
    problem = unipd.Problem(L1Ball(instance.A.shape[1], instance.radius), instance.A, instance.b, LeastSquares())
    trace = Trace(instance.optimum, budget)

    def watch(info: Any) -> bool:
        trace.evaluations = info.state.counts.oracle_calls
        return trace.see(info.state.certificate.objective)

    unipd.solve(problem, method, accuracy=1e-12, callback=watch, stop=unipd.MaxIterations(10**9))
    return trace


def project_l1(vector: Any, radius: float) -> Any:
    """Project on the l1 ball by sorting."""
    size = np.abs(vector)
    if size.sum() <= radius:
        return vector
    ordered = np.sort(size)[::-1]
    excess = np.cumsum(ordered) - radius
    last = np.nonzero(ordered - excess / np.arange(1, size.size + 1) > 0)[0][-1]
    return np.sign(vector) * np.maximum(size - excess[last] / (last + 1), 0.0)


def run_fista(instance: Instance, budget: float) -> Trace:
    """Accelerated projected gradient with the gradient restart of O'Donoghue and Candes."""
    trace = Trace(instance.optimum, budget)
    lipschitz = instance.lipschitz()
    x = y = np.zeros(instance.A.shape[1])
    momentum = 1.0
    while True:
        new = project_l1(y - instance.gradient(y) / lipschitz, instance.radius)
        trace.evaluations += 1
        if np.dot(y - new, new - x) > 0:
            momentum = 1.0
        larger = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        y = new + (momentum - 1.0) / larger * (new - x)
        x, momentum = new, larger
        since = clock()
        if trace.see(instance.projected_objective(x), since):
            return trace


def run_copt(instance: Instance, step: str, budget: float) -> Trace:
    import copt

    trace = Trace(instance.optimum, budget)

    def value_and_gradient(x: Any) -> tuple[float, Any]:
        trace.evaluations += 1
        residual = instance.A @ x - instance.b
        return 0.5 * float(residual @ residual), instance.A.T @ residual

    def watch(scope: dict[str, Any]) -> bool:
        since = clock()
        return not trace.see(instance.projected_objective(scope["x"]), since)

    ball = copt.constraint.L1Ball(instance.radius)
    extra = {} if step == "sublinear" else {"lipschitz": instance.lipschitz()}
    start = np.zeros(instance.A.shape[1])
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        copt.minimize_frank_wolfe(
            value_and_gradient, start, ball.lmo, step=step, callback=watch, max_iter=10**9, tol=0, jac=True, **extra
        )
    return trace


def run_pyproximal(instance: Instance, budget: float) -> Trace:
    import pylops
    import pyproximal

    trace = Trace(instance.optimum, budget)
    lipschitz = instance.lipschitz()
    loss = pyproximal.L2(Op=pylops.MatrixMult(instance.A), b=instance.b)
    ball = pyproximal.L1Ball(instance.A.shape[1], instance.radius)

    def watch(x: Any, *_: Any) -> None:
        since = clock()
        trace.evaluations += 1
        if trace.see(instance.projected_objective(x), since):
            raise BudgetSpent

    with contextlib.suppress(BudgetSpent):
        pyproximal.optimization.primal.ProximalGradient(
            loss,
            ball,
            x0=np.zeros(instance.A.shape[1]),
            tau=1.0 / lipschitz,
            niter=20_000,
            acceleration="fista",
            callback=watch,
        )
    return trace


UNIPD: dict[str, Method] = {
    "unipdgrad": unipd.UniPDGrad(eps=1e-3),
    "accunipdgrad": unipd.AccUniPDGrad(eps=1e-3),
    "accunipdgrad, greedy weights": unipd.AccUniPDGrad(eps=1e-3, weights="greedy"),
    "accunipdgrad, analytic step": unipd.AccUniPDGrad(eps=1e-3, step_rule="analytic"),
    "frank-wolfe, open loop": unipd.FrankWolfe("open-loop"),
    "frank-wolfe, line search": unipd.FrankWolfe("line-search"),
    "frank-wolfe, short step": unipd.FrankWolfe("short-step"),
    "away-step": unipd.AwayStepFrankWolfe(),
    "pairwise": unipd.PairwiseFrankWolfe(),
    "corrective": unipd.Corrective(),
}

PEERS: dict[str, Callable[[Instance, float], Trace]] = {
    "NumPy FISTA with restart": run_fista,
    "PyProximal FISTA": run_pyproximal,
    "copt Frank-Wolfe, DR": lambda instance, budget: run_copt(instance, "DR", budget),
    "copt Frank-Wolfe, backtracking": lambda instance, budget: run_copt(instance, "backtracking", budget),
    "copt Frank-Wolfe, sublinear": lambda instance, budget: run_copt(instance, "sublinear", budget),
}


def show(name: str, trace: Trace) -> None:
    cells = []
    for target in TARGETS:
        seconds, count = trace.reached.get(target, (math.nan, 0))
        cells.append(f"{'-':>10}{'-':>8}" if math.isnan(seconds) else f"{seconds:>10.2f}{count:>8}")
        if not math.isnan(seconds):
            note(f"{name} to {target:.0e}", seconds, "CPU s")
    print(f"{name:<34}{''.join(cells)}{trace.best:>10.0e}", flush=True)


def show_unipd(name: str, method: Method, instance: Instance, budget: float) -> Trace:
    trace = run_unipd(instance, method, budget)
    show(f"unipd {name}", trace)
    return trace


def show_peer(name: str, run: Callable[[Instance, float], Trace], instance: Instance, budget: float) -> Trace | None:
    try:
        trace = run(instance, budget)
        show(name, trace)
    except ImportError as error:
        print(f"{name:<34} skipped: {error.name} is not installed")
        return None
    return trace


def note_ratios(ours: list[Trace], peers: list[Trace]) -> None:
    """Note how many times longer than unipd's quickest method the quickest peer takes to each target."""
    for target in TARGETS:
        quickest = [
            min((trace.reached[target][0] for trace in traces if target in trace.reached), default=math.nan)
            for traces in (ours, peers)
        ]
        if not any(map(math.isnan, quickest)):
            note(f"quickest peer / quickest unipd method to {target:.0e}", quickest[1] / quickest[0], "x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a 200 x 1000 instance and 0.2 s per method")
    parser.add_argument("--seconds", type=float, help="CPU seconds per method (default 3.5, quick 0.2)")
    options = parser.parse_args()
    budget = options.seconds or (0.2 if options.quick else 3.5)
    instance = make_instance(200, 1000, 10) if options.quick else make_instance(1000, 5000, 50)
    print(f"at most {budget:g} CPU s a method; calls: gradients or oracle calls; best: relative objective at the end")
    print(f"{'to relative objective':<34}" + "".join(f"{target:>18.0e}" for target in TARGETS))
    print(f"{'method':<34}" + f"{'CPU s':>10}{'calls':>8}" * len(TARGETS) + f"{'best':>10}")
    ours = [show_unipd(name, method, instance, budget) for name, method in UNIPD.items()]
    peers = [show_peer(name, run, instance, budget) for name, run in PEERS.items()]
    note_ratios(ours, [trace for trace in peers if trace is not None])


if __name__ == "__main__":
    main()
