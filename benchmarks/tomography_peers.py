"""Quantum tomography: CVXPY with SCS, the fitters of qiskit-experiments and R-rho-R on the same noisy data.

    python benchmarks/tomography_peers.py [--quick] [--seeds N] [--most QUBITS] [--only TABLE] [--save FILE]

CPU seconds of one thread, every solver after a warm-up, means of several experiments: three with SCS, which stops
after some minutes, ten with qiskit-experiments. Goals, and whether they are met, are below each row. The SCS problem
is the same least squares over density matrices; qiskit-experiments fits counts in all local bases, of pure states and
of the same with white noise. The table of states compares estimates from counts: linear inversion (projected),
R-rho-R to 0.01 nats, ``cvxpy_gaussian_lstsq`` (few experiments of five qubits) and the objectives of unipd. The table
of scale has 10,000 shots of each of 2 p log10 p strings times the rank, beside a descent over factors with momentum.
Peers that are not installed are skipped.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import argparse
import itertools
import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from figures import Archive, note
from unipd.apps.tomography import (
    Noise,
    PauliTomography,
    QuantumState,
    all_bases,
    as_counts,
    estimate_paulis,
    ghz,
    outcome_probabilities,
    random_mixed,
    random_pure,
    simulate,
    simulate_counts,
)
from unipd.apps.tomography.counts import histogram_of
from unipd.atoms import LowRank
from unipd.io import PauliData
from unipd.maps.pauli import OutcomeMap, PauliMap
from unipd.maps.pauli.strings import bit_count

SCS_SECONDS = 240.0


def verdict(*claims: tuple[str, float, float, bool]) -> None:
    """Print for every (name, value, goal, at least) whether the goal is met."""
    parts: list[str] = []
    for name, value, goal, at_least in claims:
        met = value >= goal if at_least else value <= goal
        parts.append(f"{name} {value:.3g} (goal {'>=' if at_least else '<='} {goal:g}): {'met' if met else 'MISSED'}")
    print("       " + "; ".join(parts), flush=True)


def measure_time(call: Callable[[], Any]) -> tuple[Any, float]:
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


def solve_by_scs(data: PauliData) -> tuple[Any, float]:
    """Return the matrix that CVXPY and SCS find and the seconds they take, building included."""
    import cvxpy as cp

    first, second = measurement_rows(data)

    def call() -> Any:
        size = 1 << data.qubits
        rho = cp.Variable((size, size), hermitian=True)
        image = first @ cp.vec(cp.real(rho), order="F") + second @ cp.vec(cp.imag(rho), order="F")
        loss = 0.5 * cp.sum_squares(image - data.expectations)
        constraints = [rho >> 0, cp.real(cp.trace(rho)) == 1]
        cp.Problem(cp.Minimize(loss), constraints).solve(
            solver="SCS", eps=1e-5, max_iters=20_000, time_limit_secs=SCS_SECONDS
        )
        return np.asarray(rho.value)

    matrix, seconds = measure_time(call)
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


def against_scs(sizes: list[int], sigma: float, seeds: int) -> None:
    print(f"\nLeast squares, n = 2 p ln p random strings, errors of {sigma:g}; unipd to a certified gap of 1e-6")
    print(f"means of {seeds} experiments; worst excess of the objective over SCS's")
    head = f"{'qubits':>6s} {'unipd':>8s} {'SCS':>8s} {'ratio':>6s} {'objectives':>25s} {'excess':>8s}"
    print(f"{head} {'fidelities':>17s} {'SCS least eigenvalue':>21s}")
    for qubits in sizes:
        rows = [_one_against_scs(qubits, sigma, seed) for seed in range(seeds)]
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        excess = max(row["our objective"] / row["objective"] - 1.0 for row in rows)
        ratio = mean["seconds"] / mean["our seconds"]
        note(f"{qubits} qubits: CVXPY with SCS / unipd", ratio, "x", 10.0 if qubits >= 6 else 1.0, at_least=True)
        note(f"{qubits} qubits: objective of unipd over that of SCS", excess, "share", 1e-4)
        note(f"{qubits} qubits: fidelity below that of SCS", mean["fidelity"] - mean["our fidelity"], "share", 1e-4)
        print(
            f"{qubits:6d} {mean['our seconds']:8.3f} {mean['seconds']:8.3f} {ratio:6.1f} "
            f"{mean['our objective']:12.6g} {mean['objective']:12.6g} {excess:8.1e} "
            f"{mean['our fidelity']:8.5f} {mean['fidelity']:8.5f} {mean['eigenvalue']:21.1e}",
            flush=True,
        )
        verdict(
            ("SCS / unipd", ratio, 10.0 if qubits >= 6 else 1.0, True),
            ("objective above SCS's, share", excess, 1e-4, False),
            ("fidelity below SCS's", mean["fidelity"] - mean["our fidelity"], 1e-4, False),
        )


def _one_against_scs(qubits: int, sigma: float, seed: int) -> dict[str, float]:
    """Return seconds, objectives and fidelities of both on one experiment; the first one warms both up."""
    p = 1 << qubits
    count = min(round(2 * p * math.log(p)), 4**qubits)
    experiment = simulate("random", qubits, measurements=count, noise=Noise(gaussian=sigma), seed=seed)
    data, truth = experiment.data, experiment.state
    solver = PauliTomography(objective="least-squares", accuracy=1e-6, threads=1)
    if seed == 0:
        solver.fit_data(data)
        solve_by_scs(simulate("random", 2, noise=Noise(gaussian=sigma)).data)
    estimate, ours = measure_time(lambda: solver.fit_data(data))
    matrix, theirs = solve_by_scs(data)
    state = nearest_state(matrix)
    return {
        "our seconds": ours,
        "seconds": theirs,
        "our objective": estimate.objective_,
        "objective": objective(state, data),
        "our fidelity": estimate.fidelity(truth),
        "fidelity": state.fidelity(truth),
        "eigenvalue": float(np.linalg.eigvalsh(matrix)[0]),
    }


def chi_square(state: QuantumState, counts: dict[str, dict[str, int]]) -> float:
    """Return 1/2 sum of (f - p)^2 N / (h (1 - h)) over outcomes, h hedged frequencies: two minimise it."""
    total = 0.0
    for basis, seen in counts.items():
        fitted = outcome_probabilities(state, basis)
        number = np.zeros(fitted.size)
        for bits, times in seen.items():
            number[int(bits, 2)] = times
        shots = number.sum()
        hedged = (number + 0.5) / (shots + 0.5 * number.size)
        total += 0.5 * float(np.sum((number / shots - fitted) ** 2 * shots / (hedged * (1.0 - hedged))))
    return total


def against_qiskit(sizes: list[int], shots: int, seeds: int, share: float) -> None:
    from qiskit_experiments.library.tomography import fitters

    from unipd.interop.qiskit import fitter

    contestants: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
        ("unipd", fitter, {}),
        ("unipd, outcomes", fitter, {"objective": "outcomes"}),
        ("cvxpy_gaussian_lstsq", fitters.cvxpy_gaussian_lstsq, {"solver": "SCS"}),
        ("linear_inversion", fitters.linear_inversion, {}),
    ]
    print(f"\nCounts in all 3^q bases, {shots} shots each, {share:.0%} of white noise, means of {seeds}")
    kind = f"counts, {share:.0%} noise"
    print(f"{'qubits':>6s} {'fitter':>22s} {'seconds':>8s} {'ratio':>6s} {'chi2 / 2':>10s} {'fidelity':>9s}")
    for qubits in sizes:
        rows = [_one_against_qiskit(qubits, shots, seed, share, contestants) for seed in range(seeds)]
        ours = [0.0, 0.0, 0.0]
        for place, (name, _, _) in enumerate(contestants):
            seconds, loss, fidelity = (float(value) for value in np.mean([row[place] for row in rows], axis=0))
            ours = ours if place else [seconds, loss, fidelity]
            print(
                f"{qubits:6d} {name:>22s} {seconds:8.3f} {seconds / ours[0]:6.1f} {loss:10.3f} {fidelity:9.5f}",
                flush=True,
            )
            if name == "cvxpy_gaussian_lstsq":
                note(f"{qubits} qubits, {kind}: {name} / unipd", seconds / ours[0], "x", 1.0, at_least=True)
                note(f"{qubits} qubits, {kind}: fidelity below {name}'s", fidelity - ours[2], "share", 1e-4)
                note(f"{qubits} qubits, {kind}: chi-square of unipd / {name}'s", ours[1] / loss, "x", 1.0001)
                verdict(
                    ("seconds / unipd's", seconds / ours[0], 1.0, True),
                    ("unipd's chi-square above, share", ours[1] / loss - 1.0, 1e-4, False),
                    ("unipd's fidelity below", fidelity - ours[2], 1e-4, False),
                )


def _one_against_qiskit(
    qubits: int, shots: int, seed: int, share: float, contestants: list[tuple[str, Callable[..., Any], dict[str, Any]]]
) -> list[tuple[float, float, float]]:
    """Return seconds, loss and fidelity of each fitter on one experiment; before the first all are called once."""
    from qiskit_experiments.library.tomography.basis import PauliMeasurementBasis

    pure = random_pure(qubits, seed=seed).density_matrix()
    truth = nearest_state((1.0 - share) * pure + share * np.eye(1 << qubits) / (1 << qubits))
    counts = simulate_counts(truth, all_bases(qubits), shots, seed=seed + 1)
    outcomes = np.zeros((1, len(counts), 1 << qubits), int)
    for row, seen in zip(outcomes[0], counts.values(), strict=True):
        for bits, number in seen.items():
            row[int(bits, 2)] = number
    bases = np.array([["ZXY".index(letter) for letter in basis[::-1]] for basis in counts])
    data = (outcomes, np.full(len(counts), shots), bases, np.zeros((len(counts), 0), int))
    basis: dict[str, Any] = {"measurement_basis": PauliMeasurementBasis(), "measurement_qubits": tuple(range(qubits))}
    rows: list[tuple[float, float, float]] = []
    for _, call, options in contestants:
        if seed == 0:
            call(*data, **basis, **options)
        (found, _), seconds = measure_time(lambda call=call, options=options: call(*data, **basis, **options))
        matrix = np.asarray(found[0] if isinstance(found, list) else found)
        state = nearest_state(matrix / np.trace(matrix).real)
        rows.append((seconds, chi_square(state, counts), state.fidelity(truth)))
    return rows


STATES = ("pure", "rank 2", "full rank", "GHZ", "GHZ + 5 %")
OBJECTIVES: dict[str, dict[str, Any]] = {
    "unipd": {},
    "rank auto": {"rank": "auto"},
    "outcomes": {"objective": "outcomes"},
    "gaussian": {"objective": "gaussian"},
}


def true_state(kind: str, qubits: int, seed: int) -> QuantumState:
    if kind == "pure":
        return random_pure(qubits, seed)
    if kind in ("rank 2", "full rank"):
        return random_mixed(qubits, 2 if kind == "rank 2" else 1 << qubits, seed)
    if kind == "GHZ":
        return ghz(qubits)
    return nearest_state(0.95 * ghz(qubits).density_matrix() + 0.05 * np.eye(1 << qubits) / (1 << qubits))


def trace_distance(state: QuantumState, other: QuantumState) -> float:
    return 0.5 * float(np.abs(np.linalg.eigvalsh(state.density_matrix() - other.density_matrix())).sum())


def invert_linearly(counts: dict[str, dict[str, int]]) -> QuantumState:
    """Return the state nearest to 2^-q (I + sum of estimate times string)."""
    data = estimate_paulis(as_counts(counts))
    size = 1 << data.qubits
    sum_of_strings = PauliMap(data.qubits, data.x, data.z, "double", 1).adjoint(data.expectations / size)
    return nearest_state(sum_of_strings.toarray() + np.eye(size) / size)


def iterate_r_rho_r(counts: dict[str, dict[str, int]], nats: float = 0.01, steps: int = 20_000) -> QuantumState:
    """Return the limit of rho -> R rho R / trace, R = sum n / p Pi, until lambda_max(R) - S <= nats; rho = F F^*."""
    parts = as_counts(counts)
    probabilities, histogram = OutcomeMap([part.basis for part in parts], "double", 1), histogram_of(parts).counts
    size, seen = probabilities.domain[0], histogram > 0
    factor = np.eye(size, dtype=complex) / math.sqrt(size)
    for step in range(steps):
        chances = probabilities.image(LowRank(factor, factor, np.ones(size)))
        ratios = np.where(seen, histogram / np.where(seen, chances, 1.0), 0.0)
        operator = probabilities.adjoint(ratios).toarray()
        if step % 20 == 0 and np.linalg.eigvalsh(operator)[-1] - histogram.sum() <= nats:
            break
        factor = operator @ factor
        factor /= np.linalg.norm(factor)
    return nearest_state(factor @ factor.conj().T)


SCS_QUBITS, SCS_SEEDS = 4, 3
"""Above so many qubits ``cvxpy_gaussian_lstsq`` gets so many experiments, with eight shots an outcome: SCS is slow."""
Key = tuple[int, str, int]
"""Qubits, state and shots: a row of the table of states."""


def is_run(peer: str, row: Key, seed: int) -> bool:
    is_few = seed < SCS_SEEDS and row[2] == 8 << row[0]
    return peer != "Qiskit Gaussian" or row[0] <= SCS_QUBITS or is_few


def compare_states(sizes: list[int], seeds: int, archive: Archive) -> None:
    """Print infidelity and trace distance of estimates from counts in all bases.

    Seeds are the outer loop, so that an interrupted run has as many of them in every row.
    """
    peers: dict[str, Callable[[dict[str, dict[str, int]]], QuantumState]] = {
        "linear inversion": invert_linearly,
        "R-rho-R": iterate_r_rho_r,
        **{
            name: lambda counts, options=options: PauliTomography(threads=1, **options).fit_counts(counts).state_
            for name, options in OBJECTIVES.items()
        },
    }
    if find_spec("qiskit_experiments") is not None:
        peers["Qiskit Gaussian"] = fit_by_qiskit
    rows: list[Key] = [(q, kind, shots) for q in sizes for shots in (8 << q, 100, 1000) for kind in STATES]
    values: dict[Key, dict[str, list[list[float]]]] = {row: {name: [] for name in peers} for row in rows}
    for qubits in sizes:
        for name, call in peers.items():
            if is_run(name, (qubits, "pure", 8 << qubits), 0):
                call(simulate_counts(random_pure(qubits, 99), all_bases(qubits), 20, seed=99))
    for seed, row in itertools.product(range(seeds), rows):
        for name, figures in _one_experiment(row, seed, peers, archive).items():
            values[row][name].append(figures)
    print(f"\nCounts in all 3^q bases, means of {seeds} experiments: 1 - F in thousandths, trace distance, CPU seconds")
    for row in rows:
        _print_row(row, values[row])


def _one_experiment(row: Key, seed: int, peers: dict[str, Any], archive: Archive) -> dict[str, list[float]]:
    """Return infidelity, trace distance and seconds of every estimate from one experiment."""
    qubits, kind, shots = row
    truth = true_state(kind, qubits, seed)
    counts = simulate_counts(truth, all_bases(qubits), shots, seed=1000 + seed)

    def measure(call: Callable[..., QuantumState]) -> list[float]:
        state, seconds = measure_time(lambda: call(counts))
        return [1e3 * (1.0 - state.fidelity(truth)), trace_distance(state, truth), seconds]

    return {
        name: archive.compute(f"{qubits}|{kind}|{shots}|{seed}|{name}", lambda call=call: measure(call))
        for name, call in peers.items()
        if is_run(name, row, seed)
    }


def _print_row(row: Key, values: dict[str, list[list[float]]]) -> None:
    qubits, kind, shots = row
    means = {name: np.mean(figures, axis=0) for name, figures in values.items() if figures}
    cells = "; ".join(f"{name} {mean[0]:.2f} {mean[1]:.4f} {mean[2]:.3f}" for name, mean in means.items())
    print(f"{qubits} qubits, {kind}, {shots} shots: {cells}", flush=True)
    if shots == 8 << qubits:
        ratio = float(means["unipd"][1] / means["R-rho-R"][1])
        note(f"{qubits} qubits, {kind}, 8 shots an outcome: trace distance of unipd / R-rho-R", ratio, "x", 1.02)


def fit_by_qiskit(counts: dict[str, dict[str, int]]) -> QuantumState:
    """Return the estimate of ``cvxpy_gaussian_lstsq``."""
    from qiskit_experiments.library.tomography import fitters
    from qiskit_experiments.library.tomography.basis import PauliMeasurementBasis

    qubits, table = len(next(iter(counts))), histogram_of(as_counts(counts)).counts.astype(int).reshape(len(counts), -1)
    bases = np.array([["ZXY".index(letter) for letter in basis[::-1]] for basis in counts])
    data = (table[np.newaxis], table.sum(axis=1), bases, np.zeros((len(counts), 0), int))
    options = {"measurement_basis": PauliMeasurementBasis(), "measurement_qubits": tuple(range(qubits))}
    matrix = np.asarray(fitters.cvxpy_gaussian_lstsq(*data, **options, solver="SCS")[0])
    return nearest_state(matrix / np.trace(matrix).real)


GOALS = {(8, 3): 0.985, (10, 3): 0.95, (12, 3): 0.81, (12, 1): 0.93, (14, 1): 0.74}
"""Fidelities that a descent over factors of known rank reaches."""


def descend_with_momentum(data: PauliData, rank: int, steps: int = 2000) -> QuantumState:
    """Return the state of a descent over factors with constant momentum (Kim, Kollias, Kalev et al., 2023).

    From the top eigenvectors of A^*(b), with the step of the curvature there, until the loss falls by less than 1e-6 of
    itself in ten steps. It shares the products of :class:`PauliMap`; the rank is known to it.
    """
    strings = PauliMap(data.qubits, data.x, data.z, "double", 1)
    size, count, momentum = 1 << data.qubits, data.size, 0.75
    scale = size / count

    def top_factor() -> Any:
        operator: Any = strings.adjoint(scale * data.expectations)
        basis = np.random.default_rng(0).standard_normal((size, rank)) + 0j
        for _ in range(10):
            basis = np.linalg.qr(operator @ basis)[0]
        values, vectors = np.linalg.eigh(basis.conj().T @ (operator @ basis))
        factor = (basis @ vectors) * np.sqrt(np.maximum(values, 1e-3))
        return factor / np.linalg.norm(factor)

    def residual_of(factor: Any) -> Any:
        return strings.image(LowRank(factor, factor, np.ones(rank))) - data.expectations

    factor = before = top_factor()
    step = 0.25 / float(np.linalg.norm(factor, 2) ** 2)
    losses: list[float] = []
    for _ in range(steps):
        ahead = factor + momentum * (factor - before)
        residual = residual_of(ahead)
        losses.append(float(residual @ residual))
        if len(losses) > 10 and losses[-11] - losses[-1] <= 1e-6 * losses[-1]:
            break
        before, factor = factor, ahead - step * (strings.adjoint(scale * residual) @ ahead)
    return QuantumState(factor, np.linalg.norm(factor, axis=0) ** 2)


def compare_scale(sizes: list[int], seeds: int, archive: Archive) -> None:
    """Print fidelities of noisy states of many qubits: by default, at the known rank, by momentum descent at it."""
    print(f"\n10,000 shots a string, {seeds} experiments: mean (least) fidelity and median CPU seconds")
    for qubits, rank in ((qubits, rank) for qubits in sizes for rank in (1, 3) if rank == 1 or qubits < 14):
        ways: dict[str, dict[str, Any] | None] = {"default": {}, "rank known": {"rank": rank}, "momentum descent": None}
        if qubits <= 8:
            ways["all states"] = {"objective": "weighted"}
        cells: list[str] = []
        for name, options in ways.items():
            rows = np.array([_one_at_scale(qubits, rank, seed, name, options, archive) for seed in range(1, seeds + 1)])
            fidelity, seconds = rows[:, 0].mean(), float(np.median(rows[:, 1]))  # the first may load kernels
            cells.append(f"{name} {fidelity:.4f} ({rows[:, 0].min():.4f}) {seconds:.2f}")
            if name in ("default", "rank known") and (qubits, rank) in GOALS:
                goal = GOALS[qubits, rank]
                note(f"{qubits} qubits, rank {rank}, {name}: fidelity", fidelity, "share", goal, at_least=True)
        print(f"{qubits} qubits, rank {rank}: {'; '.join(cells)}", flush=True)


def _one_at_scale(
    qubits: int, rank: int, seed: int, name: str, options: dict[str, Any] | None, archive: Archive
) -> list[float]:
    """Return fidelity and seconds of one estimate."""

    def measure() -> list[float]:
        noise = Noise(shots=10_000)
        experiment = simulate("random" if rank == 1 else "mixed", qubits, rank=rank, noise=noise, seed=seed)

        def fit() -> QuantumState:
            if options is None:
                return descend_with_momentum(experiment.data, rank)
            return PauliTomography(threads=1, **options).fit_data(experiment.data).state_

        state, seconds = measure_time(fit)
        return [state.fidelity(experiment.state), seconds]

    return archive.compute(f"scale|{qubits}|{rank}|{seed}|{name}", measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small instances only")
    parser.add_argument("--seeds", type=int, default=10, help="experiments with qiskit-experiments, and of each state")
    parser.add_argument("--most", type=int, default=7, help="most qubits for SCS")
    parser.add_argument("--only", choices=("scs", "qiskit", "states", "scale"), help="one of the tables")
    parser.add_argument("--save", type=Path, help="keep the tables of states and scale here, and go on from there")
    options = parser.parse_args()
    archive = Archive(options.save)

    def is_wanted(name: str) -> bool:
        return options.only in (None, name)

    if is_wanted("scs") and find_spec("cvxpy") is None:
        print("CVXPY is not installed: skipped")
    elif is_wanted("scs"):
        sizes = [4] if options.quick else list(range(4, options.most + 1))
        against_scs(sizes, 0.01, 1 if options.quick else 3)
    if is_wanted("qiskit") and find_spec("qiskit_experiments") is None:
        print("qiskit-experiments is not installed: skipped")
    elif is_wanted("qiskit"):
        for share in (0.0, 0.05):
            sizes, seeds = ([3], 1) if options.quick else ([3, 4, 5], options.seeds)
            against_qiskit(sizes, 1024, seeds, share)
    if is_wanted("states"):
        compare_states([2] if options.quick else [2, 3, 4, 5], 2 if options.quick else options.seeds, archive)
    if is_wanted("scale"):
        compare_scale([8] if options.quick else [8, 10, 12, 14], 1 if options.quick else 3, archive)


if __name__ == "__main__":
    main()
