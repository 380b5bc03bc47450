"""From 1e-2 to certified 1e-6: seven ordinary constrained problems, our methods and CVXPY's solvers in one run.

    python benchmarks/high_accuracy.py [--quick] [--large] [--methods auto,corrective]

For every problem: oracle calls and CPU seconds until objective (against Clarabel's optimum) and feasibility are within
1e-2, 1e-4 and 1e-6, and the CPU time of CVXPY with Clarabel and with SCS (eps 1e-4), compilation included (always the
best of two runs, so that imports do not count). --large has ten times the rows, columns, matrix sizes and nodes. The
universal methods get eps = 3 |f*|, the choice that brings them furthest on problems with nu = 0.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterable

import unipd
from figures import note
from seven import Case, seven_problems
from unipd.run import IterationInfo

TARGETS = (1e-2, 1e-4, 1e-6)
LONG = 10.0
"""Seconds from which a peer's imports are negligible, so that one run is enough."""
METHODS = ("unipdgrad", "accunipdgrad", "corrective", "auto")


def peer(case: Case, **settings: object) -> tuple[float, float]:
    seconds, value = math.inf, math.nan
    for _ in range(2):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = case.model().solve(**settings)
        seconds = min(seconds, time.process_time() - start)
        if seconds > LONG:
            break
    return case.value(value), seconds


def hits(case: Case, method: str, optimum: float, seconds: float) -> list[tuple[int, float] | None]:
    """Return (oracle calls, seconds) at which each target was met, None where it was not."""
    found: list[tuple[int, float] | None] = [None] * len(TARGETS)
    scale = max(1.0, abs(optimum))

    def watch(info: IterationInfo) -> bool:
        certificate = info.state.certificate
        error = max(abs(certificate.objective - optimum) / scale, certificate.infeasibility)
        for place, target in enumerate(TARGETS):
            if found[place] is None and error <= target:
                found[place] = (info.state.counts.oracle_calls, time.process_time() - begun)
        return found[-1] is not None

    begun = time.process_time()
    stop = unipd.MaxIterations(3000) | unipd.MaxSeconds(seconds)
    settings = {"eps": 3.0 * abs(optimum)} if method in ("unipdgrad", "accunipdgrad") else {}
    unipd.solve(case.problem, method, accuracy=1e-7, stop=stop, callback=watch, **settings)
    return found


def best(runs: Iterable[list[tuple[int, float] | None]]) -> list[tuple[int, float] | None]:
    """Return the quicker of the runs at every target, so that imports do not count."""
    return [min((h for h in cells if h), key=lambda h: h[1], default=None) for cells in zip(*runs, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one problem, short limits")
    parser.add_argument("--large", action="store_true", help="ten times the size")
    parser.add_argument("--methods", default=",".join(METHODS), help="methods, separated by commas")
    options = parser.parse_args()
    limit = 2.0 if options.quick else 20.0
    print(f"{'problem':32s} {'method':14s}" + "".join(f"{target:>20.0e}" for target in TARGETS))
    for case in seven_problems(10 if options.large else 1)[: 1 if options.quick else None]:
        optimum, clarabel = peer(case, solver="CLARABEL")
        _, scs = peer(case, solver="SCS", eps=1e-4)
        for method in options.methods.split(","):
            row = best(hits(case, method, optimum, limit) for _ in range(2))
            cells = "".join(f"{f'{h[0]} calls {h[1]:.2f} s' if h else '-':>20s}" for h in row)
            print(f"{case.name:32s} {method:14s}{cells}", flush=True)
            if row[-1] is not None:
                note(f"{case.name}, {method}: to {TARGETS[-1]:.0e}", row[-1][1], "CPU s")
            if method == "auto" and row[-1] is not None:
                note(f"{case.name}: Clarabel / unipd", clarabel / max(row[-1][1], 1e-9), "x")
            if method == "auto" and row[1] is not None:
                note(f"{case.name}: SCS / unipd, both to {TARGETS[1]:.0e}", scs / max(row[1][1], 1e-9), "x")
        print(f"{case.name:32s} CVXPY          Clarabel {clarabel:.2f} s, SCS (1e-4) {scs:.2f} s", flush=True)


if __name__ == "__main__":
    main()
