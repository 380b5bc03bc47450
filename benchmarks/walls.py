"""Problems at which column generation, or a plain first-order method, meets its walls, and what one would use instead.

    python benchmarks/walls.py [--quick] [--only "maximum entropy"] [--list] [--before old.json] [--json new.json]
    python benchmarks/walls.py --warm [--quick]

One row per problem (``wall_instances.py``): CPU seconds of one thread to a certified 1e-4 and 1e-6 with
``method="auto"``, the best of three runs (of one above 5 s), and those of the peers in the same run, with the
accuracy that they reach, measured alike. Penalised peers (celer, skglm) solve their form at the multiplier that our
run found. A peer that is not installed is skipped with a note; ``pip install -r benchmarks/requirements.txt`` installs
them all.
The last rows are chains of similar problems, solved to 1e-6 from nothing and each from the answer before it; ``--warm``
prints them alone.
``--json`` writes our seconds, and ``--before`` prints those of an earlier file beside the new ones.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from figures import note
from wall_instances import WALLS, CountedSet, Instance, warm_chains

LIMIT = 60.0
"""CPU seconds after which a run of ours ends."""
REPEATS = 3
SLOW = 5.0
"""Runs that take longer than this are not repeated."""


def least_time(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU time of several calls, and the last answer."""
    best, answer = np.inf, None
    for _ in range(REPEATS):
        begun = time.process_time()
        answer = call()
        best = min(best, time.process_time() - begun)
        if best > SLOW:
            break
    return best, answer


def run_ours(name: str, instance: Instance, limit: float, before: dict[str, float]) -> tuple[dict[str, float], Any]:
    """Solve to every accuracy; return the seconds by row and accuracy, and the last result."""
    problem, times, result = instance.problem, dict[str, float](), None
    unipd.solve(problem, accuracy=0.5, stop=unipd.MaxIterations(3))  # compiles what is needed
    for accuracy in instance.accuracies:
        coupling = problem.coupling
        before_run = coupling.projections if isinstance(coupling, CountedSet) else 0
        runs = 0

        def solve(accuracy: float = accuracy) -> Any:
            nonlocal runs
            runs += 1
            rule = unipd.MaxCpuSeconds(limit)
            return unipd.solve(problem, accuracy=accuracy, stop=rule, **instance.options)

        seconds, result = least_time(solve)
        key = f"{name} {accuracy:.0e}"
        times[key] = seconds if result.status.success else np.inf
        ago = f" (before {before[key]:.3g})" if key in before else ""
        counted = ""
        if isinstance(coupling, CountedSet):
            share = (coupling.projections - before_run) / (runs * result.iterations)
            counted = f", {share:.1f} projections an iteration"
            note(f"{name}: projections an iteration", share, "calls", 5.0)
        print(
            f"{name:20s} unipd {result.method:20s} {accuracy:.0e} {seconds:8.3f} s{ago}  {result.status.value}, "
            f"objective {result.objective:.8g}, gap {result.gap:.1e}, infeasibility {result.infeasibility:.1e}, "
            f"{result.iterations} iterations, {result.counts.oracle_calls} oracle calls{counted}",
            flush=True,
        )
    return times, result


def multiplier_of_norm(problem: unipd.Problem, result: unipd.Result) -> float:
    """Return the multiplier of the norm of a ball, nan elsewhere."""
    radius = getattr(problem.sharp, "radius", None)
    if radius is None:
        return float("nan")
    return problem.sharp.support(problem.map.adjoint(-np.asarray(result.dual))) / radius


def print_row(name: str, instance: Instance, limit: float, before: dict[str, float]) -> dict[str, float]:
    """Run and print one problem; return our seconds."""
    problem = instance.problem
    times, result = run_ours(name, instance, limit, before)
    ours, multiplier = times[f"{name} {instance.accuracies[-1]:.0e}"], multiplier_of_norm(problem, result)
    if isinstance(instance.goal, float):
        note(f"{name}: unipd", ours, "CPU s", instance.goal)
    for peer, run in instance.peers.items():
        seconds = np.nan
        try:
            for accuracy in instance.accuracies:
                seconds, x = least_time(lambda run=run, accuracy=accuracy: run(accuracy, multiplier))
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
        note(f"{name}: {peer} / unipd", seconds / ours, "x")
        if isinstance(instance.goal, tuple) and instance.goal[0] == peer:
            note(f"{name}: unipd / {peer}", ours / seconds, "x", instance.goal[1])
    return times


def solve_chain(problems: list[unipd.Problem], is_warm: bool) -> list[unipd.Result]:
    """Solve every problem, from the result before it if ``is_warm``."""
    results: list[unipd.Result] = []
    for problem in problems:
        start = results[-1] if is_warm and results else None
        results.append(unipd.solve(problem, accuracy=1e-6, start=start))
    return results


def print_warm_starts(quick: bool) -> None:
    """Print CPU seconds and iterations of chains of problems, cold and warm; the first of a chain is cold in both."""
    for kind, chains in warm_chains(quick).items():
        for name, problems in chains.items():
            solve_chain(problems[:2], True)  # compiles what is needed
            (cold, before), (warm, after) = (
                least_time(lambda problems=problems, is_warm=is_warm: solve_chain(problems, is_warm))
                for is_warm in (False, True)
            )
            assert all(result.status.success for result in (*before, *after))
            counts = [sum(result.iterations for result in results) for results in (before, after)]
            print(
                f"{kind:15s} {name:20s} {after[-1].method:11s} cold {cold:6.3f} s, {counts[0]:4d} iterations; "
                f"warm {warm:6.3f} s, {counts[1]:4d}; {cold / warm:.2f} x",
                flush=True,
            )
            note(f"{kind}, {name}: cold / warm", cold / warm, "x", 3.0 if name.startswith("ten") else 1.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small instances")
    parser.add_argument("--only", action="append", choices=list(WALLS), help="rows to run (default: all)")
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    parser.add_argument("--warm", action="store_true", help="warm starts alone")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds of a run of ours")
    parser.add_argument("--before", type=Path, help="our seconds from an earlier run with --json")
    parser.add_argument("--json", type=Path, help="write our seconds to this file")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module=r"(celer|skglm|spgl1|sklearn)")
    before = {} if options.before is None else json.loads(options.before.read_text(encoding="utf-8"))
    times: dict[str, float] = {}
    if options.warm:
        print_warm_starts(options.quick)
        return
    for name in options.only or WALLS:
        if options.list:
            print(f"{name:20s} {(WALLS[name].__doc__ or '').strip()}")
            continue
        instance = WALLS[name](options.quick)
        if instance is None:
            print(f"{name:20s} skipped: set UNIPD_DATA for the full size")
            continue
        times |= print_row(name, instance, options.limit, before)
    if not (options.only or options.list):
        print_warm_starts(options.quick)
    if options.json is not None:
        options.json.write_text(json.dumps(times, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
