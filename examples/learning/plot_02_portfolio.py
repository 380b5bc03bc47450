r"""
Portfolio with a cap on every asset
===================================

Markowitz' trade-off over portfolios with :math:`0 \le x_i \le c` and :math:`\sum_i x_i = 1`: the risk
:math:`\tfrac12 \lVert L^\mathsf{T} x \rVert^2`, with :math:`L L^\mathsf{T}` the covariance, against the expected
return. The risk is a least-squares loss of a linear map, the return a linear cost, and the oracle of the capped simplex
a partial sort: no covariance matrix is factorised or even formed.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd

rng = np.random.default_rng(1)
assets, days = 150, 500
factors = rng.standard_normal((assets, 5)) * np.array([1.0, 0.6, 0.5, 0.4, 0.3])
returns = 0.02 * (
    rng.standard_normal((days, 5)) @ factors.T
) + 0.01 * rng.standard_normal((days, assets))
expected = 0.002 * (0.4 * factors[:, 0] + 0.3 * rng.standard_normal(assets) + 0.5)
spread = (returns - returns.mean(axis=0)) / np.sqrt(days)
cap = unipd.sharp.CappedSimplex(assets, cap=0.05)

# %%
# Along the efficient frontier each run starts from the result of the last one.

frontier, previous = [], None
for appetite in np.geomspace(1e-3, 10.0, 16):
    oracle = unipd.sharp.Linear(-appetite * expected, cap)
    problem = unipd.Problem(
        oracle, spread, np.zeros(days), unipd.couplings.LeastSquares()
    )
    previous = unipd.solve(problem, "corrective", accuracy=1e-5, start=previous)
    frontier.append(previous.x)
weights = np.array(frontier)
risk, gain = np.linalg.norm(weights @ spread.T, axis=1), weights @ expected

# %%
# Caps force diversification: no portfolio on the frontier has fewer than twenty assets.

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.5))
axes[0].plot(
    np.linalg.norm(spread, axis=0), expected, ".", color="0.7", label="single assets"
)
axes[0].plot(risk, gain, "o-", color="C0", label="efficient frontier")
axes[0].set(
    xlabel="risk (standard deviation per day)", ylabel="expected return per day"
)
axes[0].legend()
order = np.argsort(-weights.max(axis=0))[:40]
axes[1].stackplot(
    risk, weights[:, order].T, colors=plt.get_cmap("viridis")(np.linspace(0, 1, 40))
)
axes[1].set(
    xlabel="risk",
    ylabel="share of the portfolio",
    title="composition (at most 5 % per asset)",
    ylim=(0, 1),
)
plt.show()
