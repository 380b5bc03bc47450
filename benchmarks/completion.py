"""Matrix completion over the nuclear ball: what each method takes to approach the optimum.

    python benchmarks/completion.py [--quick] [--limit SECONDS] [--only METHOD ...]

Formulation (a) of the paper, min (1/n) ||A(X) - b||^2 over ||X||_* <= kappa, on MovieLens 100K (the `ub` split, kappa
= 9975/2; $UNIPD_DATA or the cache must have it). ``--quick`` takes synthetic ratings. For every method: CPU seconds
of one thread and products until phi <= 1.10, 1.01 and 1.001 phi^*, and the share of its time inside products with the
sampled matrix, without what the stopwatches themselves take. Products inside a compiled run of Golub-Kahan steps have
no clock of their own, so that the time of such runs counts with the share that is products: right after a method has
ended, one of its compiled runs and as many products alone, in compiled code too, take turns. The factored methods
continue until the gap is certified to 0.1 % of phi^*.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit

import unipd
from figures import note
from stopwatch import Stopwatch, stopwatch_cost
from unipd.apps.completion import CompletionProblem, SolverOptions, ball_formulation, solve_completion
from unipd.maps import SampledMatrix
from unipd.maps.sampling import Pattern
from unipd.maps.sampling_kernels import multiply_serial
from unipd.reproduce import completion_data, generate_ratings

LEVELS = (1.10, 1.01, 1.001)
PHI_STAR = 0.2947170477
"""Optimum of the MovieLens problem, certified to 4e-8."""
LOOKS = 20
"""Iterations between two readings of the clock."""
PRODUCTS = ((Pattern, "product"), (Pattern, "transposed_product"), (Pattern, "sample_product"))
RUNS = ((SampledMatrix, "compiled_bidiagonalization"),)


def instance(quick: bool) -> tuple[CompletionProblem, float, float, str]:
    """Return the problem, its radius and its optimum."""
    if not quick and completion_data.find_movielens() is not None:
        train, _ = completion_data.load_movielens_split("ub")
        design = ball_formulation(train.users - 1, train.items - 1, train.values, completion_data.MOVIELENS_SHAPE)
        return design, completion_data.MOVIELENS_RADIUS, PHI_STAR, "MovieLens 100K, ub"
    if not quick:
        raise SystemExit("MovieLens 100K is not here: unipd data movielens-100k (or --quick)")
    made = generate_ratings((200, 300), 8000, rank=5)
    radius = 0.75 * float(np.linalg.svd(made.left @ made.right.T + 3.5, compute_uv=False).sum())
    design = ball_formulation(made.users, made.items, made.values, made.shape)
    return design, radius, solve_completion(design, radius, SolverOptions(1e-7)).objective, "synthetic ratings"


class Spent:
    """CPU seconds inside products with the sampled matrix, and inside compiled runs of Golub-Kahan steps."""

    def __init__(self) -> None:
        self.products, self.runs = Stopwatch(), Stopwatch()
        self.last: tuple[Any, ...] | None = None

    def share(self, total: float) -> float:
        """Return the share of the seconds that was inside products: their own calls, and their part of the runs."""
        if self.last is None:
            return self.products.seconds / total
        calls, (part, cost) = self.products.calls + self.runs.calls, products_of_run(*self.last)
        return (self.products.seconds + part * self.runs.seconds) / (total - cost * calls)


@contextmanager
def time_products() -> Generator[Spent]:
    """Time the products and the compiled runs; keep the last of these that made five steps or more."""
    spent = Spent()
    originals = [(place, name, getattr(place, name)) for place, name in (*PRODUCTS, *RUNS)]

    def record_run(original: Callable[..., Any]) -> Callable[..., Any]:
        timed = spent.runs.time_calls(original)

        def run(matrix: Any, *arguments: Any, **options: Any) -> Any:
            found = timed(matrix, *arguments, **options)
            if spent.last is None or found[0] >= 5:
                spent.last = (original, matrix, arguments, options)
            return found

        return run

    for place, name, original in originals:
        setattr(place, name, (spent.products.time_calls if (place, name) in PRODUCTS else record_run)(original))
    try:
        yield spent
    finally:
        for place, name, original in originals:
            setattr(place, name, original)


def products_of_run(original: Callable[..., Any], matrix: Any, arguments: Any, options: Any) -> tuple[float, float]:
    """Return the share of a compiled run that is products, and what a stopwatch costs after one.

    The run, and as many products alone, take turns.
    """
    pattern, made = matrix.pattern, original(matrix, *arguments, **options)[1]
    x, y = (np.ones(size) for size in matrix.shape[::-1])
    whole: list[float] = []
    alone: list[float] = []
    bare(pattern.structure, matrix.values, pattern.transposed, x, y, made)
    for _ in range(100):
        begun = time.process_time()
        original(matrix, *arguments, **options)
        between = time.process_time()
        bare(pattern.structure, matrix.values, pattern.transposed, x, y, made)
        whole.append(between - begun)
        alone.append(time.process_time() - between)
    share = min(1.0, float(np.median(alone) / np.median(whole)))
    return share, stopwatch_cost(lambda: original(matrix, *arguments, **options))


@njit
def bare(structure: Any, values: Any, transposed: bool, x: Any, y: Any, count: int) -> None:
    """Multiply by M and M^T alternately, this many times in all."""
    parts = np.empty((structure[3].size - 1, y.size if transposed else x.size), values.dtype)
    for number in range(count):
        if number % 2 == 0:
            multiply_serial(structure, values, transposed, x, parts, y)
        else:
            multiply_serial(structure, values, not transposed, y, parts, x)


class Ends(unipd.run.StoppingRule):
    """Stop after the last level or the time limit. It reads the clock only now and then, at negligible cost."""

    def __init__(self, optimum: float, limit: float) -> None:
        self.optimum, self.limit, self.begun, self.next = optimum, limit, time.process_time(), 0

    def __call__(self, info: Any) -> unipd.Status | None:
        """Return whether the run may end."""
        self.next = info.state.iteration + LOOKS
        reached = info.state.certificate.objective <= LEVELS[-1] * self.optimum
        return unipd.Status.STOPPED if reached or time.process_time() - self.begun > self.limit else None

    def earliest(self) -> float:
        """Return the iteration of the next reading."""
        return self.next


Passed = dict[float, tuple[float, int]]
"""Seconds and products at which the objective passed the levels."""


def passed_levels(history: Any, optimum: float, stretch: float) -> Passed:
    """Return when the objective passed the levels; the seconds of the history are stretched to those of the CPU."""
    objectives, passed = history["objective"], Passed()
    for level in LEVELS:
        below = np.flatnonzero(objectives <= level * optimum)
        if below.size:
            passed[level] = stretch * float(history["seconds"][below[0]]), int(history["matvecs"][below[0]])
    return passed


class Watch:
    """Callback of runs in stages: note when the objective passes the levels; stop after the time limit."""

    def __init__(self, optimum: float, limit: float) -> None:
        self.optimum, self.limit = optimum, limit
        self.begun = time.process_time()
        self.passed: Passed = {}
        self.earlier = self.seen = 0

    def __call__(self, info: Any) -> bool:
        """Return whether the run may end."""
        seconds, products = time.process_time() - self.begun, info.state.counts.matvecs
        if products < self.seen:  # a new stage of the same run
            self.earlier += self.seen
        self.seen = products
        for level in LEVELS:
            if info.state.certificate.objective <= level * self.optimum and level not in self.passed:
                self.passed[level] = (seconds, self.earlier + products)
        return seconds > self.limit


Run = Callable[[float, float], tuple[unipd.Result, Passed]]
"""From the optimum and a time limit to a result, and when the objective passed the levels."""


def contestants(design: CompletionProblem, radius: float) -> dict[str, Run]:
    """Return the methods of the library as they are."""
    problem = design.problem(radius)
    methods = {
        "frank-wolfe, open loop": unipd.FrankWolfe("open-loop"),
        "frank-wolfe, line search": unipd.FrankWolfe("line-search"),
        "frank-wolfe, short step": unipd.FrankWolfe("short-step"),
        "away-step": unipd.AwayStepFrankWolfe(),
        "pairwise": unipd.PairwiseFrankWolfe(),
        "unipdgrad": unipd.UniPDGrad(eps=1e-3),
        "unipdgrad, greedy": unipd.UniPDGrad(eps=1e-3, weights="greedy"),
        "accunipdgrad": unipd.AccUniPDGrad(eps=1e-3),
        "accunipdgrad, greedy": unipd.AccUniPDGrad(eps=1e-3, weights="greedy"),
        "accunipdgrad, analytic": unipd.AccUniPDGrad(eps=1e-3, step_rule="analytic"),
        "corrective": unipd.Corrective(),
    }

    def plain(method: Any) -> Run:
        def run(optimum: float, limit: float) -> tuple[unipd.Result, Passed]:
            ends, begun = Ends(optimum, limit), time.perf_counter()
            result = unipd.solve(problem, method, accuracy=1e-9, tracker="image", stop=ends)
            stretch = (time.process_time() - ends.begun) / (time.perf_counter() - begun)
            return result, passed_levels(result.history, optimum, stretch)

        return run

    return {name: plain(method) for name, method in methods.items()}


def factored_runs(design: CompletionProblem, radius: float, optimum: float) -> dict[str, Run]:
    """Return the factored runs, whose accuracy is a certified 0.1 % of the optimum."""
    problem = design.problem(radius)
    accuracy = 1e-3 * optimum / problem.scale(0.0)
    rank = min(130, *design.shape)
    general = unipd.Factored(rank=rank, inner_steps=20)

    def watch_run(solve: Callable[[Watch], unipd.Result]) -> Run:
        def run(optimum: float, limit: float) -> tuple[unipd.Result, Passed]:
            watch = Watch(optimum, limit)
            return solve(watch), watch.passed

        return run

    return {
        f"factored, rank {rank}": watch_run(
            lambda watch: unipd.solve(problem, general, accuracy=accuracy, callback=watch)
        ),
        f"completion, rank {rank}": watch_run(
            lambda watch: solve_completion(design, radius, SolverOptions(accuracy, rank=rank, callback=watch))
        ),
        "completion, rank 64 at first": watch_run(
            lambda watch: solve_completion(design, radius, SolverOptions(accuracy, callback=watch))
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, help="CPU seconds for each method")
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="these methods alone, by the names in the table")
    given = parser.parse_args()
    limit = given.limit or (0.3 if given.quick else 120.0)
    design, radius, optimum, title = instance(given.quick)
    print(f"{title}: {design.target.size} ratings, radius {radius:.1f}, optimum {optimum:.8f}")
    print(f"CPU seconds (products) to phi <= level * optimum; {limit:g} s each")
    levels = " ".join(f"{level:>17}" for level in LEVELS)
    print(f"{'method':30s} {levels} {'gap/optimum':>12s} {'total s':>8s} {'in products':>12s}")
    certified = factored_runs(design, radius, optimum)
    reached: dict[str, float | None] = {}
    contestants(design, radius)["frank-wolfe, open loop"](optimum, 0.0)  # compiles
    runs = {**contestants(design, radius), **certified}
    for name in given.only or runs:
        if name not in runs:
            raise SystemExit(f"no method {name!r}; there are {', '.join(runs)}")
    for name, run in runs.items():
        if given.only and name not in given.only:
            continue
        with one_thread():
            with time_products() as spent:
                begun = time.process_time()
                result, passed = run(optimum, limit)
                total = time.process_time() - begun
            share = spent.share(total)
        cells = " ".join(_cell(passed.get(level)) for level in LEVELS)
        gap = (result.objective - result.dual_bound) / optimum
        print(f"{name:30s} {cells} {gap:12.1e} {total:8.2f} {share:12.0%}", flush=True)
        note(f"{title}, {name}: time in products", share, "share", 0.8, at_least=True)
        reached[name] = passed[LEVELS[1]][0] if LEVELS[1] in passed else None
        if name in certified:
            note(f"{title}, {name}: certified gap / optimum", gap, "share", 1e-3)
            note(f"{title}, {name}: time to it", total, "CPU s", 20.0)
    hand_on(title, reached)


def hand_on(title: str, reached: dict[str, float | None]) -> None:
    """Note the seconds of each method to 1 % above the optimum, and how much quicker the application is."""
    ours = reached.get("completion, rank 64 at first")
    for name, seconds in reached.items():
        if seconds is None:
            continue
        note(f"{title}, {name}: to {LEVELS[1]} optimum", seconds, "CPU s")
        if ours is not None and not name.startswith(("factored", "completion")):
            note(f"{title}, {name} / completion", seconds / ours, "x")


def _cell(found: tuple[float, int] | None) -> str:
    return f"{'-':>17s}" if found is None else f"{found[0]:8.2f} {f'({found[1]})':>8s}"


@contextmanager
def one_thread() -> Generator[None]:
    import numba
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        numba.set_num_threads(before)


if __name__ == "__main__":
    main()
