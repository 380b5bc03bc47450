"""MaxCut bounds of large graphs: time and memory of two sizes that matter, and how both grow with the graph.

    python benchmarks/maxcut_large.py [--quick] [--accuracy 1e-5] [--plot growth.png] [--nodes 500 2000 ...]

Sparse random graphs (maxG60-sized: 7,000 nodes, 17,150 edges) and toroidal grids with weights +-1 (G81-sized: 20,000
nodes, 40,000 edges). Every run has its own process, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from figures import note
from unipd.apps.graphs import maxcut_program
from unipd.io import Graph
from unipd.run import MaxSeconds


def torus(nodes: int) -> Graph:
    """Return a toroidal grid, twice as long as wide, with random weights +1 and -1."""
    side = max(2, round((nodes / 2) ** 0.5))
    place = np.arange(2 * side * side).reshape(side, 2 * side)
    rows = np.concatenate([place.ravel(), place.ravel()])
    cols = np.concatenate([np.roll(place, -1, 0).ravel(), np.roll(place, -1, 1).ravel()])
    return Graph.of(place.size, rows, cols, np.random.default_rng(0).choice([-1.0, 1.0], rows.size))


def sparse(nodes: int) -> Graph:
    """Return a random graph with 2.45 edges per node."""
    generator = np.random.default_rng(0)
    edges = int(2.45 * nodes)
    ends = generator.integers(0, nodes, (2, edges + edges // 50 + 20))
    low, high = ends.min(axis=0), ends.max(axis=0)
    keys = generator.permutation(np.unique((low * nodes + high)[low < high]))[:edges]
    return Graph.of(nodes, keys // nodes, keys % nodes, np.ones(keys.size))


KINDS = {"torus": torus, "sparse": sparse}
TICKS = (500, 1000, 2000, 5000, 10_000, 20_000)
NAMES = {"torus": "toroidal grid, weights +-1 (2 edges per node)", "sparse": "random graph (2.45 edges per node)"}


def measure(kind: str, nodes: int, accuracy: float, limit: float) -> dict[str, Any]:
    """Solve one relaxation in this process, after a small one that loads and compiles everything."""
    maxcut_program(torus(400)).solve(1e-2)
    graph = KINDS[kind](nodes)
    begun = time.process_time()
    result = maxcut_program(graph).solve(accuracy, stop=MaxSeconds(limit))
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
        "seconds": result.seconds,
        "cpu": time.process_time() - begun,
        "megabytes": result.peak_memory_bytes / 1e6,
    }


def apart(kind: str, nodes: int, accuracy: float, limit: float) -> dict[str, Any]:
    """Measure in a separate process and print a line."""
    command = [sys.executable, __file__, "--one", kind, "--nodes", str(nodes), "--accuracy", str(accuracy)]
    command += ["--limit", str(limit)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(
        f"{kind:6} {found['nodes']:6} nodes {found['edges']:6} edges  {found['status']:8} bound {found['bound']:11.3f} "
        f"({found['bound_kind']})  gap {found['gap']:.0e}  rank {found['rank']:3}  {found['products']:8} products  "
        f"{found['seconds']:6.1f} s ({found['cpu']:.1f} cpu)  {found['megabytes']:4.0f} MB",
        flush=True,
    )
    label = f"{kind}, {found['nodes']} nodes"
    note(f"{label}: certified gap", found["gap"], "share", accuracy)
    note(f"{label}: time", found["cpu"], "CPU s")
    note(f"{label}: peak memory", found["megabytes"], "MB")
    return found


def draw(runs: list[dict[str, Any]], path: Path, accuracy: float) -> None:
    """Plot time and memory against nodes; runs that ended at the limit are hollow."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    panels = (("cpu", "CPU seconds"), ("megabytes", "peak memory (MB)"))
    for axis, (name, label) in zip(axes, panels, strict=True):
        for kind in KINDS:
            chosen = sorted((run for run in runs if run["kind"] == kind), key=lambda run: run["nodes"])
            nodes = [run["nodes"] for run in chosen]
            line = axis.loglog(nodes, [run[name] for run in chosen], "-", label=NAMES[kind])[0]
            for run in chosen:
                filled = line.get_color() if run["status"] == "solved" else "white"
                axis.plot(run["nodes"], run[name], "o", color=line.get_color(), markerfacecolor=filled)
        axis.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
        axis.minorticks_off()
        axis.set(xlabel="nodes", ylabel=label)
        axis.grid(alpha=0.3)
    axes[1].set_yscale("linear")
    axes[1].set_ylim(bottom=0.0)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, title=f"certified to {accuracy:g}", loc="outside upper center", ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[500, 1000, 2000, 4000, 7000, 12_000, 20_000])
    parser.add_argument("--accuracy", type=float, default=1e-5)
    parser.add_argument("--limit", type=float, default=150.0, help="seconds that each graph may take")
    parser.add_argument("--quick", action="store_true", help="400 and 800 nodes only")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.nodes[0], given.accuracy, given.limit)))
        return
    sizes = [400, 800] if given.quick else given.nodes
    runs = [apart(kind, nodes, given.accuracy, given.limit) for kind in KINDS for nodes in sizes]
    if given.plot is not None:
        draw(runs, given.plot, given.accuracy)


if __name__ == "__main__":
    main()
