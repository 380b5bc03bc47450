r"""
Maximum cut of a graph
======================

Colour the nodes of a graph with two colours so that as many edges as possible join different ones. The semidefinite
relaxation :math:`\max \tfrac14 \langle L, X \rangle` over :math:`X \succeq 0`, :math:`\operatorname{diag} X = 1` bounds
every cut; random hyperplanes (Goemans and Williamson) and a local search turn its solution into a cut close to the
bound.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from matplotlib.collections import LineCollection
from scipy.spatial import Delaunay

from unipd.apps.graphs.maxcut import maxcut
from unipd.io import Graph

rng = np.random.default_rng(3)
place = rng.random((120, 2))
triangles = Delaunay(place).simplices
edges = np.unique(
    np.sort(
        np.concatenate(
            [triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]
        ),
        axis=1,
    ),
    axis=0,
)
graph = Graph.of(len(place), edges[:, 0], edges[:, 1], np.ones(len(edges)))
found = maxcut(graph, accuracy=1e-6)
print(
    f"cut {found.cut_value:.0f} of {len(edges)} edges; no cut exceeds {found.sdp_bound:.3f} ({found.result.bound_kind})"
)

# %%
# Blue edges are cut, grey ones are not: a triangle always keeps one of its edges.

figure, axis = plt.subplots(figsize=(6.0, 5.0))
sides = np.asarray(found.sides) > 0
is_cut = sides[edges[:, 0]] != sides[edges[:, 1]]
axis.add_collection(
    LineCollection(place[edges[~is_cut]], colors="0.75", linewidths=1.0)
)
axis.add_collection(
    LineCollection(place[edges[is_cut]], colors="C0", linewidths=1.2, alpha=0.7)
)
axis.scatter(
    *place.T, c=np.where(sides, "white", "black"), edgecolors="black", s=28, zorder=3
)
axis.set_title(
    f"{found.cut_value:.0f} of {len(edges)} edges cut, at most {np.floor(found.sdp_bound):.0f} possible"
)
axis.axis("off")
plt.show()
