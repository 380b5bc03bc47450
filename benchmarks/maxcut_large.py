"""MaxCut bounds of large sparse random graphs: time, products and memory as the graph grows.

python benchmarks/maxcut_large.py [--nodes 1000 5000 20000] [--degree 8] [--accuracy 1e-4]
"""

from __future__ import annotations

import argparse

import numpy as np

from unipd.apps.maxcut.cut import maxcut_program
from unipd.io import Graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 5000, 20_000])
    parser.add_argument("--degree", type=int, default=8)
    parser.add_argument("--accuracy", type=float, default=1e-4)
    given = parser.parse_args()
    for nodes in given.nodes:
        generator = np.random.default_rng(0)
        ends = generator.integers(0, nodes, (2, nodes * given.degree // 2))
        graph = Graph.of(nodes, ends[0], ends[1], np.ones(ends.shape[1]))
        result = maxcut_program(graph).solve(given.accuracy)
        print(
            f"{nodes:7} nodes {graph.edges:8} edges  {result.status.value:8} bound {result.dual_bound:12.3f} "
            f"({result.bound_kind})  gap {result.gap:.0e}  rank {result.rank:3}  {result.counts.matvecs:8} products  "
            f"{result.seconds:7.1f} s  {result.peak_memory_bytes / 1e6:6.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
