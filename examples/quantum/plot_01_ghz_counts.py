r"""
A GHZ state from counts, with error bars
========================================

Four qubits prepared in :math:`(|0000\rangle + |1111\rangle)/\sqrt2`, measured in all :math:`3^4` Pauli bases with 500
shots each. The estimate is the density matrix of largest likelihood, certified to be so, and a bootstrap gives
confidence intervals for fidelity and observables.
"""

import matplotlib.pyplot as plt

from unipd.apps.tomography import PauliTomography, all_bases, ghz, simulate_counts
from unipd.report import plot_tomography

target = ghz(4)
counts = simulate_counts(target, all_bases(4), 500, seed=1)
estimate = PauliTomography().fit_counts(counts)
observables = {"XXXX": "XXXX", "ZZII": "ZZII", "YYXX": "YYXX", "ZIII": "ZIII"}
errors = estimate.bootstrap(20, target=target, observables=observables, seed=1)
low, high = errors.interval("fidelity")
print(
    f"fidelity {estimate.fidelity(target):.4f}, 95 % interval {low:.4f} to {high:.4f}; gap {estimate.gap_:.1e}"
)

# %%
# Observables of the estimate with their intervals, beside their exact values.

figure, axis = plt.subplots(figsize=(6.0, 3.0))
for k, name in enumerate(observables):
    low, high = errors.interval(name)
    axis.plot([k, k], [low, high], color="C0", linewidth=4.0, alpha=0.5)
    axis.plot(
        k,
        estimate.expectation(name),
        "o",
        color="C0",
        label="estimate, 95 % interval" if k == 0 else None,
    )
    axis.plot(
        k,
        target.expectation(name),
        "_",
        color="C1",
        markersize=26,
        label="exact" if k == 0 else None,
    )
axis.set(
    xticks=range(len(observables)), xticklabels=list(observables), ylabel="expectation"
)
axis.axhline(0.0, color="0.7", linewidth=0.8)
axis.legend()
plt.show()

# %%
# The state itself: its largest matrix entries, its spectrum, how the run converged and how well it explains the data.

overview = plot_tomography(estimate.fit_, target=target)
