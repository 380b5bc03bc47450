"""Measurements in local bases, simulated: every qubit is measured along X, Y or Z."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product as all_tuples

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.apps.tomography.counts import BasisCounts
from unipd.apps.tomography.noise import Noise
from unipd.apps.tomography.state import QuantumState
from unipd.errors import InvalidInput

_H = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
_ROTATIONS: Mapping[str, Array] = {"X": _H, "Y": _H @ np.diag([1.0, -1.0j])}


def all_bases(qubits: int) -> list[str]:
    """Return the 3^q local bases.

    >>> all_bases(1)
    ['X', 'Y', 'Z']
    """
    return ["".join(letters) for letters in all_tuples("XYZ", repeat=validate.integer("qubits", qubits, minimum=1))]


def random_bases(qubits: int, count: int, seed: int = 0) -> list[str]:
    """Return ``count`` distinct random local bases (all of them when there are no more).

    >>> len(set(random_bases(3, 10, seed=1)))
    10
    """
    number = validate.integer("count", count, minimum=1)
    if number >= 3**qubits:
        return all_bases(qubits)
    rng = np.random.default_rng(seed)
    chosen: dict[str, None] = {}
    while len(chosen) < number:
        chosen["".join(np.array(list("XYZ"))[rng.integers(0, 3, qubits)])] = None
    return list(chosen)


def outcome_chances(state: QuantumState, basis: str, noise: Noise | None = None) -> FloatArray:
    """Return the probability of every outcome in a basis, by index ``int(bits, 2)``.

    >>> outcome_chances(QuantumState([1, 1]), "X").round(12)
    array([1., 0.])
    """
    if len(basis) != state.qubits or basis.strip("XYZ"):
        raise InvalidInput("bases", f"bases of {state.qubits} letters X, Y, Z", repr(basis))
    tensor = (state.eigenvectors * np.sqrt(state.eigenvalues)).reshape((2,) * state.qubits + (-1,))
    for axis, letter in enumerate(basis):
        if letter != "Z":
            tensor = _on_axis(_ROTATIONS[letter], tensor, axis)
    chances = np.sum(np.abs(tensor) ** 2, axis=-1)
    if noise is not None:
        chances = (1.0 - noise.depolarising) * chances + noise.depolarising / chances.size
        if noise.readout:
            flips = np.array([[1.0 - noise.readout, noise.readout], [noise.readout, 1.0 - noise.readout]])
            for axis in range(state.qubits):
                chances = _on_axis(flips, chances, axis)
    flat = np.maximum(chances.reshape(-1), 0.0)
    return flat / flat.sum()


def sampled_bases(
    state: QuantumState,
    bases: Iterable[str],
    shots: Iterable[int],
    rng: np.random.Generator,
    noise: Noise | None = None,
) -> Iterator[BasisCounts]:
    """Yield random outcomes of so many shots in each basis."""
    for basis, number in zip(bases, shots, strict=True):
        counts = rng.multinomial(number, outcome_chances(state, basis, noise))
        seen = np.flatnonzero(counts)
        yield BasisCounts(basis, seen, counts[seen])


def simulate_counts(
    state: QuantumState, bases: Iterable[str], shots: int, *, noise: Noise | None = None, seed: int = 0
) -> dict[str, dict[str, int]]:
    """Return counts of bit-strings (qubit 0 at the right) for so many shots in each basis.

    Depolarising and readout noise act on the outcomes; the shots of ``noise`` are not used.

    >>> simulate_counts(QuantumState([1, 0, 0, 1]), ["XX"], 100, seed=1)
    {'XX': {'00': 45, '11': 55}}
    """
    chosen = list(bases)
    number = validate.integer("shots", shots, minimum=1)
    rng = np.random.default_rng(seed)
    parts = sampled_bases(state, chosen, [number] * len(chosen), rng, noise)
    width = state.qubits
    return {
        part.basis: {
            format(bits, f"0{width}b"): int(count) for bits, count in zip(part.outcomes, part.counts, strict=True)
        }
        for part in parts
    }


def _on_axis(matrix: Array, tensor: Array, axis: int) -> Array:
    """Multiply one axis of a tensor by a matrix."""
    return np.moveaxis(np.tensordot(matrix, tensor, axes=(1, axis)), 0, axis)
