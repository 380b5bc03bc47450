"""Test channels and simulated experiments."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.apps.process_tomography.channel import GATES, QuantumChannel, as_channel
from unipd.apps.process_tomography.data import LOST, all_preparations, prepared_state, read_effects
from unipd.apps.tomography.simulation import all_bases
from unipd.errors import InvalidInput

CHANNELS = ("random", "unitary", "depolarizing", "damping", "dephasing")
"""Test channels known by name, besides the gates."""


def random_unitary(dimension: int, seed: int = 0) -> Array:
    """Return a random unitary matrix (Haar measure).

    Parameters
    ----------
    dimension
        Number of rows.
    seed
        Seed of the random numbers; equal seeds give equal results.

    See Also
    --------
    random_channel

    Examples
    --------
    >>> unitary = random_unitary(2)
    >>> bool(np.allclose(unitary @ unitary.conj().T, np.eye(2)))
    True
    """
    return _random_isometry(dimension, dimension, np.random.default_rng(seed))


def random_channel(qubits: int, rank: int | None = None, seed: int = 0) -> QuantumChannel:
    """Return a channel with random Kraus operators, ``rank`` of them (by default 4^q).

    Parameters
    ----------
    qubits
        The number of qubits.
    rank
        Number of Kraus operators.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``qubits``, ``rank``: expected an integer of at least 1.

    See Also
    --------
    random_unitary, make_channel

    Examples
    --------
    >>> channel = random_channel(1, rank=2)
    >>> channel.rank, channel.is_trace_preserving
    (2, True)
    """
    size = 1 << validate.integer("qubits", qubits, minimum=1)
    number = size * size if rank is None else validate.integer("rank", rank, minimum=1)
    isometry = _random_isometry(number * size, size, np.random.default_rng(seed))
    return QuantumChannel.from_kraus(isometry.reshape(number, size, size))


def noisy_channel(channel: Any, *, depolarizing: float = 0.0, loss: float = 0.0) -> QuantumChannel:
    """Return a channel followed by depolarising noise, and with a share of all shots lost.

    With probability ``depolarizing`` the output is replaced by white noise; the identity is one of its errors, unlike
    those that ``strength`` of :func:`make_channel` counts.

    Parameters
    ----------
    channel
        The channel, in any form that :func:`as_channel` takes.
    depolarizing
        The share of white noise in the output.
    loss
        The share of shots that are lost.

    Raises
    ------
    InvalidInput
        Unless both shares are between 0 and 1.

    See Also
    --------
    make_channel, as_channel

    Examples
    --------
    >>> round(noisy_channel("x", depolarizing=0.04).process_fidelity("x"), 9)
    0.97
    """
    clean = as_channel(channel)
    for name, share in (("depolarizing", depolarizing), ("loss", loss)):
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(name, "a number from 0 to 1", f"{share!r}")
    white = np.kron(clean.input_effect, np.eye(clean.outputs)) / clean.outputs
    return QuantumChannel((1.0 - loss) * ((1.0 - depolarizing) * clean.choi + depolarizing * white), clean.inputs)


def make_channel(
    name: str, qubits: int | None = None, *, strength: float = 0.1, rank: int | None = None, seed: int = 0
) -> QuantumChannel:
    """Return a test channel by name.

    Parameters
    ----------
    name
        A gate ("cx", ...), "random" (random Kraus operators), "unitary" (random), or noise on every qubit:
        "depolarizing", "damping" (of amplitudes), "dephasing".
    qubits
        Number of qubits; that of a gate is known.
    strength
        Probability of an error of the three kinds of noise.
    rank
        Number of Kraus operators of "random".
    seed
        Seed of the random channels.

    Raises
    ------
    InvalidInput
        ``qubits``: expected the number of qubits of a channel other than a gate; ``strength``: expected a
        probability.

    See Also
    --------
    noisy_channel, random_channel, simulate_process

    Examples
    --------
    >>> make_channel("damping", 1, strength=0.25).apply(np.diag([0.0, 1.0])).real
    array([[0.25, 0.  ],
           [0.  , 0.75]])
    """
    if name in GATES:
        gate = as_channel(name)
        if qubits not in (None, gate.qubits):
            raise InvalidInput("qubits", f"{gate.qubits}, that of the gate {name}", repr(qubits))
        return gate
    validate.choice("channel", name, (*GATES, *CHANNELS))
    if qubits is None:
        raise InvalidInput("qubits", "the number of qubits of a channel other than a gate", "None")
    if name == "random":
        return random_channel(qubits, rank, seed)
    if name == "unitary":
        return as_channel(random_unitary(1 << validate.integer("qubits", qubits, minimum=1), seed))
    if not 0.0 <= strength <= 1.0:
        raise InvalidInput("strength", "a probability", f"{strength!r}")
    return _on_every_qubit(_noise_operators(name, strength), validate.integer("qubits", qubits, minimum=1))


def simulate_process(
    channel: Any,
    *,
    preparations: Iterable[str] | None = None,
    bases: Iterable[str] | None = None,
    shots: int = 1000,
    readout: float = 0.0,
    seed: int = 0,
) -> dict[tuple[str, str], dict[str, int]]:
    """Return counts ``{(preparation, basis): {bit-string: count}}`` of a simulated experiment.

    Parameters
    ----------
    channel
        A :class:`QuantumChannel`, or what :func:`as_channel` makes one of.
    preparations, bases
        Labels of the input states (by default all of 0, 1, +, r) and bases (by default all 3^q); every pair is
        measured.
    shots
        Shots of each pair. Those that a trace-decreasing map loses are counted under "lost".
    readout
        Probability that a bit is read wrongly.
    seed
        Seed of the outcomes.

    Raises
    ------
    InvalidInput
        If there is no such channel, preparation or basis, ``shots`` is not an integer of at least 1, or ``readout`` is
        not a probability.

    See Also
    --------
    make_channel, all_preparations, unipd.ProcessTomography

    Examples
    --------
    >>> simulate_process("x", preparations=["0"], bases=["Z"], shots=10)
    {('0', 'Z'): {'1': 10}}
    """
    truth, rng = as_channel(channel), np.random.default_rng(seed)
    number, width = validate.integer("shots", shots, minimum=1), truth.outputs.bit_length() - 1
    chosen = all_preparations(truth.qubits) if preparations is None else list(preparations)
    settings = list(bases or all_bases(width))
    wrong = next((basis for basis in settings if len(basis) != width), None)
    if wrong is not None:
        raise InvalidInput("bases", f"{width} letter(s) in every label", repr(wrong))
    operators = {basis: read_effects([basis], readout or None) for basis in settings}
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for label in chosen:
        output = truth.apply(prepared_state(label))
        for basis, effects in operators.items():
            probabilities = np.maximum(np.einsum("kop,po->k", effects, output).real, 0.0)
            missing = max(0.0, 1.0 - float(probabilities.sum()))
            drawn = rng.multinomial(number, [*probabilities, missing] / (probabilities.sum() + missing))
            seen = {format(bits, f"0{width}b"): int(drawn[bits]) for bits in np.flatnonzero(drawn[:-1])}
            counts[label, basis] = seen | ({LOST: int(drawn[-1])} if drawn[-1] else {})
    return counts


def _random_isometry(rows: int, columns: int, rng: np.random.Generator) -> Array:
    block = rng.standard_normal((rows, columns)) + 1j * rng.standard_normal((rows, columns))
    basis, triangle = np.linalg.qr(block)
    phases = np.diag(triangle) / np.abs(np.diag(triangle))
    return basis * phases


def _noise_operators(name: str, strength: float) -> Array:
    """Return the Kraus operators of noise on one qubit."""
    unit, keep = np.eye(2, dtype=np.complex128), math.sqrt(1.0 - strength)
    if name == "damping":
        return np.array([np.diag([1.0, keep]), math.sqrt(strength) * np.array([[0.0, 1.0], [0.0, 0.0]])], np.complex128)
    if name == "dephasing":
        return np.array([keep * unit, math.sqrt(strength) * GATES["z"]])
    errors = [math.sqrt(strength / 3.0) * GATES[letter] for letter in "xyz"]
    return np.array([keep * unit, *errors])


def _on_every_qubit(operators: Array, qubits: int) -> QuantumChannel:
    total = operators
    for _ in range(qubits - 1):
        total = np.einsum("aij,bkl->abikjl", total, operators).reshape(
            -1, total.shape[1] * operators.shape[1], total.shape[2] * operators.shape[2]
        )
    return QuantumChannel.from_kraus(total)
