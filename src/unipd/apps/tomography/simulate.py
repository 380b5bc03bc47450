"""Simulated experiments: a state, the strings measured, and noisy expectation values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.tomography.mapping import pauli_map
from unipd.apps.tomography.measurements import choose_paulis, measurement_count, require_room
from unipd.apps.tomography.noise import Noise
from unipd.apps.tomography.paulis import as_paulis
from unipd.apps.tomography.settings import DOUBLE_QUBITS
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.apps.tomography.states import make_state
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated experiment."""

    state: QuantumState
    """The state that was measured."""
    data: PauliData
    """The strings and the measured values, with their standard errors when there is random noise."""
    noise: Noise
    """What made them noisy."""
    exact: FloatArray
    """The state's own expectation values; above 11 qubits in single precision."""


def simulate(
    state: QuantumState | str = "random",
    qubits: int | None = None,
    *,
    measurements: int | None = None,
    paulis: Any = None,
    noise: Noise | None = None,
    rank: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Simulation:
    """Measure Pauli strings of a state; no p x p matrix is formed.

    Parameters
    ----------
    state
        A state (or what :func:`as_state` makes one of), or the name of one: "random" (pure), "mixed", "ghz", "w",
        "product".
    qubits
        Number of qubits, for a state given by name.
    measurements
        Number of distinct random strings; default :func:`measurement_count` for the state's rank.
    paulis
        The strings to measure, in the place of random ones.
    noise
        Noise of the measurements; none by default.
    rank
        Rank of the state "mixed" (3 by default, 2 for one qubit).
    seed
        Seed of the state, the strings and the noise (three independent streams).
    threads
        Threads of the products.

    Examples
    --------
    >>> experiment = simulate("ghz", 3, noise=Noise(shots=1000), seed=1)
    >>> experiment.data.size, float(experiment.data.shots[0])
    (64, 1000.0)
    """
    root = validate.integer("seed", seed, minimum=0)
    noise = Noise() if noise is None else noise
    truth = _state(state, qubits, measurements, rank, _stream(root, 0))
    if paulis is None:
        count = measurement_count(truth.qubits, truth.rank) if measurements is None else measurements
        strings = choose_paulis(truth.qubits, count, _stream(root, 1))
    else:
        strings = as_paulis(paulis, truth.qubits)
    precision = "double" if truth.qubits <= DOUBLE_QUBITS else "single"
    exact = np.asarray(pauli_map(strings, precision=precision, threads=threads).image(truth.low_rank), np.float64)
    values = noise.sampled(strings, exact, np.random.default_rng(_stream(root, 2)))
    shots = None if noise.shots is None else np.full(values.shape, float(noise.shots))
    stderr = None if noise.gaussian == 0.0 else noise.stderr(values)
    return Simulation(truth, PauliData(*strings, values, shots, stderr), noise, exact)


def _state(state: Any, qubits: int | None, measurements: int | None, rank: int | None, seed: int) -> QuantumState:
    """Return the state to measure; one given by name is made only after a look at the memory."""
    if not isinstance(state, str):
        return as_state(state)
    if qubits is None:
        raise InvalidInput("qubits", "the number of qubits of a state given by name", "None")
    return make_state(state, require_room(qubits, measurements), rank=rank, seed=seed)


def _stream(seed: int, part: int) -> int:
    """Return the seed of one of the independent random streams of an experiment."""
    return int(np.random.SeedSequence([seed, part]).generate_state(1, np.uint64)[0])
