r"""
The template, part by part
==========================

``unipd`` solves

.. math:: \min_{x \in \mathcal{X}} f(x) \quad \text{subject to} \quad A x - b \in \mathcal{K},

given a *sharp oracle* of :math:`(f, \mathcal{X})`, a map :math:`A`, a right-hand side :math:`b` and a set
:math:`\mathcal{K}` (or a loss in its place). Here each part is replaced in turn: the cheapest blend of 200 ingredients
whose 20 measured properties are controlled in four ways.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd
from unipd import couplings, sharp

rng = np.random.default_rng(0)
ingredients, properties = 200, 20
price = rng.uniform(1.0, 3.0, ingredients)
A = rng.standard_normal((properties, ingredients))
target = A @ rng.dirichlet(np.ones(ingredients))

# %%
# The oracle of a linear price over the simplex picks the best single ingredient. With ``"<="`` the set
# :math:`\mathcal{K}` is the negative orthant: no property may exceed the target.

cheapest = sharp.Linear(price, sharp.Simplex(ingredients))
at_most = unipd.solve(unipd.Problem(cheapest, A, target, "<="), accuracy=1e-6)
print(at_most)

# %%
# Another :math:`\mathcal{K}`: all properties together within a ball around the target, or each within an interval.

ball = unipd.solve(
    unipd.Problem(cheapest, A, target, couplings.L2Ball(0.5)), accuracy=1e-6
)
interval = unipd.solve(
    unipd.Problem(cheapest, A, target, couplings.Box(-0.1, 0.1)), accuracy=1e-6
)

# %%
# A loss instead of a constraint, and no price: as close to the (unreachable) target as possible.

fit = unipd.Problem(
    sharp.Simplex(ingredients), A, target + 0.5, couplings.LeastSquares()
)
nearest = unipd.solve(fit, accuracy=1e-6)

# %%
# Several blocks: two blends whose properties add up, each with a price and a map of its own.

blocks = [cheapest, sharp.Linear(2.0 * price, sharp.Simplex(ingredients, scale=0.5))]
both = unipd.solve(
    unipd.Problem(blocks, [A, A[:, ::-1].copy()], 1.5 * target, "<="), accuracy=1e-6
)
print(
    f"two blends: {both.status.value}, price {both.objective:.3f}, certified to be at least {both.dual_bound:.3f}"
)

# %%
# The deviations from the target show what each coupling allows: below zero, a bounded length, a band, and anything at
# a price per square.

runs = {'"<="': at_most, "L2Ball(0.5)": ball, "Box(-0.1, 0.1)": interval}
figure, axes = plt.subplots(1, 4, figsize=(9.5, 2.9), sharey=True)
for axis, (name, result) in zip(axes, runs.items(), strict=False):
    axis.bar(range(properties), A @ result.x - target, color="C0")
    axis.set_title(f"{name}\nprice {result.objective:.3f}")
axes[3].bar(range(properties), A @ nearest.x - target - 0.5, color="C1")
axes[3].set_title(f"LeastSquares()\nloss {nearest.objective:.3f}")
for axis in axes:
    axis.axhline(0.0, color="0.4", linewidth=0.8)
    axis.set_xlabel("property")
axes[0].set_ylabel(r"$A x - b$")
figure.suptitle("What the coupling allows", fontsize="medium")
plt.show()
