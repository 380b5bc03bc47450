r"""
Four methods on one problem
===========================

Sparse least squares over an :math:`\ell_1` ball, :math:`\min \tfrac12 \lVert A x - b \rVert^2` over
:math:`\lVert x \rVert_1 \le r`: Frank-Wolfe needs one oracle call per iteration, the universal methods about two, and
the corrective method one call and a small quadratic program. ``unipd.compare`` runs them and judges all by one measure.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd

rng = np.random.default_rng(0)
truth = np.zeros(1000)
truth[rng.choice(1000, 20, replace=False)] = rng.standard_normal(20)
A = rng.standard_normal((200, 1000)) / np.sqrt(200)
b = A @ truth + 0.05 * rng.standard_normal(200)
ball = unipd.sharp.L1Ball(1000, float(np.abs(truth).sum()))
problem = unipd.Problem(ball, A, b, unipd.couplings.LeastSquares())
universal = [unipd.UniPDGrad(eps=0.05), unipd.AccUniPDGrad(eps=0.05)]
methods = [*universal, unipd.FrankWolfe("line-search"), unipd.Corrective()]
outcome = unipd.compare(
    problem, methods, truth=None, accuracy=1e-6, stop=unipd.MaxIterations(400)
)
print(outcome)

# %%
# Every method carries a certified gap along, so that each curve below is an upper bound on the suboptimality that the
# run itself could guarantee at that moment. The universal methods assume nothing and stop at the accuracy that their
# ``eps`` promises; the corrective one exploits that a few vertices span the solution.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), sharey=True)
for name, result in outcome.items():
    history = result.history
    gap = np.maximum(np.abs(history["gap"]), 1e-9)
    axes[0].loglog(history["oracle_calls"], gap, label=name)
    axes[1].loglog(np.maximum(history["seconds"], 1e-4), gap, label=name)
axes[0].set(xlabel="oracle calls", ylabel="certified relative gap")
axes[1].set(xlabel="seconds")
axes[1].legend()
plt.show()
