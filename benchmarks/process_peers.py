"""Process tomography beside the fitters of qiskit-experiments, on the same counts in one run.

    python benchmarks/process_peers.py [--quick] [--seeds N] [--only QUBITS] [--peer-qubits Q] [--coverage N]

The truth is a random unitary with 5 % depolarizing noise, or three random Kraus operators. All 4^q products of the
states 0, 1, +, r are prepared, and each is measured in all 3^q bases with 1,000 shots. The peers are Qiskit's linear
inversion and its least squares by CVXPY with SCS, with Gaussian weights and without, both over trace-preserving
channels; they form a matrix of all outcomes times 16^q (up to --peer-qubits). Figures are means over the seeds: CPU
seconds, process infidelity with the truth (negative parts of a matrix that is not positive are cut off), deviation from
trace preservation, and the excess of the log-likelihood over our certified bound in nats: inf where an outcome that was
seen has no probability, negative where the fit is no channel. ``--coverage N`` repeats experiments N times instead, and
counts the 95 % intervals of the bootstrap that hold the truth.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from figures import note
from unipd.apps.process_tomography import (
    ProcessTomography,
    QuantumChannel,
    as_channel,
    counts_data,
    make_channel,
    noisy_channel,
    process_problem,
    random_channel,
    random_unitary,
    simulate_process,
)

GOALS = {(2, "all channels"): 1.0, (3, "all channels"): 10.0, (4, "rank 3"): 120.0}
"""CPU seconds."""
PEERS = ("linear_inversion", "cvxpy_linear_lstsq", "cvxpy_gaussian_lstsq")


def make_truth(qubits: int, kind: str, seed: int) -> QuantumChannel:
    if kind == "unitary + 5 %":
        return noisy_channel(random_unitary(1 << qubits, seed), depolarizing=0.05)
    return random_channel(qubits, 3, seed)


def qiskit_arrays(counts: Any, qubits: int) -> tuple[Any, ...]:
    """Return the counts as the arrays that qiskit-experiments passes to its fitters."""
    outcomes = np.zeros((1, len(counts), 1 << qubits), int)
    for row, seen in zip(outcomes[0], counts.values(), strict=True):
        for bits, number in seen.items():
            row[int(bits, 2)] = number
    measured = np.array([["ZXY".index(letter) for letter in basis[::-1]] for _, basis in counts])
    prepared = np.array([["01+r".index(letter) for letter in label[::-1]] for label, _ in counts])
    return outcomes, outcomes[0].sum(axis=1), measured, prepared


def fit_by_peer(name: str, counts: Any, qubits: int) -> Any:
    from qiskit_experiments.library.tomography import basis, fitters

    numbers = tuple(range(qubits))
    named = {
        "measurement_basis": basis.PauliMeasurementBasis(),
        "preparation_basis": basis.PauliPreparationBasis(),
        "measurement_qubits": numbers,
        "preparation_qubits": numbers,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(fitters, name)(*qiskit_arrays(counts, qubits), **named)[0]


def measure(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = call()
    return time.process_time() - begun, found


def judge(choi: Any, truth: QuantumChannel, problem: Any, bound: float) -> tuple[float, float, float]:
    """Return infidelity, deviation from trace preservation, and the excess of the log-likelihood."""
    size = truth.inputs
    reduced = np.trace(choi.reshape(size, -1, size, truth.outputs), axis1=1, axis2=3)
    values, vectors = np.linalg.eigh(0.5 * (choi + choi.conj().T))
    root = vectors * np.sqrt(np.maximum(values, 0.0) * size / np.maximum(values, 0.0).sum())
    other = np.linalg.eigh(truth.choi)
    overlap = (other[1] * np.sqrt(np.maximum(other[0], 0.0))).conj().T @ root
    fidelity = float(np.linalg.norm(overlap, "nuc") ** 2) / size**2
    loss = problem.coupling.parts[1].value(problem.map.maps[1].image(choi))
    return 1.0 - fidelity, float(np.linalg.norm(reduced - np.eye(size), 2)), loss - bound


def run_row(qubits: int, kind: str, seeds: int, shots: int, peers: bool) -> None:
    figures: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(seeds):
        truth = make_truth(qubits, kind, seed)
        counts = simulate_process(truth, shots=shots, seed=seed)
        problem = process_problem(counts_data(counts))
        fits: dict[str, Callable[[], ProcessTomography]] = {
            "all channels": lambda counts=counts: ProcessTomography().fit_counts(counts),
            "rank 3": lambda counts=counts: ProcessTomography(rank=3).fit_counts(counts),
        }
        bound = 0.0
        for name, fit in fits.items():
            seconds, estimate = measure(fit)
            bound = estimate.result_.dual_bound if name == "all channels" else bound
            row = (seconds, *judge(estimate.channel_.choi, truth, problem, bound))
            figures.setdefault(f"unipd, {name}", []).append(row)
            note(f"{qubits} qubits, {kind}, {name}, seed {seed}", seconds, "CPU s", GOALS.get((qubits, name)))
        for name in PEERS if peers else ():
            seconds, choi = measure(lambda name=name, counts=counts: fit_by_peer(name, counts, qubits))
            figures.setdefault(name, []).append((seconds, *judge(choi, truth, problem, bound)))
    for name, rows in figures.items():
        mean = np.mean(rows, axis=0)
        print(
            f"{qubits}  {kind:14s} {name:34s} {mean[0]:9.3f} {mean[1]:10.2e} {mean[2]:9.1e} {mean[3]:10.3g}", flush=True
        )


COVERED: dict[str, tuple[Callable[[], QuantumChannel], str, int]] = {
    "CNOT + 5 %, 300 shots a pair": (lambda: noisy_channel("cx", depolarizing=0.05), "cx", 300),
    "CNOT + 5 %, 2,000": (lambda: noisy_channel("cx", depolarizing=0.05), "cx", 2000),
    "ideal CNOT, 300": (lambda: as_channel("cx"), "cx", 300),
    "Hadamard + 5 %, 300": (lambda: noisy_channel("h", depolarizing=0.05), "h", 300),
    "ideal Hadamard, 300": (lambda: as_channel("h"), "h", 300),
    "amplitude damping 0.1, 300": (lambda: make_channel("damping", 1, strength=0.1), "id", 300),
}
"""The true channel, the target of its fidelity, and the shots of each pair of input and basis."""


def cover(repetitions: int, replicates: int = 20, first_seed: int = 5000) -> None:
    """Print how many 95 % intervals hold the truth, and the bias of the fidelity and of that of its replicates."""
    print(f"of {repetitions} repetitions, {replicates} replicates each")
    for name, (make, target, shots) in COVERED.items():
        truth = make()
        figures: dict[str, Callable[[QuantumChannel], float]] = {
            "fidelity": lambda channel, target=target: channel.process_fidelity(target),
            "unitarity": lambda channel: channel.unitarity,
            "purity": lambda channel: channel.purity,
        }
        held, biases = dict.fromkeys(figures, 0), np.zeros((repetitions, 2))
        for number in range(repetitions):
            counts = simulate_process(truth, shots=shots, seed=first_seed + number)
            estimate = ProcessTomography().fit_counts(counts)
            errors = estimate.bootstrap(replicates, seed=number)
            for figure, call in figures.items():
                low, high = errors.interval(call, limits=(0.0, 1.0))
                held[figure] += low - 1e-12 <= call(truth) <= high + 1e-12
            fitted = figures["fidelity"](estimate.channel_)
            repeated = float(np.mean(errors.values(figures["fidelity"])))
            biases[number] = fitted - figures["fidelity"](truth), repeated - fitted
        bias = biases.mean(axis=0)
        cells = ", ".join(f"{figure} {count}" for figure, count in held.items())
        print(f"{name}: {cells}; bias of the fidelity {bias[0]:.4f}, of its replicates {bias[1]:.4f}", flush=True)
        note(
            f"{name}: coverage of 95 % intervals, fidelity", held["fidelity"] / repetitions, "share", 0.9, at_least=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one qubit, one seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", type=int, help="only this number of qubits")
    parser.add_argument("--peer-qubits", type=int, default=2, help="largest number of qubits for the peers")
    parser.add_argument("--coverage", type=int, metavar="N", help="count intervals that hold the truth, of N")
    options = parser.parse_args()
    if options.coverage is not None:
        return cover(options.coverage)
    try:
        import cvxpy  # noqa: F401
        import qiskit_experiments  # noqa: F401

        has_peers = True
    except ImportError:
        print("qiskit-experiments or cvxpy is not installed: no peers")
        has_peers = False
    print("q  truth          fit                                    CPU s  infidelity  TP error       nats")
    sizes = (1,) if options.quick else (1, 2, 3, 4) if options.only is None else (options.only,)
    for qubits in sizes:
        seeds = 1 if options.quick or qubits == 4 else options.seeds
        for kind in ("unitary + 5 %", "three Kraus"):
            run_row(qubits, kind, seeds, 1000, has_peers and qubits <= options.peer_qubits)


if __name__ == "__main__":
    main()
