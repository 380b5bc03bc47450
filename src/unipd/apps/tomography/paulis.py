"""Pauli strings and sums of them, from whatever form the user has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput
from unipd.maps.pauli.strings import MOST_QUBITS, masks, parse

_EXPECTED = "labels such as 'XIZ', a PauliList or SparsePauliOp, or a pair (x, z) of masks"


class Paulis(NamedTuple):
    """Pauli strings as masks: bit b of x (z) is set when qubit b has X or Y (Z or Y)."""

    qubits: int
    x: IntArray
    z: IntArray


def as_paulis(value: Any, qubits: int | None = None) -> Paulis:
    """Return Pauli strings as masks.

    Parameters
    ----------
    value
        Labels (the rightmost letter is qubit 0, as in Qiskit); an object with arrays ``x`` and ``z`` of booleans, such
        as Qiskit's ``PauliList`` (column 0 is qubit 0), or with such an object under ``paulis``, such as
        ``SparsePauliOp``; or a pair (x, z) of boolean arrays of shape (n, qubits) or of integer masks.
    qubits
        Number of qubits, needed for integer masks only.

    Examples
    --------
    >>> as_paulis(["XZ", "IY"])
    Paulis(qubits=2, x=array([2, 1]), z=array([1, 1]))
    >>> as_paulis(([2, 1], [1, 1]), qubits=2).x
    array([2, 1])
    """
    found = _read(value, qubits)
    if qubits is not None and found.qubits != qubits:
        raise InvalidInput("paulis", f"strings on {qubits} qubits", f"{found.qubits} qubits")
    return found


def as_pauli_sum(observable: Any, qubits: int) -> tuple[Paulis, Array]:
    """Return the strings and coefficients of an observable.

    Parameters
    ----------
    observable
        A label, a mapping or a list of pairs from labels to coefficients, an object with ``paulis`` and ``coeffs`` such
        as ``SparsePauliOp``, or anything that :func:`as_paulis` reads (with coefficients 1).
    qubits
        Number of qubits of the state.

    Examples
    --------
    >>> strings, coefficients = as_pauli_sum({"ZI": 0.5, "IZ": -0.5}, 2)
    >>> strings.z, coefficients
    (array([2, 1]), array([ 0.5, -0.5]))
    """
    if isinstance(observable, Mapping):
        observable = list(observable.items())
    if isinstance(observable, (list, tuple)) and observable and all(_is_term(term) for term in observable):
        observable, coefficients = [label for label, _ in observable], [number for _, number in observable]
    else:
        coefficients = getattr(observable, "coeffs", None)
    paulis = as_paulis(observable, qubits)
    numbers = np.ones(paulis.x.size) if coefficients is None else coefficients
    return paulis, validate.finite_array("observable", numbers, shape=paulis.x.shape)


def _is_term(term: Any) -> bool:
    return isinstance(term, tuple) and len(term) == 2 and isinstance(term[0], str) and not isinstance(term[1], str)


def _read(value: Any, qubits: int | None) -> Paulis:
    if isinstance(value, Paulis):
        return value
    if hasattr(value, "paulis"):
        value = value.paulis
    if hasattr(value, "x") and hasattr(value, "z"):
        _refuse_phases(value)
        return _from_masks(np.atleast_2d(np.asarray(value.x)), np.atleast_2d(np.asarray(value.z)), qubits)
    if isinstance(value, str):
        return Paulis(*parse([value]))
    if isinstance(value, tuple) and len(value) == 2 and not any(isinstance(part, str) for part in value):
        return _from_masks(np.asarray(value[0]), np.asarray(value[1]), qubits)
    try:
        labels = [_label(item) for item in value]
    except TypeError:
        raise InvalidInput("paulis", _EXPECTED, type(value).__name__) from None
    return Paulis(*parse(labels))


def _label(item: Any) -> Any:
    """Return the label of one string; an object such as Qiskit's ``Pauli`` tells it by ``to_label``."""
    if hasattr(item, "to_label"):
        _refuse_phases(item)
        return str(item.to_label())
    return str(item) if isinstance(item, np.str_) else item


def _refuse_phases(value: Any) -> None:
    phase = getattr(value, "phase", None)
    if phase is not None and np.any(np.asarray(phase) != 0):
        raise InvalidInput("paulis", "strings without sign or phase (move it to the values)", "a phase")


def _from_masks(x: Array, z: Array, qubits: int | None) -> Paulis:
    if qubits is None:
        if x.dtype != bool or x.ndim != 2:
            raise InvalidInput("qubits", "the number of qubits beside integer masks", "None")
        qubits = int(x.shape[1])
    count = validate.integer("qubits", qubits, minimum=1)
    if count > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    first, second = masks("x", count, x), masks("z", count, z)
    if first.shape != second.shape:
        raise InvalidInput("z", f"{first.size} masks, as many as x", f"{second.size}")
    return Paulis(count, first, second)
