r"""
Basis pursuit and its phase transition
======================================

A vector with :math:`s` nonzeros can be recovered from :math:`m \ll n` random measurements as the solution of

.. math:: \min \lVert x \rVert_1^2 \quad \text{subject to} \quad A x = b,

if :math:`m` exceeds a threshold that depends on :math:`s`: a sharp *phase transition*. The sharp operator of the
squared :math:`\ell_1` norm is a single coordinate, so that each oracle call costs one product with
:math:`A^\mathsf{T}`.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from scipy.stats import norm

from unipd.apps.learning import basis_pursuit

rng = np.random.default_rng(0)
unknowns = 100


def recovery_rate(measurements, nonzeros, trials=4):
    """Return the share of random problems that are recovered to three digits."""
    recovered = 0
    for _ in range(trials):
        truth = np.zeros(unknowns)
        truth[rng.choice(unknowns, nonzeros, replace=False)] = rng.standard_normal(
            nonzeros
        )
        A = rng.standard_normal((measurements, unknowns)) / np.sqrt(measurements)
        found = basis_pursuit(A, A @ truth, accuracy=1e-4)
        recovered += np.linalg.norm(found.x - truth) < 1e-3 * np.linalg.norm(truth)
    return recovered / trials


measurements, nonzeros = np.arange(10, 91, 10), np.arange(2, 43, 5)
rates = np.array([[recovery_rate(m, s) for m in measurements] for s in nonzeros])

# %%
# One recovery with noise, where :math:`A x` may lie in a ball around :math:`b`, beside the transition. The dashed curve
# is the theory: the *statistical dimension* of the descent cone of the :math:`\ell_1` norm,
# :math:`\delta(s) = \min_t \{ s (1 + t^2) + (n - s)\, \mathbb{E}\,(|g| - t)_+^2 \}` with :math:`g` standard normal.

truth = np.zeros(unknowns)
truth[[7, 31, 62, 85]] = 1.0, -2.0, 0.7, 1.4
A = rng.standard_normal((40, unknowns)) / np.sqrt(40)
noise = 0.05 * rng.standard_normal(40)
noisy = basis_pursuit(A, A @ truth + noise, noise=float(np.linalg.norm(noise)))
print(
    f"with noise: {noisy.status.value}, error {np.linalg.norm(noisy.x - truth):.2f}, gap {noisy.gap:.0e}"
)

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.5))
axes[0].stem(
    noisy.x,
    linefmt="C0-",
    markerfmt=" ",
    basefmt=" ",
    label="recovered from 40 noisy measurements",
)
axes[0].plot(
    np.flatnonzero(truth),
    truth[truth != 0],
    "o",
    fillstyle="none",
    color="C1",
    label="truth",
)
axes[0].set(xlabel="coordinate", ylabel="value", ylim=(-2.4, 3.0))
axes[0].legend(loc="upper left", fontsize="small")
mesh = axes[1].pcolormesh(measurements, nonzeros, rates, cmap="cividis")
t = np.linspace(0.0, 4.0, 400)
excess = 2.0 * ((1.0 + t**2) * norm.cdf(-t) - t * norm.pdf(t))
threshold = [(s * (1.0 + t**2) + (unknowns - s) * excess).min() for s in nonzeros]
axes[1].plot(threshold, nonzeros, color="white", linestyle="--")
axes[1].set(
    xlabel="measurements",
    ylabel="nonzeros",
    xlim=(5, 95),
    title=f"share recovered, {unknowns} unknowns",
)
figure.colorbar(mesh)
plt.show()
