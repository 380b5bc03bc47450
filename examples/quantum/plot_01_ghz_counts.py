"""Quantum tomography: a GHZ state of four qubits from counts, with error bars, and ten qubits from exact values."""

from __future__ import annotations

from unipd.apps.tomography import PauliTomography, all_bases, ghz, simulate, simulate_counts


def main() -> None:
    target = ghz(4)
    counts = simulate_counts(target, all_bases(4), 1000, seed=1)
    estimate = PauliTomography().fit_counts(counts)
    errors = estimate.bootstrap(20, target=target, observables={"parity": "XXXX"}, seed=1, threads=2)
    low, high = errors.interval("fidelity")
    print(f"GHZ-4: fidelity {estimate.fidelity(target):.4f}, 95% interval {low:.4f} to {high:.4f}")
    print(f"<XXXX> = {estimate.expectation('XXXX'):.4f} +- {errors.stderr('parity'):.4f}; gap {estimate.gap_:.1e}")

    experiment = simulate("random", 10, seed=1)
    exact = PauliTomography(accuracy=1e-8).fit_data(experiment.data)
    print(
        f"10 qubits from {experiment.data.size} exact values: rank {exact.rank_}, "
        f"relative residual {exact.relative_residual_:.1e}, infidelity {1 - exact.fidelity(experiment.state):.1e}"
    )


if __name__ == "__main__":
    main()
