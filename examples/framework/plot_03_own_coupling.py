r"""
A user-supplied coupling
========================

A coupling is a set :math:`\mathcal{K}` with a projection and a support function. Spectra measured with an unknown
baseline satisfy :math:`A x - b = c\,(1, \ldots, 1)` for *some* :math:`c`: the set is a line, its projection is the
mean, and its support function is zero on vectors that sum to zero.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd


class UnknownOffset(unipd.couplings.ConvexSet):
    """Vectors with equal entries."""

    def project(self, vector):
        """Return the mean in every entry."""
        return np.full_like(vector, vector.mean())

    def conjugate(self, dual):
        """Return 0 where the sum vanishes up to rounding, else infinity."""
        return (
            0.0
            if abs(dual.sum()) <= 1e-13 * dual.size * np.linalg.norm(dual)
            else np.inf
        )


for check in unipd.doctor.check_coupling(UnknownOffset(), (7,)):
    print(check)

# %%
# A sparse combination of 200 known spectra, measured in 60 channels with a baseline of 3 that nobody told us about.

rng = np.random.default_rng(0)
truth = np.zeros(200)
truth[[10, 50, 120]] = 1.0, -2.0, 0.5
A = rng.standard_normal((60, 200))
b = A @ truth + 3.0
norm = unipd.sharp.L1NormSquared(200)
aware = unipd.solve(unipd.Problem(norm, A, b, UnknownOffset()), accuracy=1e-8)
naive = unipd.solve(unipd.Problem(norm, A, b, "="), accuracy=1e-6)
print(
    f"with the baseline in K: {aware.status.value}, error {np.abs(aware.x - truth).max():.0e}"
)
print(f"recovered baseline: {(b - A @ aware.x).mean():.4f}")

# %%
# Forced to explain the baseline by spectra, the naive model uses sixty of them.

figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.0), sharey=True)
for axis, result, name in zip(
    axes, (naive, aware), ("A x = b", "A x = b + unknown offset"), strict=True
):
    used = int((np.abs(result.x) > 1e-3).sum())
    axis.stem(result.x, linefmt="C0-", markerfmt=" ", basefmt=" ")
    axis.plot(
        np.flatnonzero(truth),
        truth[truth != 0],
        "o",
        fillstyle="none",
        color="C1",
        label="truth",
    )
    axis.set(title=f"{name}: {used} spectra", xlabel="spectrum")
axes[0].set_ylabel("coefficient")
axes[1].legend()
plt.show()
