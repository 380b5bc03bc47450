"""Semidefinite programs of SDPLIB: certified gap, feasibility, work and time.

    python benchmarks/sdp.py [FOLDER] [NAME ...] [--accuracy 1e-6] [--quick]

FOLDER holds files NAME.dat-s; by default it is sdplib in $UNIPD_DATA. ``--quick`` solves a synthetic program. Published
optima (SDPLIB 1.2) are compared where they are known; maxG51 is given as certified, since the published value does not
fit the data.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from figures import note
from programs import random_maxcut_program, sdplib

OPTIMA = {
    "mcp100": 226.1574,
    "mcp124-1": 141.9905,
    "mcp250-1": 317.2643,
    "mcp500-1": 598.1485,
    "maxG11": 629.1648,
    "maxG51": 4006.2556,
    "theta1": 23.0,
    "theta2": 32.87917,
    "gpp100": -44.9435,
    "gpp124-1": -7.3431,
    "truss1": -8.999996,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--accuracy", type=float, default=1e-6)
    parser.add_argument("--quick", action="store_true", help="a synthetic program of order 60")
    given = parser.parse_args()
    programs = {"synthetic": random_maxcut_program(60)} if given.quick else sdplib(given.folder, given.names or OPTIMA)
    heads = f"{'name':10} {'n':>5} {'m':>5} {'status':8} {'error':>8} {'gap':>8} {'infeas.':>8} {'rank':>4}"
    print(heads, f"{'products':>9} seconds")
    for name, program in programs.items():
        begun = time.perf_counter()
        result = program.solve(given.accuracy)
        seconds = time.perf_counter() - begun
        optimum = OPTIMA.get(name, float("nan"))
        error = abs(result.objective - optimum) / (1.0 + abs(optimum))
        print(
            f"{name:10} {program.order:5} {program.data.size:5} {result.status.value[:8]:8} {error:8.0e} "
            f"{result.gap:8.0e} {result.infeasibility:8.0e} {result.extras['rank']:4} {result.counts.matvecs:9} "
            f"{seconds:7.2f}",
            flush=True,
        )
        note(f"{name}: certified gap", result.gap, "share", given.accuracy)
        note(f"{name}: time", seconds, "s")


if __name__ == "__main__":
    main()
