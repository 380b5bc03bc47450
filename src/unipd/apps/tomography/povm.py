"""Measurements given as operators: a POVM for every qubit, or one of all qubits together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.maps.pauli import Measurement, pauli_coefficients
from unipd.maps.pauli.strings import MOST_QUBITS

OPERATOR_TOLERANCE = 1e-6
"""Largest error of operators that are to be Hermitian, positive and to sum to one: rounding and printed digits."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Outcomes of a qubit in keys of counts."""
JOINT_QUBITS = 6
"""Most qubits of a measurement of all qubits together, whose coefficients are a dense matrix."""


def sic_povm() -> Array:
    """Return the symmetric informationally complete POVM of a qubit: four operators of trace 1/2, a tetrahedron.

    See Also
    --------
    pauli6_povm, unipd.PauliTomography

    Examples
    --------
    >>> np.allclose(sic_povm().sum(axis=0), np.eye(2))
    True
    """
    points = [(0.0, 0.0, 1.0)]
    for turn in range(3):
        angle = 2.0 * math.pi * turn / 3.0
        points.append((math.sqrt(8.0) / 3.0 * math.cos(angle), math.sqrt(8.0) / 3.0 * math.sin(angle), -1.0 / 3.0))
    return np.array([_bloch_operator(0.25, point) for point in points])


def pauli6_povm() -> Array:
    """Return the Pauli-6 POVM of a qubit: the projectors on the states 0, 1, +, -, +i, -i, each divided by three.

    It describes a measurement in a random one of the bases Z, X, Y.

    See Also
    --------
    sic_povm, unipd.PauliTomography

    Examples
    --------
    >>> pauli6_povm().shape
    (6, 2, 2)
    """
    axes = ((0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
    return np.array([_bloch_operator(1.0 / 6.0, axis) for axis in axes])


def _bloch_operator(weight: float, point: Sequence[float]) -> Array:
    """Return w (I + x X + y Y + z Z)."""
    x, y, z = point
    return weight * np.array([[1.0 + z, complex(x, -y)], [complex(x, y), 1.0 - z]])


NAMED = {"sic": sic_povm, "pauli-6": pauli6_povm}
"""POVMs of a qubit by name."""


def as_measurement(povm: Any, qubits: int) -> Measurement:
    """Return the measurement of these operators.

    Parameters
    ----------
    povm
        "sic" or "pauli-6"; operators of shape (outcomes, 2, 2), the same for every qubit; a list of such arrays, qubit
        0 first; or operators of all qubits, of shape (outcomes, 2^q, 2^q).
    qubits
        Number of qubits.

    Examples
    --------
    >>> as_measurement("sic", 2).shape, as_measurement(np.eye(4)[:, None] * np.eye(4)[:, :, None], 2).shape
    ((4, 4), (4,))
    """
    if isinstance(povm, str):
        coefficients = pauli_coefficients(NAMED[validate.choice("povm", povm, NAMED)]())
        return Measurement(qubits, (coefficients,) * qubits)
    if isinstance(povm, (list, tuple)) and len(povm) == qubits and all(np.ndim(part) == 3 for part in povm):
        return Measurement(qubits, tuple(_coefficients(part, 2) for part in povm))
    size = np.shape(povm)[-1] if np.ndim(povm) == 3 else 0
    if size == 2:
        return Measurement(qubits, (_coefficients(povm, 2),) * qubits)
    if size != 1 << qubits or qubits > JOINT_QUBITS:
        shapes = f"shape (outcomes, 2, 2), for each of {qubits} qubits or for all alike"
        joint = f", or (outcomes, {1 << qubits}, {1 << qubits})" if qubits <= JOINT_QUBITS else ""
        raise InvalidInput("povm", f"operators of {shapes}{joint}", f"shape {np.shape(povm)}")
    return Measurement(qubits, _coefficients(povm, size))


def _coefficients(operators: Any, size: int) -> FloatArray:
    """Return the Pauli coefficients of checked operators."""
    array = validate.finite_array("povm", operators).astype(np.complex128)
    if array.ndim != 3 or array.shape[1:] != (size, size) or array.shape[0] < 1:
        raise InvalidInput("povm", f"operators of shape (outcomes, {size}, {size})", f"shape {array.shape}")
    if np.abs(array - array.conj().transpose(0, 2, 1)).max() > OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "Hermitian operators", "one that is not")
    if np.linalg.eigvalsh(array).min() < -OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "positive operators", f"an eigenvalue of {np.linalg.eigvalsh(array).min():.3g}")
    if np.abs(array.sum(axis=0) - np.eye(size)).max() > OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "operators that sum to the identity", "another sum")
    return pauli_coefficients(0.5 * (array + array.conj().transpose(0, 2, 1)))


def find_measurement(povm: Any, setting: str, qubits: int) -> Measurement:
    """Return the measurement of a setting: ``povm`` itself, its entry of that name, or one entry for each letter.

    >>> find_measurement({"A": "sic", "B": "pauli-6"}, "AB", 2).shape
    (4, 6)
    """
    if not isinstance(povm, Mapping):
        return as_measurement(povm, qubits)
    if setting in povm:
        return as_measurement(povm[setting], qubits)
    if len(setting) == qubits and all(letter in povm for letter in setting):
        parts = {letter: as_measurement(povm[letter], 1).matrices[0] for letter in set(setting)}
        return Measurement(qubits, tuple(parts[letter] for letter in reversed(setting)))
    raise InvalidInput("povm", f"operators for the setting {setting!r}, or for each of its letters", f"{list(povm)}")


def count_qubits(povm: Any, setting: str, outcomes: Mapping[Any, Any]) -> int:
    """Return the number of qubits: that of a joint or listed POVM, else the length of the outcomes."""
    found = povm.get(setting) if isinstance(povm, Mapping) else povm
    if found is None:
        return len(setting)
    if isinstance(found, (list, tuple)) and found and all(np.ndim(part) == 3 for part in found):
        return len(found)
    size = np.shape(found)[-1] if np.ndim(found) == 3 else 2
    if size > 2:
        return int(size).bit_length() - 1
    key = next(iter(outcomes), "")
    length = len(key) if isinstance(key, tuple) else len("".join(str(key).split()))
    if not 1 <= length <= MOST_QUBITS:
        raise InvalidInput("counts", f"outcomes of 1 to {MOST_QUBITS} qubits", repr(key))
    return length


def read_outcome(setting: str, measurement: Measurement, key: Any) -> int:
    """Return an outcome as an index: a digit for each qubit (qubit 0 at the right), or a number for all together.

    >>> read_outcome("", as_measurement("sic", 2), "31"), read_outcome("", as_measurement("sic", 2), (3, 1))
    (13, 13)
    """
    shape = measurement.shape
    if len(shape) == 1 and not isinstance(key, tuple):
        digits = [int(key)] if str(key).strip().isdecimal() else [-1]
    else:
        word = key if isinstance(key, tuple) else [_DIGITS.find(mark) for mark in "".join(str(key).split()).lower()]
        digits = [digit if isinstance(digit, (int, np.integer)) else -1 for digit in word]
    if len(digits) != len(shape) or not all(0 <= digit < size for digit, size in zip(digits, shape, strict=True)):
        text = f"a number below {shape[0]}" if len(shape) == 1 else f"a digit for each qubit, below {shape}"
        raise InvalidInput(f"counts[{setting!r}]", text, repr(key))
    return int(np.ravel_multi_index(digits, shape))
