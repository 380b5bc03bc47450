"""Objects of Qiskit and QuTiP as arrays and mappings, recognised by what they have: neither package is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput


@runtime_checkable
class StringsInside(Protocol):
    """An object with strings, such as Qiskit's ``SparsePauliOp``."""

    paulis: Any


@runtime_checkable
class PauliSum(StringsInside, Protocol):
    """Qiskit's ``SparsePauliOp``."""

    coeffs: Any


@runtime_checkable
class MaskedStrings(Protocol):
    """Qiskit's ``PauliList`` and ``Pauli``: booleans by string and qubit."""

    x: Any
    z: Any


@runtime_checkable
class SignedStrings(Protocol):
    """Strings with a phase, powers of -i."""

    phase: Any


@runtime_checkable
class LabelledString(Protocol):
    """Qiskit's ``Pauli``."""

    def to_label(self) -> str:
        """Return the label."""
        ...


@runtime_checkable
class BitArray(Protocol):
    """Qiskit's ``BitArray``: the shots of one or more circuits."""

    size: int
    shape: tuple[int, ...]
    num_bits: int

    def get_int_counts(self) -> Mapping[int, int]:
        """Return counts by outcome."""
        ...


@runtime_checkable
class SamplerResult(Protocol):
    """Qiskit's ``SamplerPubResult``."""

    def join_data(self) -> Any:
        """Return the shots of all registers as one ``BitArray``."""
        ...


@runtime_checkable
class PubResult(Protocol):
    """Qiskit's ``PubResult``: a ``BitArray`` by register."""

    data: Any
    metadata: Any


@runtime_checkable
class NumberedCounts(Protocol):
    """Qiskit's ``Counts``; those made from numbers drop leading zeros of bit-strings."""

    hex_raw: Any

    def int_outcomes(self) -> Mapping[int, int]:
        """Return counts by outcome."""
        ...


@runtime_checkable
class WithShots(Protocol):
    """Qiskit's ``QuasiDistribution`` (a number of shots) and ``Counts`` (a method)."""

    shots: Any


@runtime_checkable
class DenseState(Protocol):
    """Qiskit's ``Statevector`` and ``DensityMatrix``."""

    dims: Any
    data: Any


@runtime_checkable
class Qobj(Protocol):
    """QuTiP's ``Qobj``."""

    dims: Any

    def full(self) -> Array:
        """Return the array."""
        ...


def read_masks(value: Any) -> tuple[Array, Array] | None:
    """Return the masks x and z of strings as arrays of shape (n, qubits), None for objects without them."""
    if isinstance(value, StringsInside):
        value = value.paulis
    if not isinstance(value, MaskedStrings):
        return None
    _refuse_phases(value)
    return np.atleast_2d(np.asarray(value.x)), np.atleast_2d(np.asarray(value.z))


def read_label(value: Any) -> Any:
    """Return the label of one string, the value itself if it is no object with a label."""
    if isinstance(value, LabelledString):
        _refuse_phases(value)
        return str(value.to_label())
    return str(value) if isinstance(value, np.str_) else value


def _refuse_phases(value: Any) -> None:
    if isinstance(value, SignedStrings) and np.any(np.asarray(value.phase) != 0):
        raise InvalidInput("paulis", "strings without sign or phase (move it to the values)", "a phase")


def read_state_array(value: Any) -> Any:
    """Return the vector or matrix of a state, the value itself if it is no such object."""
    if isinstance(value, Qobj):
        return value.full()
    return value.data if isinstance(value, DenseState) else value


def read_outcomes(name: str, qubits: int, outcomes: Any) -> tuple[Mapping[Any, Any], float]:
    """Return the counts by bit-string of one measurement, and the number by which they are to be multiplied.

    ``BitArray`` and ``PubResult`` have the shots one by one; registers are joined as in bit-strings: the first is the
    rightmost. A ``QuasiDistribution`` has probabilities and the number of its shots.

    >>> read_outcomes("counts", 1, {"0": 3})
    ({'0': 3}, 1.0)
    """
    if type(outcomes) is dict:  # the usual case: recognising objects takes longer than reading some counts
        return outcomes, 1.0
    if isinstance(outcomes, SamplerResult):
        outcomes = outcomes.join_data()
    elif isinstance(outcomes, PubResult) and not isinstance(outcomes, Mapping):
        registers = list(outcomes.data.values())
        if len(registers) != 1:
            raise InvalidInput(name, "a result with one register (others have join_data)", f"{len(registers)}")
        outcomes = registers[0]
    if isinstance(outcomes, BitArray):
        if outcomes.size != 1:
            expected = "the shots of one circuit (index the array: one basis, one entry)"
            raise InvalidInput(name, expected, f"an array of shape {outcomes.shape}")
        return {format(key, f"0{outcomes.num_bits}b"): value for key, value in outcomes.get_int_counts().items()}, 1.0
    if not isinstance(outcomes, Mapping):
        expected = "a mapping of bit-string -> count, or Qiskit's BitArray or PubResult"
        raise InvalidInput(name, expected, type(outcomes).__name__)
    if isinstance(outcomes, NumberedCounts) and outcomes.hex_raw is not None:
        return {format(key, f"0{qubits}b"): value for key, value in outcomes.int_outcomes().items()}, 1.0
    shots = outcomes.shots if isinstance(outcomes, WithShots) else None
    return outcomes, float(shots) if isinstance(shots, (int, float)) else 1.0
