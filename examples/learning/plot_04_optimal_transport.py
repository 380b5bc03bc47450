r"""
Optimal transport of colours
============================

The cheapest way to move one histogram onto another: :math:`\min \langle C, P \rangle` over plans :math:`P \ge 0` with
given row and column sums. Each row of :math:`P` lies in a simplex of its own, and only the column sums couple them: a
template with as many blocks as rows, whose oracle picks one column for each. With an entropy in place of the price per
row, the same template is entropic transport.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack
from sklearn.datasets import load_sample_image  # pip install "unipd[learn]"

import unipd

rng = np.random.default_rng(0)
china, flower = (
    load_sample_image(f"{name}.jpg").reshape(-1, 3) / 255.0
    for name in ("china", "flower")
)
size = 60
source, target = (
    pixels[rng.choice(len(pixels), size, replace=False)] for pixels in (china, flower)
)
cost = ((source[:, None, :] - target[None, :, :]) ** 2).sum(axis=2)

# %%
# One block per colour of the source, all with the map that adds rows up; the coupling fixes the sums of the columns.

rows = [unipd.sharp.Linear(cost[i], unipd.sharp.Simplex(size)) for i in range(size)]
problem = unipd.Problem(rows, [np.eye(size)] * size, np.ones(size), "=")
result = unipd.solve(problem, accuracy=1e-5)
plan = np.array([unipd.atoms.dense(row) for row in result.x.parts])
print(
    f"{result.status.value}: cost {result.objective:.6f}, certified at least {result.dual_bound:.6f}"
)

# %%
# SciPy's HiGHS, which gets the constraint matrix written out, agrees.

ones, identity = np.ones((1, size)), eye_array(size)
sums = vstack([kron(identity, ones), kron(ones, identity)])
exact = linprog(cost.reshape(-1), A_eq=sums, b_eq=np.ones(2 * size))
print(f"HiGHS: {exact.fun:.6f}")

# %%
# Each colour of the first photograph is replaced by the barycentre of those it is sent to.

moved = plan @ target
figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), width_ratios=[1.0, 1.9])
axes[0].imshow(
    plan[np.argsort(source.sum(axis=1))][:, np.argsort(target.sum(axis=1))],
    cmap="gray_r",
    aspect="auto",
)
axes[0].set(
    title="transport plan, by brightness",
    xlabel="colour of the flower",
    ylabel="colour of the temple",
)
photograph = load_sample_image("china.jpg")[::4, ::4] / 255.0
near = np.exp(-((photograph[:, :, None, :] - source) ** 2).sum(axis=3) / 0.01) + 1e-12
recoloured = np.clip(
    photograph + (near / near.sum(axis=2, keepdims=True)) @ (moved - source), 0.0, 1.0
)
axes[1].imshow(np.hstack([photograph, np.ones((len(photograph), 6, 3)), recoloured]))
axes[1].set(title="the temple, and the temple in the colours of the flower")
axes[1].axis("off")
plt.show()
