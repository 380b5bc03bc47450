"""MaxCut of graphs with up to 2^20 nodes: how time and memory of bound and cut grow, with the fitted exponents.

    python benchmarks/maxcut_large.py [--quick] [--accuracy 1e-3] [--plot growth.png] [--nodes 1000 4000 ...] [--save F]

Random graphs of average degree 6, and toroidal grids with weights +-1 (as G81 of the G-set, with up to 65,536 nodes).
Every run is a process of its own, so that its peak memory is its own. Two threads, if there are two cores. With --save
every run is appended to a file of JSON lines, and all runs in that file count for the exponents and the picture.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from figures import note
from unipd.apps.graphs.maxcut import best_cut, cut_value, maxcut_program
from unipd.io import Graph
from unipd.memory import peak_memory
from unipd.run import MaxSeconds


def torus(nodes: int) -> Graph:
    """Return a toroidal grid, twice as long as wide, with random weights +1 and -1."""
    side = max(2, round((nodes / 2) ** 0.5))
    place = np.arange(2 * side * side).reshape(side, 2 * side)
    rows = np.concatenate([place.ravel(), place.ravel()])
    cols = np.concatenate([np.roll(place, -1, 0).ravel(), np.roll(place, -1, 1).ravel()])
    return Graph.of(place.size, rows, cols, np.random.default_rng(0).choice([-1.0, 1.0], rows.size))


def sparse(nodes: int) -> Graph:
    """Return a random graph with 3 edges per node."""
    generator = np.random.default_rng(0)
    edges = 3 * nodes
    ends = generator.integers(0, nodes, (2, edges + edges // 50 + 20))
    low, high = ends.min(axis=0), ends.max(axis=0)
    keys = generator.permutation(np.unique((low * nodes + high)[low < high]))[:edges]
    return Graph.of(nodes, keys // nodes, keys % nodes, np.ones(keys.size))


KINDS = {"torus": torus, "sparse": sparse}
MOST_NODES = {"torus": 65_536, "sparse": 1 << 20}
TICKS = (1000, 10_000, 100_000, 1_000_000)
NAMES = {"torus": "toroidal grid, weights +-1", "sparse": "random graph of average degree 6"}


def measure(kind: str, nodes: int, accuracy: float, limit: float) -> dict[str, Any]:
    """Solve one relaxation in this process, after a small one that loads and compiles everything."""
    maxcut_program(torus(400)).solve(1e-2)
    graph = KINDS[kind](nodes)
    begun, clock = time.process_time(), time.perf_counter()
    result = maxcut_program(graph).solve(accuracy, stop=MaxSeconds(limit))
    solved = time.process_time()
    sides = best_cut(graph, result.x.left)
    return {
        "kind": kind,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "status": result.status.value,
        "bound": result.dual_bound,
        "bound_kind": result.bound_kind,
        "gap": result.gap,
        "rank": result.extras["rank"],
        "products": result.counts.matvecs,
        "cut": cut_value(graph, sides),
        "seconds": time.perf_counter() - clock,
        "cpu": solved - begun,
        "cut_cpu": time.process_time() - solved,
        "megabytes": peak_memory() / 1e6,
    }


def apart(kind: str, nodes: int, accuracy: float, limit: float) -> dict[str, Any]:
    """Measure in a separate process and print a line."""
    command = [sys.executable, __file__, "--one", kind, "--nodes", str(nodes), "--accuracy", str(accuracy)]
    command += ["--limit", str(limit)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(
        f"{kind:6} {found['nodes']:6} nodes {found['edges']:6} edges  {found['status']:8} bound {found['bound']:11.3f} "
        f"({found['bound_kind']})  gap {found['gap']:.0e}  rank {found['rank']:3}  {found['products']:8} products  "
        f"cut {found['cut']:.0f} ({found['cut'] / found['bound']:.3f})  {found['seconds']:.1f} s "
        f"({found['cpu']:.1f} + {found['cut_cpu']:.1f} cpu)  {found['megabytes']:.0f} MB",
        flush=True,
    )
    label = f"{kind}, {found['nodes']} nodes"
    note(f"{label}: certified gap", found["gap"], "share", accuracy)
    note(f"{label}: time of the bound", found["cpu"], "CPU s")
    note(f"{label}: time of the cut", found["cut_cpu"], "CPU s")
    note(f"{label}: peak memory", found["megabytes"], "MB")
    return found


def exponent(runs: list[dict[str, Any]], name: str, least: int = 4000) -> float:
    """Return p of the least-squares fit c n^p to a figure of the runs with at least so many nodes."""
    chosen = [run for run in runs if run["nodes"] >= least]
    if len(chosen) < 2:
        return float("nan")
    nodes, values = (np.log([run[key] for run in chosen]) for key in ("nodes", name))
    return float(np.polyfit(nodes, values, 1)[0])


def draw(runs: list[dict[str, Any]], path: Path, accuracy: float) -> None:
    """Plot time and memory against nodes; runs that ended at the limit are hollow."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    panels = (("cpu", "CPU seconds of the bound"), ("megabytes", "peak memory (MB), with the cut"))
    for axis, (name, label) in zip(axes, panels, strict=True):
        for kind in KINDS:
            chosen = sorted((run for run in runs if run["kind"] == kind), key=lambda run: run["nodes"])
            if not chosen:
                continue
            nodes = [run["nodes"] for run in chosen]
            power = f" (n^{exponent(chosen, name):.2f})"
            line = axis.loglog(nodes, [run[name] for run in chosen], "-", label=NAMES[kind] + power)[0]
            for run in chosen:
                filled = line.get_color() if run["status"] == "solved" else "white"
                axis.plot(run["nodes"], run[name], "o", color=line.get_color(), markerfacecolor=filled)
        axis.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
        axis.minorticks_off()
        axis.set(xlabel="nodes", ylabel=label)
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    figure.suptitle(f"MaxCut, certified to {accuracy:g}; exponents fitted from 4,000 nodes on")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 4096, 16_384, 65_536, 262_144, 1 << 20])
    parser.add_argument("--accuracy", type=float, default=1e-3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that each graph may take")
    parser.add_argument("--quick", action="store_true", help="400 and 800 nodes only")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--save", type=Path, help="file of JSON lines with runs, kept and continued")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.nodes[0], given.accuracy, given.limit)))
        return
    sizes = [400, 800] if given.quick else given.nodes
    pairs = [(kind, nodes) for kind in given.kinds for nodes in sizes if nodes <= MOST_NODES[kind]]
    saved = given.save.read_text().splitlines() if given.save is not None and given.save.exists() else []
    runs = [json.loads(line) for line in saved]
    for kind, nodes in pairs:
        if not any(run["kind"] == kind and math.isclose(run["nodes"], nodes, rel_tol=0.1) for run in runs):
            runs.append(apart(kind, nodes, given.accuracy, given.limit))
            if given.save is not None:
                with given.save.open("a") as file:
                    print(json.dumps(runs[-1]), file=file)
    for kind in given.kinds:
        chosen = [run for run in runs if run["kind"] == kind]
        for name, label in (("cpu", "time of the bound"), ("megabytes", "peak memory")):
            power = exponent(chosen, name)
            print(f"{kind}: {label} grows as n^{power:.2f}")
            note(f"{kind}: exponent of the {label}", power)
    if given.plot is not None:
        draw(runs, given.plot, given.accuracy)


if __name__ == "__main__":
    main()
