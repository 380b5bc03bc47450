"""What the library adds to the oracle and the map: CPU time in its own code as a share of the whole run.

    python benchmarks/overhead.py [--quick] [--profile METHOD]

Stopwatches time every call of the oracle and the map; what is left of a run, without what the stopwatches themselves
take, is the library's own: averaging, line search, certificates, history, stopping rules. One thread and CPU time, so
that a busy machine matters little. Two problems bracket what users have:

- least squares over the l1 ball, A dense 1000 x 5000 (a product with A costs milliseconds): goal at most 5 %;
- a linear program over the simplex of 10^6 points with 64 dense rows of single precision, A x <= b, where every
  iteration also moves a vector of 10^6 entries (the dense tracker) or an atom (the atom list): goal at most 10 %.

The corrective method's own time is its master problem over the atoms, shown for comparison and not bound by a goal.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import copy
import cProfile
import pstats
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import unipd
from figures import note
from unipd.maps import DenseMatrix
from unipd.methods import Method
from unipd.sharp import L1Ball, Linear, Simplex

clock = time.process_time


class Stopwatch:
    """CPU seconds spent inside the wrapped calls, and how many there were."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self.busy = False

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call with its time added to the watch; calls inside of timed ones are part of those."""

        def run(*arguments: Any, **options: Any) -> Any:
            if self.busy:
                return call(*arguments, **options)
            self.busy, begun = True, clock()
            try:
                return call(*arguments, **options)
            finally:
                self.calls += 1
                self.seconds += clock() - begun
                self.busy = False

        return run

    def on(self, inner: Any, names: tuple[str, ...]) -> Any:
        """Return a twin of an object whose named methods are timed; all else is found as directly as before."""
        kind = type(inner)
        twin = copy.copy(inner)
        twin.__class__ = type(kind.__name__, (kind,), {name: self.timed(getattr(kind, name)) for name in names})
        return twin


def stopwatch_cost(repeats: int = 200) -> float:
    """Return the seconds that one timed call adds outside of what the watch sees, where a product went before.

    A product with a large matrix empties the caches, so that even a call of nothing takes microseconds after it.
    """
    large, around, alone = np.ones((1000, 5000)), [], []
    vector, watch = np.ones(1000), Stopwatch()
    nothing = watch.timed(lambda: None)
    for _ in range(repeats):
        _ = vector @ large
        begun, watch.seconds = clock(), 0.0
        nothing()
        around.append(clock() - begun - watch.seconds)
        _ = vector @ large
        begun = clock()
        alone.append(clock() - begun)
    return float(np.median(around) - np.median(alone))


Parts = tuple[Any, Any, Any, Any]
STOPWATCH_COST = stopwatch_cost()
ORACLE = ("__call__", "value", "objective", "support", "contains")
MAP = ("image", "adjoint")


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


def measure(parts: Parts, method: Method, tracker: str, limit: int) -> tuple[float, float, int]:
    """Return the CPU seconds of a run, the part outside oracle, map and stopwatch, and the iterations done."""
    oracle, linear_map, b, coupling = parts
    watch = Stopwatch()
    problem = unipd.Problem(watch.on(oracle, ORACLE), watch.on(linear_map, MAP), b, coupling)
    watch.seconds, watch.calls = 0.0, 0
    begun = clock()
    result = unipd.solve(problem, method, accuracy=1e-9, tracker=tracker, stop=unipd.MaxIterations(limit))
    total = clock() - begun - watch.calls * STOPWATCH_COST
    return total, total - watch.seconds, result.iterations


FIRST_ORDER: list[Method] = [unipd.UniPDGrad(eps=0.05), unipd.AccUniPDGrad(eps=0.05)]
FRANK_WOLFE: list[Method] = [unipd.FrankWolfe(), unipd.AwayStepFrankWolfe(), unipd.PairwiseFrankWolfe()]


def report(title: str, parts: Parts, cases: list[tuple[Method, str]], goal: float, limit: int, *, quick: bool) -> None:
    print(f"\n{title}" + ("" if quick else f"; goal at most {goal:.0%}"))
    print(f"{'method':<14}{'tracker':<9}{'iterations':>11}{'CPU s':>9}{'own ms/iteration':>18}{'own share':>11}")
    for method, tracker in cases:
        total, own, done = measure(parts, method, tracker, limit)
        bound = "" if quick or method.name == "corrective" else "  met" if own <= goal * total else "  NOT met"
        print(
            f"{method.name:<14}{tracker:<9}{done:>11}{total:>9.2f}{1e3 * own / done:>18.3f}{own / total:>11.1%}{bound}"
        )
        judged = None if method.name == "corrective" else goal
        note(f"{title.split(',')[0]}: own share of {method.name}, {tracker}", own / total, "share", judged)


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
    report(f"least squares over the l1 ball, {small[0]} x {small[1]}", ball, cases, 0.05, count, quick=options.quick)
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
