r"""
Shortest paths that share roads
===============================

Convoys cross a city from west to east. Alone, each would take a shortest path, which is what the oracle of the flow
polytope returns (one dynamic program). Together they may not exceed the capacity of any road:
:math:`x_1 + \ldots + x_m \le c`, one row per edge. The multipliers :math:`\lambda` are the tolls that would make
drivers spread by themselves.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from matplotlib.collections import LineCollection

import unipd

rng = np.random.default_rng(4)
width, height = 12, 8
node = np.arange(width * height).reshape(width, height)
place = np.array([(i, j) for i in range(width) for j in range(height)])
steps = [
    (i, j, k)
    for i in range(width - 1)
    for j in range(height)
    for k in (j - 1, j, j + 1)
    if 0 <= k < height
]
tails = np.array([node[i, j] for i, j, _ in steps])
heads = np.array([node[i + 1, k] for i, _, k in steps])
roads = len(steps)
length = np.hypot(*(place[heads] - place[tails]).T) * rng.uniform(0.8, 1.4, roads)
trips = [(1, 5), (2, 3), (3, 4), (4, 2), (5, 4)]

# %%
# One block per convoy: a unit flow from its start to its end, priced by length.

paths = [
    unipd.sharp.Linear(
        length, unipd.sharp.FlowPolytope(tails, heads, node[0, start], node[-1, end])
    )
    for start, end in trips
]
every_road = [np.eye(roads)] * len(trips)
free = unipd.solve(
    unipd.Problem(paths, every_road, np.full(roads, 5.0), "<="), accuracy=1e-6
)
limited = unipd.solve(
    unipd.Problem(paths, every_road, np.full(roads, 1.0), "<="), accuracy=1e-6
)
print(
    f"free: {free.objective:.2f}; with capacities: {limited.objective:.2f} (at least {limited.dual_bound:.2f})"
)

# %%
# Left, all convoys on their shortest paths. Right, at most one per road; thick grey roads are those with a toll.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), sharey=True)
segments = np.stack([place[tails], place[heads]], axis=1).astype(float)
for axis, result, title in zip(
    axes, (free, limited), ("no capacities", "capacity 1 on every road"), strict=True
):
    axis.add_collection(LineCollection(segments, colors="0.88", linewidths=0.8))
    axis.add_collection(
        LineCollection(segments, colors="0.75", linewidths=20.0 * result.dual)
    )
    for k, flow in enumerate(result.x.parts):
        shift = [0.0, 0.07 * (k - 2)]
        widths = 3.0 * unipd.atoms.dense(flow)
        axis.add_collection(
            LineCollection(segments + shift, colors=f"C{k}", linewidths=widths)
        )
    axis.set(
        title=f"{title}: total length {result.objective:.2f}",
        xlim=(-0.3, width - 0.7),
        ylim=(-0.5, height - 0.5),
    )
    axis.axis("off")
plt.show()
