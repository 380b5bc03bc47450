"""Quantum tomography: pure states, mixed states and long runs of AccUniPDGrad, exact and noisy; GHZ-8 from counts.

    python benchmarks/tomography.py [--quick | --full]

Times are wall seconds with the threads that Numba takes. ``--full`` adds 16 qubits and mixed states of 12.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import unipd
from figures import note
from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    UndeterminedState,
    ghz,
    random_bases,
    simulate,
    simulate_counts,
)
from unipd.memory import peak_memory


def exact_states(sizes: list[int]) -> None:
    print("\nRandom pure states, exact data, accuracy 1e-8, method auto")
    head = f"{'qubits':>6s} {'strings':>8s} {'seconds':>8s} {'products':>9s} {'residual':>9s} {'infidelity':>11s}"
    print(f"{head} {'MB':>6s}")
    for qubits in sizes:
        experiment = simulate("random", qubits, seed=1)
        begun = time.perf_counter()
        estimate = PauliTomography(accuracy=1e-8).fit_data(experiment.data)
        seconds = time.perf_counter() - begun
        print(
            f"{qubits:6d} {experiment.data.size:8d} {seconds:8.2f} {estimate.result_.counts.matvecs:9d} "
            f"{estimate.relative_residual_:9.1e} {1 - estimate.fidelity(experiment.state):11.1e} "
            f"{peak_memory() / 1e6:6.0f}",
            flush=True,
        )
        note(f"{qubits} qubits, exact data to 1e-8", seconds, "s")
        note(f"{qubits} qubits, exact data: products", estimate.result_.counts.matvecs, "products")


def papers_method(sizes: list[int]) -> None:
    print("\nThe same by AccUniPDGrad to a relative residual of 1e-3 (paper: 1.057 trials per iteration)")
    print(f"{'qubits':>6s} {'seconds':>8s} {'iterations':>11s} {'products':>9s} {'trials':>7s}")
    for qubits in sizes:
        data = simulate("random", qubits, seed=1).data
        begun = time.perf_counter()
        estimate = PauliTomography(method="accunipdgrad", accuracy=1e-3).fit_data(data)
        figures, seconds = estimate.summary(), time.perf_counter() - begun
        note(f"{qubits} qubits by AccUniPDGrad to 1e-3", seconds, "s")
        note(f"{qubits} qubits by AccUniPDGrad: trials", figures["line_search_trials_per_iteration"], "an iteration")
        print(
            f"{qubits:6d} {seconds:8.2f} {figures['iterations']:11d} {figures['matvecs']:9d} "
            f"{figures['line_search_trials_per_iteration']:7.3f}",
            flush=True,
        )


def mixed_states(sizes: list[int], shots: int | None, limit: float) -> None:
    data = "exact data" if shots is None else f"{shots} shots a string"
    print(f"\nMixed states of rank 3, {data}, certified gap 1e-4 (least squares), {limit:g} s at most")
    head = f"{'qubits':>6s} {'method':>13s} {'seconds':>8s} {'products':>9s} {'objective':>12s} {'gap':>9s}"
    print(f"{head} {'rank':>5s} {'fidelity':>9s}  status")
    for qubits in sizes:
        experiment = simulate("mixed", qubits, rank=3, noise=None if shots is None else Noise(shots=shots), seed=1)
        objectives: list[float] = []
        for method in ("auto", "accunipdgrad"):
            begun = time.perf_counter()
            estimate = PauliTomography(
                objective="least-squares", method=method, accuracy=1e-4, stop=unipd.MaxSeconds(limit)
            ).fit_data(experiment.data)
            seconds = time.perf_counter() - begun
            objectives.append(estimate.objective_)
            note(f"{qubits} qubits, rank 3, {data}, {method}", seconds, "s")
            note(
                f"{qubits} qubits, rank 3, {data}, {method}: gap",
                estimate.gap_,
                "share",
                1e-4 if method == "auto" else None,
            )
            print(
                f"{qubits:6d} {method:>13s} {seconds:8.2f} {estimate.result_.counts.matvecs:9d} "
                f"{estimate.objective_:12.6g} {estimate.gap_:9.1e} {estimate.rank_:5d} "
                f"{estimate.fidelity(experiment.state):9.4f}  {estimate.result_.status.value}",
                flush=True,
            )
        at_zero = 0.5 * float(np.sum(experiment.data.expectations**2))
        excess = (objectives[0] - objectives[1]) / at_zero
        print(f"       objective of auto minus AccUniPDGrad's: {excess:.1e} of the loss at X = 0")
        note(f"{qubits} qubits, rank 3, {data}: objective of auto over AccUniPDGrad's", excess, "share", 1e-4)


def ghz_from_counts(bases: int, replicates: int) -> None:
    target = ghz(8)
    counts = simulate_counts(target, random_bases(8, bases, seed=1), 1000, seed=2)
    begun = time.perf_counter()
    estimate = PauliTomography().fit_counts(counts)
    fitted = time.perf_counter() - begun
    errors = estimate.bootstrap(replicates, target=target, seed=3, threads=2)
    low, high = errors.interval("fidelity")
    note("GHZ-8 from counts: fidelity", estimate.fidelity(target), "share")
    note("GHZ-8 from counts: standard error of the fidelity", errors.stderr("fidelity"), "share")
    note("GHZ-8 from counts: fit", fitted, "s")
    print(f"\nGHZ-8 from {bases} random bases of 1000 shots ({estimate.data_.size} strings)")
    print(f"fit {fitted:.2f} s, rank {estimate.rank_}, gap {estimate.gap_:.1e}")
    print(
        f"fidelity {estimate.fidelity(target):.5f}, bootstrap of {replicates}: standard error "
        f"{errors.stderr('fidelity'):.5f}, bias {errors.bias('fidelity'):.5f}, 95% interval [{low:.5f}, {high:.5f}], "
        f"{time.perf_counter() - begun - fitted:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few seconds")
    size.add_argument("--full", action="store_true", help="an hour at most; AccUniPDGrad runs into its time limit")
    options = parser.parse_args()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UndeterminedState)  # of estimates from noisy data, whose rank is high
    simulate("random", 8)
    PauliTomography().fit_data(simulate("random", 8).data)
    exact_states([8, 10] if options.quick else [8, 10, 12, 14, 16] if options.full else [8, 10, 12, 14])
    papers_method([8, 10] if options.quick else [10, 12, 14])
    sizes, limit = ([6], 1) if options.quick else ([10, 12], 900) if options.full else ([8, 10], 300)
    for shots in (None, 10_000, 100_000):
        mixed_states(sizes, shots, limit)
    ghz_from_counts(*((100, 4) if options.quick else (300, 40)))


if __name__ == "__main__":
    main()
