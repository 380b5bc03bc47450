"""Quantum tomography beside CVXPY with SCS, and beside the fitters of qiskit-experiments, on the same noisy data.

    python benchmarks/tomography_peers.py [--quick]

CPU seconds of one thread. The SCS problem is the same least squares over density matrices; qiskit-experiments fits
counts in all local bases. Peers that are not installed are skipped.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from figures import note
from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    QuantumState,
    all_bases,
    random_pure,
    simulate,
    simulate_counts,
)
from unipd.io.pauli_data import PauliData
from unipd.maps.pauli.strings import bit_count


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return call(), time.process_time() - begun


def measurement_rows(data: PauliData) -> tuple[Any, Any]:
    """Return sparse matrices with tr(P_k X) = (first @ Re x + second @ Im x)_k for x = X read column by column."""
    size = 1 << data.qubits
    index = np.arange(size)
    rows = np.repeat(np.arange(data.size), size)
    partner = index ^ data.x[:, np.newaxis]
    phase = np.array([1, -1j, -1, 1j])[bit_count(data.x & data.z) & 3][:, np.newaxis]
    entries = phase * (1 - 2 * (bit_count(index & data.z[:, np.newaxis]) & 1))
    columns = (partner + size * index).reshape(-1)
    shape = (data.size, size * size)
    real: Any = sp.csr_array((entries.real.reshape(-1), (rows, columns)), shape=shape)
    imaginary: Any = sp.csr_array((-entries.imag.reshape(-1), (rows, columns)), shape=shape)
    return real, imaginary


def solved_by_scs(data: PauliData) -> tuple[Any, float]:
    """Return the matrix that CVXPY and SCS find and the seconds they take, building included."""
    import cvxpy as cp

    first, second = measurement_rows(data)

    def call() -> Any:
        size = 1 << data.qubits
        rho = cp.Variable((size, size), hermitian=True)
        image = first @ cp.vec(cp.real(rho), order="F") + second @ cp.vec(cp.imag(rho), order="F")
        loss = 0.5 * cp.sum_squares(image - data.expectations)
        constraints = [rho >> 0, cp.real(cp.trace(rho)) == 1]
        cp.Problem(cp.Minimize(loss), constraints).solve(solver="SCS", eps=1e-5, max_iters=20_000)
        return np.asarray(rho.value)

    matrix, seconds = timed(call)
    return matrix, seconds


def nearest_state(matrix: Any) -> QuantumState:
    """Return the state nearest to a Hermitian matrix: eigenvalues projected on the simplex."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    values, vectors = values[::-1], vectors[:, ::-1]
    excess = (np.cumsum(values) - 1.0) / np.arange(1, values.size + 1)
    shift = excess[np.flatnonzero(values > excess)[-1]]
    return QuantumState(vectors, np.maximum(values - shift, 0.0))


def objective(state: QuantumState, data: PauliData) -> float:
    return 0.5 * float(np.sum((state.expectations(data.labels()) - data.expectations) ** 2))


def against_scs(sizes: list[int], sigma: float) -> None:
    print(f"\nLeast squares, n = 2 p ln p random strings, errors of {sigma:g}; unipd to a certified gap of 1e-6")
    head = f"{'qubits':>6s} {'solver':>12s} {'seconds':>8s} {'ratio':>6s} {'objective':>12s} {'fidelity':>9s}"
    print(f"{head} {'least eigenvalue':>17s}")
    for qubits in sizes:
        p = 1 << qubits
        count = min(round(2 * p * math.log(p)), 4**qubits)
        experiment = simulate("random", qubits, measurements=count, noise=Noise(gaussian=sigma), seed=0)
        data, truth = experiment.data, experiment.state
        solver = PauliTomography(objective="least-squares", accuracy=1e-6, threads=1)
        solver.fit_data(data)
        estimate, ours = timed(lambda data=data, solver=solver: solver.fit_data(data))
        print(
            f"{qubits:6d} {'unipd':>12s} {ours:8.3f} {1.0:6.1f} {estimate.objective_:12.6g} "
            f"{estimate.fidelity(truth):9.5f} {0.0:17.1e}",
            flush=True,
        )
        matrix, theirs = solved_by_scs(data)
        note(f"{qubits} qubits: CVXPY with SCS / unipd", theirs / ours, "x")
        state = nearest_state(matrix)
        print(
            f"{qubits:6d} {'CVXPY + SCS':>12s} {theirs:8.3f} {theirs / ours:6.1f} {objective(state, data):12.6g} "
            f"{state.fidelity(truth):9.5f} {np.linalg.eigvalsh(matrix)[0]:17.1e}",
            flush=True,
        )


def against_qiskit(sizes: list[int], shots: int) -> None:
    from qiskit_experiments.library.tomography import fitters
    from qiskit_experiments.library.tomography.basis import PauliMeasurementBasis

    from unipd.interop.qiskit import fitter

    print(f"\nCounts in all 3^q bases, {shots} shots each, random pure state")
    print(f"{'qubits':>6s} {'fitter':>22s} {'seconds':>8s} {'ratio':>6s} {'fidelity':>9s}")
    for qubits in sizes:
        truth = random_pure(qubits, seed=0)
        counts = simulate_counts(truth, all_bases(qubits), shots, seed=1)
        outcomes = np.zeros((1, len(counts), 1 << qubits), int)
        for row, seen in zip(outcomes[0], counts.values(), strict=True):
            for bits, number in seen.items():
                row[int(bits, 2)] = number
        bases = np.array([["ZXY".index(letter) for letter in basis[::-1]] for basis in counts])
        data = (outcomes, np.full(len(counts), shots), bases, np.zeros((len(counts), 0), int))
        basis: dict[str, Any] = {
            "measurement_basis": PauliMeasurementBasis(),
            "measurement_qubits": tuple(range(qubits)),
        }
        contestants: list[tuple[str, Callable[[], Any]]] = [
            ("unipd", lambda data=data: fitter(*data)),
            (
                "cvxpy_gaussian_lstsq",
                lambda data=data, basis=basis: fitters.cvxpy_gaussian_lstsq(*data, **basis, solver="SCS"),
            ),
            ("linear_inversion", lambda data=data, basis=basis: fitters.linear_inversion(*data, **basis)),
        ]
        ours = 0.0
        for name, call in contestants:
            (found, _), seconds = timed(call)
            ours = ours or seconds
            note(f"{qubits} qubits, counts: {name}", seconds, "s")
            matrix = np.asarray(found[0] if isinstance(found, list) else found)
            state = nearest_state(matrix / np.trace(matrix).real)
            ratio = seconds / max(ours, 1e-9)
            print(f"{qubits:6d} {name:>22s} {seconds:8.3f} {ratio:6.1f} {state.fidelity(truth):9.5f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small instances only")
    options = parser.parse_args()
    if find_spec("cvxpy") is None:
        print("CVXPY is not installed: skipped")
    else:
        against_scs([4, 5] if options.quick else [4, 5, 6, 7], 0.01)
    if find_spec("qiskit_experiments") is None:
        print("qiskit-experiments is not installed: skipped")
    else:
        against_qiskit([3] if options.quick else [3, 4, 5], 1024)


if __name__ == "__main__":
    main()
