"""From counts in local measurement bases to Pauli expectation values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import FloatArray, IntArray
from unipd.apps.tomography.supports import all_signed_sums, supports_by_weight
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData
from unipd.io.pauli_room import require_room
from unipd.maps.pauli.strings import MOST_QUBITS, bit_count, parse

MAX_PAULIS = 1 << 19
"""Strings kept at most, unless another number is asked for."""
_BATCH = 1 << 22


@dataclass(frozen=True, eq=False)
class BasisCounts:
    """Outcomes in one local basis: ``counts[i]`` shots gave the bits ``outcomes[i]``."""

    basis: str
    """One of X, Y, Z for each qubit, the rightmost for qubit 0."""
    outcomes: IntArray
    """Distinct outcomes as integers: bit b is qubit b."""
    counts: IntArray
    """How often each was seen."""

    @property
    def shots(self) -> int:
        """Number of shots."""
        return int(self.counts.sum())


def as_counts(counts: Any) -> list[BasisCounts]:
    """Return checked counts from a mapping of basis -> {bit-string: count}.

    The rightmost letter of a basis and the rightmost bit of a bit-string belong to qubit 0 (Qiskit's order); spaces
    between registers are ignored. Qiskit's ``Counts`` are such mappings.

    >>> as_counts({"XZ": {"00": 3, "10": 1}})[0].outcomes
    array([0, 2])
    """
    if isinstance(counts, list) and counts and all(isinstance(part, BasisCounts) for part in counts):
        return counts
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput("counts", "a mapping of basis -> {bit-string: count}", type(counts).__name__)
    qubits = len(str(next(iter(counts))))
    if qubits > MOST_QUBITS:
        require_room(qubits, 1)
    return [_basis_counts(basis, outcomes, qubits) for basis, outcomes in counts.items()]


def _basis_counts(basis: Any, outcomes: Any, qubits: int) -> BasisCounts:
    known = isinstance(basis, str) and 1 <= len(basis) <= MOST_QUBITS and not basis.strip("XYZ")
    if not known or len(basis) != qubits:
        raise InvalidInput("counts", f"bases of {qubits} letters X, Y, Z", repr(basis))
    if not isinstance(outcomes, Mapping):
        raise InvalidInput(f"counts[{basis!r}]", "a mapping of bit-string -> count", type(outcomes).__name__)
    if getattr(outcomes, "hex_raw", None) is not None:  # Qiskit's Counts made from numbers forget leading zeros
        numbered: Any = outcomes
        outcomes = {format(key, f"0{qubits}b"): value for key, value in numbered.int_outcomes().items()}
    bits = ["".join(str(key).split()) for key in outcomes]
    for word in bits:
        if len(word) != qubits or word.strip("01"):
            raise InvalidInput(f"counts[{basis!r}]", f"bit-strings of {qubits} bits", repr(word))
    numbers = [validate.integer(f"counts[{basis!r}]", value, minimum=0) for value in outcomes.values()]
    if sum(numbers) == 0:
        raise InvalidInput(f"counts[{basis!r}]", "at least one shot", "none")
    return BasisCounts(basis, np.array([int(word, 2) for word in bits]), np.array(numbers, np.int64))


def estimates(counts: list[BasisCounts], *, max_weight: int | None = None, max_paulis: int | None = None) -> PauliData:
    """Estimate every Pauli string that the bases determine, pooled over the bases.

    A basis B determines the 2^q strings that have B's letter or I on each qubit; the estimate is the mean of the
    product of their signs. A string that several bases determine gets the mean over all their shots, which weighs
    every basis by the inverse of its variance (1 - e^2) / N.

    Parameters
    ----------
    counts
        The outcomes by basis.
    max_weight
        Largest number of letters other than I.
    max_paulis
        Keep so many strings, those of lowest weight first (they are determined by most bases).

    Examples
    --------
    >>> data = estimates(as_counts({"ZZ": {"00": 3, "11": 1}}))
    >>> data.labels(), data.expectations, data.shots
    (['IZ', 'ZI', 'ZZ'], array([0.5, 0.5, 1. ]), array([4., 4., 4.]))
    """
    qubits = len(counts[0].basis)
    limit = MAX_PAULIS if max_paulis is None else validate.integer("max_paulis", max_paulis, minimum=1)
    weight = _largest_weight(qubits, max_weight, limit)
    keys, sums, shots = _pooled(counts, supports_by_weight(qubits, weight))
    order = np.argsort(_weights(keys, qubits), kind="stable")[:limit]
    kept = np.sort(order)
    x, z = keys[kept] >> qubits, keys[kept] & ((1 << qubits) - 1)
    return PauliData(qubits, x, z, sums[kept] / shots[kept], shots[kept])


def _largest_weight(qubits: int, max_weight: int | None, limit: int) -> int:
    """Return the largest weight asked for, lowered while one basis alone would give more strings than allowed."""
    weight = qubits if max_weight is None else min(qubits, validate.integer("max_weight", max_weight, minimum=1))
    while weight > 1 and sum(math.comb(qubits, k) for k in range(1, weight)) > limit:
        weight -= 1
    return weight


def _weights(keys: IntArray, qubits: int) -> IntArray:
    return bit_count((keys >> qubits) | (keys & ((1 << qubits) - 1)))


def _pooled(counts: list[BasisCounts], supports: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the distinct strings (x << q | z), their summed signs and their shots."""
    merged: list[tuple[IntArray, FloatArray, FloatArray]] = []
    waiting = 0
    for part in _by_basis(counts, supports):
        merged.append(part)
        waiting += part[0].size
        if waiting > _BATCH:
            merged, waiting = [_merge(merged)], 0
    return _merge(merged)


def _by_basis(counts: list[BasisCounts], supports: IntArray) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    for part in counts:
        qubits, x, z = parse([part.basis])
        sums = all_signed_sums(qubits, part.outcomes, part.counts, supports)
        keys = ((supports & x[0]) << qubits) | (supports & z[0])
        yield keys, sums, np.full(supports.size, float(part.shots))


def _merge(parts: list[tuple[IntArray, FloatArray, FloatArray]]) -> tuple[IntArray, FloatArray, FloatArray]:
    keys, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    values = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
    sums, shots = (np.bincount(place, value, keys.size).astype(np.float64) for value in values)
    return keys, sums, shots
