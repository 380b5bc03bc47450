r"""
Robust regression: three losses
===============================

With a fifth of the data corrupted, least squares follows the outliers. Huber's loss and the sum of absolute deviations
do not; the latter is nonsmooth, which a Frank-Wolfe method cannot handle, and needs no change here. The coefficients
lie in an :math:`\ell_1` ball, as in the Lasso.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

from unipd.apps.learning import NormConstrainedRegressor
from unipd.couplings import Absolute

rng = np.random.default_rng(3)
samples, powers = 120, 9
t = np.sort(rng.uniform(-1.0, 1.0, samples))
features = np.polynomial.chebyshev.chebvander(t, powers)[:, 1:]
truth = np.array([0.8, 0.0, -0.9, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0])
clean = features @ truth
y = clean + 0.08 * rng.standard_normal(samples)
outliers = rng.random(samples) < 0.2
y[outliers] += rng.uniform(1.5, 4.0, outliers.sum())

models = {
    "squared": NormConstrainedRegressor(radius=2.5, loss="squared").fit(features, y),
    "Huber": NormConstrainedRegressor(radius=2.5, loss="huber").fit(features, y),
    "absolute": NormConstrainedRegressor(radius=2.5, loss=Absolute()).fit(features, y),
}

# %%
# Each fit is certified: no coefficients in the ball have a loss that is smaller by more than the gap.

for name, model in models.items():
    error = np.abs(model.predict(features) - clean).mean()
    print(f"{name:9s} mean error {error:.3f}, certified gap {model.gap_:.0e}")

figure, axis = plt.subplots()
axis.plot(t[~outliers], y[~outliers], ".", color="0.5", label="data")
axis.plot(t[outliers], y[outliers], "x", color="0.5", label="outliers")
axis.plot(t, clean, color="k", linestyle=":", label="truth")
for name, model in models.items():
    axis.plot(t, model.predict(features), label=f"{name} loss")
axis.set(xlabel="t", ylabel="y")
axis.legend(ncols=2, fontsize="small")
plt.show()
