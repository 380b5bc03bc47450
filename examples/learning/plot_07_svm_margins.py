r"""
Margins of support vector machines
==================================

The widest margin between two classes is the distance between their reduced convex hulls,

.. math:: \min \tfrac12 \Big\lVert \sum_{+} x_i \varphi_i - \sum_{-} x_i \varphi_i \Big\rVert^2, \quad
          0 \le x_i \le \tfrac{2}{\nu n}, \quad \sum_{+} x_i = \sum_{-} x_i = 1:

two blocks, each a capped simplex, and a least-squares loss. :math:`\nu` bounds the share of samples inside the margin.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from sklearn.datasets import make_moons  # pip install "unipd[learn]"

from unipd.apps.learning import SupportVectorClassifier

X, y = make_moons(200, noise=0.18, random_state=1)
settings = {
    "linear, nu = 0.4": ("linear", 0.4),
    "rbf, nu = 0.4": ("rbf", 0.4),
    "rbf, nu = 0.1": ("rbf", 0.1),
}
across, up = np.meshgrid(np.linspace(-1.7, 2.7, 200), np.linspace(-1.2, 1.7, 150))
grid = np.column_stack([across.ravel(), up.ravel()])

# %%
# The smaller :math:`\nu`, the fewer samples support the boundary and the closer it follows them. Circles mark support
# vectors; the gap of every fit is certified.

figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), sharey=True)
for axis, (title, (kernel, nu)) in zip(axes, settings.items(), strict=True):
    model = SupportVectorClassifier(nu=nu, kernel=kernel).fit(X, y)
    value = model.decision_function(grid).reshape(across.shape)
    axis.contourf(
        across, up, value, levels=[-1e9, 0.0, 1e9], colors=["C0", "C1"], alpha=0.15
    )
    axis.contour(
        across,
        up,
        value,
        levels=[-1.0, 0.0, 1.0],
        colors="0.3",
        linestyles=["--", "-", "--"],
        linewidths=1.0,
    )
    for label in (0, 1):
        axis.plot(*X[y == label].T, ".", color=f"C{label}")
    axis.plot(
        *X[model.support_].T,
        "o",
        fillstyle="none",
        color="0.2",
        markersize=7,
        markeredgewidth=0.6,
    )
    axis.set_title(
        f"{title}\naccuracy {model.score(X, y):.3f}, gap {model.suboptimality_:.0e}",
        fontsize="small",
    )
plt.show()
