"""What the library adds to the oracle and the map: CPU time in its own code as a share of the whole run.

    python benchmarks/overhead.py [--quick] [--profile METHOD]

Stopwatches time every call of the oracle and the map; what is left of a run, without what the stopwatches themselves
take, is the library's own: averaging, line search, certificates, history, stopping rules. One thread and CPU time, so
that a busy machine matters little; modules are loaded before. Also shown: the Python functions that an iteration
calls outside oracle and map. Two problems bracket what users have:

- least squares over the l1 ball, A dense 1000 x 5000 (a product with A costs milliseconds): goal at most 10 %;
- a linear program over the simplex of 10^6 points with 64 dense rows of single precision, A x <= b, where every
  iteration also moves a vector of 10^6 entries (the dense tracker) or an atom (the atom list): goal at most 10 %.

The corrective method's own time is its master problem over the atoms, shown for comparison and not bound by a goal. So
is a bare Frank-Wolfe loop, a few lines of NumPy with neither bound nor gap, history, rules or checks: what is
left for a library where a product of 2 ms has emptied the caches.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import cProfile
import pstats
import sys
from typing import Any

import numpy as np

import stopwatch
import unipd
from figures import note
from stopwatch import Stopwatch, clock, stopwatch_cost
from unipd.maps import DenseMatrix
from unipd.methods import Method
from unipd.sharp import L1Ball, Linear, Simplex

Parts = tuple[Any, Any, Any, Any]
Run = tuple[float, float, int]
"""CPU seconds of a run, the part of them outside oracle, map and stopwatch, and the iterations done."""
ORACLE = ("__call__", "value", "objective", "support", "contains")
MAP = ("image", "adjoint", "negated_adjoint")


def l1_problem(size: tuple[int, int]) -> Parts:
    """Return least squares over the l1 ball."""
    rng = np.random.default_rng(0)
    rows, columns = size
    A = rng.standard_normal((rows, columns)) / np.sqrt(rows)
    truth = np.zeros(columns)
    truth[rng.choice(columns, rows // 20, replace=False)] = rng.standard_normal(rows // 20)
    b = A @ truth + 0.01 * rng.standard_normal(rows)
    return L1Ball(columns, 0.9 * float(np.abs(truth).sum())), DenseMatrix(A), b, unipd.couplings.LeastSquares()


def simplex_problem(size: tuple[int, int]) -> Parts:
    """Return a linear program over the simplex with dense inequality rows."""
    rng = np.random.default_rng(1)
    rows, columns = size
    A = rng.standard_normal((rows, columns), np.float32)
    cost = rng.standard_normal(columns, np.float32)
    b = np.quantile(A[:, :1000], 0.4, axis=1).astype(np.float32)
    return Linear(cost, Simplex(columns)), DenseMatrix(A), b, "<="


def measure(parts: Parts, method: Method, tracker: str, limit: int, cost: float = 0.0) -> Run:
    """Measure a run; ``cost`` is what a stopwatch takes."""
    oracle, linear_map, b, coupling = parts
    watch = Stopwatch()
    problem = unipd.Problem(watch.on(oracle, ORACLE), watch.on(linear_map, MAP), b, coupling)
    watch.reset()
    begun = clock()
    result = unipd.solve(problem, method, accuracy=1e-9, tracker=tracker, stop=unipd.MaxIterations(limit))
    total = clock() - begun - watch.calls * cost
    return total, total - watch.seconds, result.iterations


def bare_loop(parts: Parts, limit: int, cost: float) -> Run:
    """Measure Frank-Wolfe with exact steps for least squares over the l1 ball, written down in NumPy."""
    ball, linear_map, b, _ = parts
    watch, A, radius = Stopwatch(), linear_map.matrix, ball.radius

    def vertex(y: Any) -> tuple[int, float]:
        place = int(np.abs(y).argmax())
        return place, radius * float(np.sign(y[place]))

    adjoint, oracle = watch.time_calls(lambda lam: lam @ A), watch.time_calls(vertex)
    column = watch.time_calls(lambda place, height: height * A[:, place])
    x, residual = np.zeros(A.shape[1]), -b
    begun = clock()
    for _ in range(limit):
        place, height = oracle(adjoint(-residual))
        direction = column(place, height) - (residual + b)
        gamma = min(1.0, max(0.0, -float(residual.dot(direction)) / float(direction.dot(direction))))
        residual = residual + gamma * direction
        x *= 1.0 - gamma
        x[place] += gamma * height
    total = clock() - begun - watch.calls * cost
    return total, total - watch.seconds, limit


def python_calls(parts: Parts, method: Method, tracker: str) -> float:
    """Return how many functions of Python an iteration calls outside oracle and map."""
    oracle, linear_map, b, coupling = parts
    watch, counted, depth = Stopwatch(), 0, 0
    problem = unipd.Problem(watch.on(oracle, ORACLE), watch.on(linear_map, MAP), b, coupling)

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal counted, depth
        if frame.f_code.co_filename == stopwatch.__file__:
            depth += {"call": 1, "return": -1}.get(event, 0)
        else:
            counted += event == "call" and not depth

    totals: list[int] = []
    for limit in CALL_COUNTS:
        sys.setprofile(count)
        unipd.solve(problem, method, accuracy=1e-9, tracker=tracker, stop=unipd.MaxIterations(limit))
        sys.setprofile(None)
        totals.append(counted)
        counted = 0
    return (totals[1] - totals[0]) / (CALL_COUNTS[1] - CALL_COUNTS[0])


ROUNDS = 5
"""Runs of each method, of which the middle one is shown: what caches hold depends on the neighbours.

All methods take turns, so that a busy minute falls on all of them, and the stopwatch is measured again in every round.
"""
CALL_COUNTS = (10, 30)
"""Iterations of two short runs whose calls are compared."""
FIRST_ORDER: list[Method] = [unipd.UniPDGrad(eps=0.05), unipd.AccUniPDGrad(eps=0.05)]
FRANK_WOLFE: list[Method] = [unipd.FrankWolfe(), unipd.AwayStepFrankWolfe(), unipd.PairwiseFrankWolfe()]


def middle(runs: list[Run]) -> Run:
    """Return the run whose own share is the median."""
    return sorted(runs, key=lambda run: run[1] / run[0])[len(runs) // 2]


def report(title: str, parts: Parts, cases: list[tuple[Method, str]], goal: float, limit: int, *, quick: bool) -> None:
    print(f"\n{title}" + ("" if quick else f"; goal at most {goal:.0%}"))
    print(f"{'method':<14}{'tracker':<9}{'iterations':>11}{'CPU s':>9}{'calls':>7}{'own us':>8}{'own share':>11}")
    for method, tracker in cases:
        measure(parts, method, tracker, 2)  # modules and kernels are loaded
    runs: list[list[Run]] = [[] for _ in cases]
    for _ in range(1 if quick else ROUNDS):
        cost = stopwatch_cost(repeats=50)
        for (method, tracker), mine in zip(cases, runs, strict=True):
            mine.append(measure(parts, method, tracker, limit, cost))
    for (method, tracker), mine in zip(cases, runs, strict=True):
        total, own, done = middle(mine)
        bound = "" if quick or method.name == "corrective" else "  met" if own <= goal * total else "  NOT met"
        calls = python_calls(parts, method, tracker)
        print(
            f"{method.name:<14}{tracker:<9}{done:>11}{total:>9.2f}{calls:>7.0f}{1e6 * own / done:>8.0f}"
            f"{own / total:>11.1%}{bound}"
        )
        upper = None if method.name == "corrective" else goal
        name = f"{title.split(',')[0]}: {{}} of {method.name}, {tracker}"
        note(name.format("own share"), own / total, "share", upper)
        note(name.format("own time per iteration"), own / done, "CPU s")


def profile(name: str, parts: Parts, count: int) -> None:
    """Print where the time of a run goes."""
    problem = unipd.Problem(*parts)
    profiler = cProfile.Profile()
    profiler.runcall(unipd.solve, problem, name, accuracy=1e-9, stop=unipd.MaxIterations(count))
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few iterations of smaller problems")
    parser.add_argument("--profile", metavar="METHOD", help="profile this method on both problems instead")
    options = parser.parse_args()
    small, large = ((500, 2000), (32, 100_000)) if options.quick else ((1000, 5000), (64, 1_000_000))
    count = 30 if options.quick else 200
    ball = l1_problem(small)
    simplex = simplex_problem(large)
    if options.profile:
        profile(options.profile, ball, count)
        profile(options.profile, simplex, count // 4)
        return
    corrective: Method = unipd.Corrective()
    cases = [(method, "dense") for method in [*FIRST_ORDER, *FRANK_WOLFE, corrective]]
    report(f"least squares over the l1 ball, {small[0]} x {small[1]}", ball, cases, 0.10, count, quick=options.quick)
    cost = stopwatch_cost()
    total, own, done = middle([bare_loop(ball, count, cost) for _ in range(1 if options.quick else ROUNDS)])
    print(f"{'bare NumPy':<14}{'dense':<9}{done:>11}{total:>9.2f}{'':>7}{1e6 * own / done:>8.0f}{own / total:>11.1%}")
    note("least squares over the l1 ball: own share of a bare NumPy loop", own / total, "share")
    cases = [(method, tracker) for method in FIRST_ORDER for tracker in ("dense", "atoms")] + [(corrective, "atoms")]
    report(
        f"linear program over the simplex, {large[0]} x {large[1]}, float32",
        simplex,
        cases,
        0.10,
        count // 4,
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
