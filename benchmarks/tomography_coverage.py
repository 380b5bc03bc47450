"""Do 95 % intervals cover? Thirteen repeated experiments with known truth, and the share of intervals that hold it.

    python benchmarks/tomography_coverage.py [--quick] [--repetitions N] [--replicates B] [--only CASE] [--save FILE]

Intervals are those of the bootstrap for the fidelity with a target, an observable, the purity and the largest
eigenvalue, and of unmeasured strings where there are any; beside them the certified range of the observable over all
states that fit within chi-square (``state_range``), alone (with and without its calibration) and for all observables
together (``joint``). CPU seconds are those of the bootstrap of one repetition. Covering between 90 and 99 of 100 is
the goal for figures that the data determine.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from figures import Archive, note
from unipd.apps.tomography import (
    MeasurementWarning,
    Noise,
    PauliTomography,
    QuantumState,
    all_bases,
    as_counts,
    as_state,
    ghz,
    random_mixed,
    random_pure,
    simulate_counts,
    w_state,
)
from unipd.maps.pauli import OutcomeMap

RANGES: dict[str, dict[str, Any]] = {
    "range": {"joint": False},
    "uncalibrated range": {"joint": False, "replicates": 0},
    "joint range": {},
}
"""Certified ranges of the observable: of it alone, as it would be without a calibration, and of all together."""


def with_white_noise(state: QuantumState, share: float) -> QuantumState:
    size = state.dimension
    return as_state((1.0 - share) * state.density_matrix() + share * np.eye(size) / size)


@dataclass(frozen=True)
class Case:
    """An experiment that is repeated."""

    make: Callable[[int], QuantumState]
    """The true state of a repetition."""
    qubits: int
    shots: int
    strings: int | None = None
    """Number of random strings measured one by one; None for counts in all bases."""
    target: Callable[[int], QuantumState] | None = None
    """State of the fidelity; None for the first eigenvector of the true state."""
    readout: float = 0.0
    """Probability of a flipped bit, which the fit knows."""
    povm: bool = False
    """Whether every qubit is measured by a symmetric informationally complete POVM, instead of in bases."""


CASES: dict[str, Case] = {
    "GHZ-3 + 5 %, 150 shots a basis": Case(lambda s: with_white_noise(ghz(3), 0.05), 3, 150, target=lambda s: ghz(3)),
    "GHZ-3 + 5 %, 1,000": Case(lambda s: with_white_noise(ghz(3), 0.05), 3, 1000, target=lambda s: ghz(3)),
    "GHZ-4 + 5 %, 10,000": Case(lambda s: with_white_noise(ghz(4), 0.05), 4, 10_000, target=lambda s: ghz(4)),
    "GHZ-2 + 5 %, 1,000": Case(lambda s: with_white_noise(ghz(2), 0.05), 2, 1000, target=lambda s: ghz(2)),
    "W-3 + 10 %, 300": Case(lambda s: with_white_noise(w_state(3), 0.1), 3, 300, target=lambda s: w_state(3)),
    "W-3 + 10 %, 20": Case(lambda s: with_white_noise(w_state(3), 0.1), 3, 20, target=lambda s: w_state(3)),
    "random full rank, 3 qubits, 100": Case(lambda s: random_mixed(3, 8, s), 3, 100),
    "random rank 2, 3 qubits, 1,000": Case(lambda s: random_mixed(3, 2, s), 3, 1000),
    "random pure + 20 %, 2 qubits, 200": Case(lambda s: with_white_noise(random_pure(2, s), 0.2), 2, 200),
    "random full rank, all 63 strings, 1,000": Case(lambda s: random_mixed(3, 8, s), 3, 1000, strings=63),
    "GHZ-3 + 5 %, 5 % readout errors, 500": Case(
        lambda s: with_white_noise(ghz(3), 0.05), 3, 500, target=lambda s: ghz(3), readout=0.05
    ),
    "random pure + 20 %, 2 qubits, SIC, 5,000": Case(
        lambda s: with_white_noise(random_pure(2, s), 0.2), 2, 5000, povm=True
    ),
    "random full rank, 44 of 63 strings, 10,000": Case(lambda s: random_mixed(3, 8, s), 3, 10_000, strings=44),
}


def observable(qubits: int) -> dict[str, float]:
    return {"X" * qubits: 0.5, "ZZ" + "I" * (qubits - 2): 0.5}


def fit_once(case: Case, truth: QuantumState, repetition: int) -> tuple[PauliTomography, list[str]]:
    """Return the estimate of one experiment, and the strings that were not measured."""
    solver = PauliTomography(threads=1)
    if case.povm:
        keys = ["".join(digits) for digits in itertools.product("0123", repeat=case.qubits)]
        measured = OutcomeMap([as_counts(dict.fromkeys(keys, 1), "sic")[0].measurement], "double")
        drawn = np.random.default_rng(100 + repetition).multinomial(case.shots, measured.image(truth.low_rank))
        return solver.fit_counts(dict(zip(keys, drawn.tolist(), strict=True)), povm="sic"), []
    if case.strings is None:
        noise = Noise(readout=case.readout)
        counts = simulate_counts(truth, all_bases(case.qubits), case.shots, noise=noise, seed=100 + repetition)
        return solver.fit_counts(counts, readout=case.readout or None), []
    labels = ["".join(letters) for letters in itertools.product("IXYZ", repeat=case.qubits)][1:]
    rng = np.random.default_rng(repetition)
    kept = set(rng.permutation(len(labels))[: case.strings].tolist())
    used = [label for place, label in enumerate(labels) if place in kept]
    chances = np.clip(0.5 * (1.0 + truth.expectations(used)), 0.0, 1.0)
    values = 2.0 * rng.binomial(case.shots, chances) / case.shots - 1.0
    unused = [label for place, label in enumerate(labels) if place not in kept]
    return solver.fit(used, values, shots=case.shots), unused


def cover_once(case: Case, repetition: int, replicates: int, resample: str) -> dict[str, bool]:
    """Return for every figure whether its 95 % interval holds the truth."""
    truth = case.make(repetition)
    target = QuantumState(truth.eigenvectors[:, 0]) if case.target is None else case.target(repetition)
    estimate, unused = fit_once(case, truth, repetition)
    named = {"O": observable(case.qubits), **{label: label for label in unused[:3]}}
    errors = estimate.bootstrap(
        replicates, target=target, observables=named, seed=repetition, threads=1, resample=resample
    )
    figures: dict[str, Any] = {"fidelity": truth.fidelity(target), "O": truth.expectation(named["O"])}
    figures |= {"purity": truth.purity, "eigenvalue_1": float(truth.eigenvalues[0])}
    figures |= {label: truth.expectation(label) for label in unused[:3]}
    held: dict[str, bool] = {}
    for name, value in figures.items():
        if name not in errors.undetermined_figures:
            low, high = errors.interval(name)
            held[name] = bool(low - 1e-12 <= value <= high + 1e-12)
    return held


def cover_range(case: Case, repetition: int, **options: Any) -> dict[str, Any]:
    """Return whether a certified range of the observable holds the truth, and its width."""
    truth = case.make(repetition)
    estimate, _ = fit_once(case, truth, repetition)
    found = estimate.state_range(observable(case.qubits), **options)
    held = bool(found.low <= truth.expectation(observable(case.qubits)) <= found.high)
    return {"held": held, "width": found.width}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two repetitions of the first case")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--resample", default="parametric", choices=("parametric", "basis"))
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--save", type=Path, help="keep the repetitions here, and go on from there")
    options = parser.parse_args()
    archive = Archive(options.save)
    if options.quick:
        options.repetitions, options.replicates, options.only = 2, 4, next(iter(CASES))
    warnings.simplefilter("ignore", MeasurementWarning)
    print(f"share of {options.repetitions} repetitions whose 95 % interval holds the truth, in %")
    for name, case in CASES.items():
        if options.only and options.only not in name:
            continue

        def repeat(repetition: int, case: Case = case) -> dict[str, Any]:
            begun = time.process_time()
            held = cover_once(case, repetition, options.replicates, options.resample)
            return {**held, "seconds": time.process_time() - begun}

        rows = [
            archive.compute(f"{name}|{number}|{options.replicates}|{options.resample}", lambda n=number: repeat(n))
            for number in range(options.repetitions)
        ]
        ranges = {
            kind: [
                archive.compute(f"{name}|{number}|{kind}", lambda n=number, o=given, c=case: cover_range(c, n, **o))
                for number in range(options.repetitions)
            ]
            for kind, given in RANGES.items()
        }
        seconds = float(np.mean([row["seconds"] for row in rows]))
        shares: dict[str, float] = {}
        for figure in ("fidelity", "O", "purity", "eigenvalue_1"):
            held = [row[figure] for row in rows if figure in row]
            if held:
                shares[figure] = 100.0 * float(np.mean(held))
        shares |= {kind: 100.0 * float(np.mean([row["held"] for row in held])) for kind, held in ranges.items()}
        unseen = [value for row in rows for label, value in row.items() if label.isupper() and label != "O"]
        if unseen:
            shares["unmeasured strings"] = 100.0 * float(np.mean(unseen))
        cells = "; ".join(f"{figure} {share:.0f}" for figure, share in shares.items())
        widths = {kind: float(np.mean([row["width"] for row in held])) for kind, held in ranges.items()}
        widening = widths["range"] / widths["uncalibrated range"]
        print(f"{name}: {cells}; calibration widens by {widening:.2f}; {seconds:.2f} s", flush=True)
        for figure in ("fidelity", "O"):
            note(f"{name}: coverage of 95 % intervals, {figure}", shares[figure], "%", 90.0, at_least=True)


if __name__ == "__main__":
    main()
