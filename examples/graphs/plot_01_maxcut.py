"""Maximum cut of a random graph: a certified bound, and a cut close to it.

python examples/maxcut.py
"""

import numpy as np

from unipd.apps.graphs.maxcut import maxcut
from unipd.io import Graph


def main() -> None:
    generator = np.random.default_rng(0)
    nodes, edges = 500, 3000
    ends = generator.integers(0, nodes, (2, edges))
    graph = Graph.of(nodes, ends[0], ends[1], np.ones(edges))
    found = maxcut(graph, accuracy=1e-6)
    print(f"{graph.nodes} nodes, {graph.edges} edges")
    print(f"cut        {found.cut_value:.0f}")
    print(f"bound      {found.sdp_bound:.4f} ({found.result.bound_kind}): no cut is larger")
    print(f"ratio      {found.ratio:.4f}")
    result = found.result
    print(f"relaxation {result.iterations} iterations, gap {result.gap:.1e}, rank {result.extras['rank']}")


if __name__ == "__main__":
    main()
