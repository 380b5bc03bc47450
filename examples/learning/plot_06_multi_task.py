r"""
Multi-task regression
=====================

Twelve related responses, forty features. Three assumptions on the matrix of coefficients :math:`W`, each one oracle:
few features matter for *all* tasks (groups of rows), the tasks mix few directions (nuclear norm), or any entries may be
nonzero but few of them are (:math:`\ell_1`). Everything else stays:

.. math:: \min \tfrac12 \lVert F W - Y \rVert^2 \quad \text{over a ball of the norm}.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from scipy.sparse import eye_array, kron

import unipd

rng = np.random.default_rng(0)
samples, features, tasks = 60, 40, 12
truth = np.zeros((features, tasks))
truth[[3, 8, 21, 30]] = rng.standard_normal((4, 2)) @ rng.standard_normal((2, tasks))
F = rng.standard_normal((samples, features))
Y = F @ truth + 2.0 * rng.standard_normal((samples, tasks))

# %%
# The map :math:`W \mapsto F W` acts on the entries of :math:`W` as a sparse matrix, and on its singular vectors as a
# product from the left. Radii are those of the truth.

entries = unipd.maps.SparseMatrix(kron(F, eye_array(tasks)), domain=(features, tasks))
factors = unipd.maps.TwoSidedMap(unipd.maps.Identity((samples, tasks)), F, None)
rows = np.repeat(np.arange(features)[:, None], tasks, axis=1)
oracles = {
    "entries (l1)": unipd.sharp.L1Ball((features, tasks), float(np.abs(truth).sum())),
    "rows (groups)": unipd.sharp.GroupBall(
        rows, float(np.linalg.norm(truth, axis=1).sum())
    ),
    "rank (nuclear)": unipd.sharp.NuclearBall(
        (features, tasks), float(np.linalg.norm(truth, "nuc"))
    ),
}
estimates = {"least squares": np.linalg.lstsq(F, Y)[0]}
for name, oracle in oracles.items():
    design, data = (factors, Y) if "rank" in name else (entries, Y.ravel())
    result = unipd.solve(
        unipd.Problem(oracle, design, data, unipd.couplings.LeastSquares()),
        accuracy=1e-5,
    )
    estimates[name] = unipd.atoms.dense(result.x)
    print(f"{name}: {result.status.value} by {result.method}, gap {result.gap:.0e}")

# %%
# The truth has four rows of rank two: the group ball finds the rows, the nuclear ball the subspace.

figure, axes = plt.subplots(1, 5, figsize=(9.5, 4.0), sharey=True)
limit = np.abs(truth).max()
for axis, (name, W) in zip(axes, {"truth": truth, **estimates}.items(), strict=True):
    error = np.linalg.norm(W - truth) / np.linalg.norm(truth)
    axis.imshow(W, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    axis.set(
        title=name if name == "truth" else f"{name}\nerror {error:.2f}", xlabel="task"
    )
axes[0].set_ylabel("feature")
plt.show()
