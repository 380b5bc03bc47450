r"""
A GHZ state from counts, with error bars
========================================

Four qubits were meant to be in :math:`(|0000\rangle + |1111\rangle)/\sqrt{2}`, but a tenth
of the preparations ended in white noise. All :math:`3^4` Pauli bases are measured with 100
shots each. The estimate is the density matrix of largest likelihood, certified to be so,
and a bootstrap gives confidence intervals for fidelity, purity and observables.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

from unipd.apps.tomography import (
    PauliTomography,
    QuantumState,
    all_bases,
    ghz,
    simulate_counts,
)
from unipd.report import plot_tomography

target = ghz(4)
noise = np.eye(16)
prepared = QuantumState(
    np.column_stack([target.eigenvectors, noise]), [0.9, *np.full(16, 0.1 / 16)]
)
counts = simulate_counts(prepared, all_bases(4), 100, seed=1)
estimate = PauliTomography().fit_counts(counts)

observables = {name: name for name in ("XXXX", "ZZII", "YYXX", "ZIII", "XXII")}
errors = estimate.bootstrap(20, target=target, observables=observables, seed=1)
low, high = errors.interval("fidelity")
print(
    f"fidelity with the GHZ state {estimate.fidelity(target):.4f}, 95 % interval {low:.4f} "
    f"to {high:.4f}; truth {prepared.fidelity(target):.4f}"
)

# %%
# Figures of the estimate with their intervals, beside those of the prepared state (crosses)
# and of the ideal one (dashes). The intervals exclude the ideal state: the noise is seen.

names = ["fidelity", "purity", *observables]
ideal = [1.0, 1.0, *(target.expectation(name) for name in observables)]
true = [prepared.fidelity(target), prepared.purity]
true += [prepared.expectation(name) for name in observables]
figure, axis = plt.subplots(figsize=(7.0, 3.4))
for k, name in enumerate(names):
    low, high = errors.interval(name)
    axis.plot([k, k], [low, high], color="C0", linewidth=5.0, alpha=0.5)
    axis.plot(
        k,
        errors.estimates[name],
        "o",
        color="C0",
        label="estimate, 95 %" if k == 0 else None,
    )
axis.plot(
    range(len(names)), true, "x", color="C1", markersize=8, label="prepared state"
)
axis.plot(
    range(len(names)), ideal, "_", color="0.4", markersize=24, label="ideal GHZ state"
)
axis.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
axis.set(xticks=range(len(names)), xticklabels=names, ylabel="value")
axis.legend(loc="lower right")
plt.show()

# %%
# The state itself: its largest matrix entries, its spectrum with intervals, how the run
# converged, and how well the state explains the data.

figure = plot_tomography(estimate.fit_, target=target, errors=errors)
