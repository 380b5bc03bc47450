r"""
Theta, independent sets and colourings
======================================

Lovász's theta number lies between two quantities that are hard to compute, :math:`\alpha(G) \le \vartheta(G) \le
\chi(\bar G)`: the largest set of nodes without an edge, and the fewest colours of the complement. One semidefinite
program gives both bounds; for perfect graphs they meet.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from matplotlib.collections import LineCollection

from unipd.apps.graphs.theta import theta
from unipd.io import Graph

rng = np.random.default_rng(1)


def greedy_colours(adjacency):
    """Return a proper colouring, nodes of large degree first."""
    colours = np.full(len(adjacency), -1)
    for node in np.argsort(-adjacency.sum(axis=1)):
        taken = set(colours[adjacency[node] > 0])
        colours[node] = next(
            colour for colour in range(len(adjacency)) if colour not in taken
        )
    return colours


# %%
# Colouring a random geometric graph: theta of the complement says that fewer colours cannot do.

place = rng.random((40, 2))
adjacency = (np.linalg.norm(place[:, None] - place[None], axis=2) < 0.22) & ~np.eye(
    40, dtype=bool
)
rows, cols = np.nonzero(np.triu(adjacency))
graph = Graph.of(40, rows, cols, np.ones(rows.size))
colours = greedy_colours(adjacency.astype(int))
lower = theta(graph, complement=True).objective
print(
    f"{colours.max() + 1} colours suffice, and at least {int(np.ceil(lower - 1e-4))} are needed (theta {lower:.4f})"
)

# %%
# Theta of odd cycles has a closed form, :math:`n \cos(\pi/n) / (1 + \cos(\pi/n))`, between the two integers.

sizes = np.arange(5, 16, 2)
values = [
    theta(Graph.of(n, np.arange(n), np.roll(np.arange(n), -1), np.ones(n))).objective
    for n in sizes
]

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8))
axes[0].add_collection(
    LineCollection(
        np.stack([place[rows], place[cols]], axis=1), colors="0.8", linewidths=1.0
    )
)
axes[0].scatter(*place.T, c=colours, cmap="tab10", s=45, zorder=3)
axes[0].set_title(f"{colours.max() + 1} colours; theta of the complement: {lower:.2f}")
axes[0].axis("off")
closed = sizes * np.cos(np.pi / sizes) / (1.0 + np.cos(np.pi / sizes))
axes[1].plot(
    sizes, (sizes + 1) // 2, "v:", color="0.6", label="colours of the complement"
)
axes[1].plot(sizes, closed, color="C1", label="closed form")
axes[1].plot(sizes, values, "o", color="C0", label="computed theta")
axes[1].plot(sizes, sizes // 2, "^:", color="0.6", label="largest independent set")
axes[1].set(xlabel="length of an odd cycle")
axes[1].legend(fontsize="small")
plt.show()
