r"""
Clusters with a bound
=====================

Lloyd's iteration for k-means stops at a local optimum and cannot tell how good it is. The semidefinite relaxation of
Peng and Wei can: its certified bound says that *no* clustering costs less. Where the clusters are separated the bound
is attained, and the clustering is proven optimal.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

from unipd.apps.learning import kmeans

rng = np.random.default_rng(5)
centres = np.array([[0.0, 0.0], [4.0, 0.5], [1.8, 3.5]])
spreads = (0.3, 0.7, 1.1, 1.5)

# %%
# The same three centres with growing spread.

figure, axes = plt.subplots(1, 4, figsize=(10.5, 3.0))
noise = rng.standard_normal((36, 2))
for axis, spread in zip(axes, spreads, strict=True):
    points = np.repeat(centres, 12, axis=0) + spread * noise
    found = kmeans(points, 3, accuracy=1e-3)
    for label in range(3):
        axis.plot(*points[found.labels == label].T, "o", markersize=4)
        axis.plot(
            *points[found.labels == label].mean(axis=0), "+", color="k", markersize=11
        )
    proven = 100.0 * (found.cost / found.sdp_bound - 1.0)
    axis.set_title(
        f"cost {found.cost:.1f}\nat most {proven:.1f} % above the optimum",
        fontsize="small",
    )
    axis.set(xticks=[], yticks=[])
plt.show()
