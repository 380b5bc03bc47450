r"""
Matrix completion along a path of radii
=======================================

Completion fits the known entries of a matrix over a nuclear ball,
:math:`\min \tfrac12 \sum_{(i,j)\ \text{known}} (X_{ij} - b_{ij})^2` over :math:`\lVert X \rVert_* \le r`. The radius
decides everything: too small and the fit is biased, too large and it fits noise. The path starts each run from the last
one, and the oracle is one pair of singular vectors of a sparse matrix.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd

rng = np.random.default_rng(0)
shape, rank, noise = (80, 60), 3, 0.5
truth = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
known = rng.random(shape) < 0.35
rows, columns = np.nonzero(known)
b = truth[known] + noise * rng.standard_normal(rows.size)
measured = unipd.maps.Sampling(rows, columns, shape)

# %%
# Fourteen radii, each run warm-started.

radii = np.linspace(0.3, 1.3, 14) * np.linalg.norm(truth, "nuc")
previous, fit_error, hidden_error, spectra = None, [], [], []
for radius in radii:
    problem = unipd.Problem(
        unipd.sharp.NuclearBall(shape, radius),
        measured,
        b,
        unipd.couplings.LeastSquares(),
    )
    previous = unipd.solve(problem, accuracy=1e-4, start=previous)
    X = unipd.atoms.dense(previous.x)
    fit_error.append(np.sqrt(((X[known] - b) ** 2).mean()))
    hidden_error.append(np.sqrt(((X - truth)[~known] ** 2).mean()))
    spectra.append(np.linalg.svd(X, compute_uv=False)[:8])

# %%
# The error on hidden entries is least near the radius of the truth; beyond it further singular values appear, which is
# noise. ``unipd.MatrixCompletion`` chooses the radius in this way, by validation.

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4), sharex=True)
scale = radii / np.linalg.norm(truth, "nuc")
axes[0].plot(scale, fit_error, "o-", label="known entries (with noise)")
axes[0].plot(scale, hidden_error, "o-", label="hidden entries (the truth)")
axes[0].axhline(noise, color="0.5", linestyle=":", label="noise level")
axes[0].set(
    xlabel="radius / nuclear norm of the truth", ylabel="root mean squared error"
)
axes[0].legend()
axes[1].plot(scale, np.array(spectra))
axes[1].set(
    xlabel="radius / nuclear norm of the truth",
    ylabel="singular values of X",
    title="rank 3, then noise",
)
plt.show()
