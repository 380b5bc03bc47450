"""Pauli strings as bit masks: P(x, z) = i^|x & z| X^x Z^z, and their labels.

Bit b of a mask belongs to qubit b, which is bit b of the index of a state. The factors are I (neither bit), X, Z and
Y (both): with the phase i^|x & z| the product is Hermitian, and Y is Y. As in Qiskit, the rightmost character of a
label is qubit 0: 'XYZ' is the Kronecker product of X, Y and Z in this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput

MOST_QUBITS = 28
"""Masks are kept in 32-bit integers."""

_LETTERS = np.frombuffer(b"IZXY", np.uint8)
"""Letter of the number 2 x + z."""


def bit_count(values: Any) -> IntArray:
    """Return the number of set bits of each non-negative integer.

    >>> bit_count(np.array([0, 1, 6, 255]))
    array([0, 1, 2, 8])
    """
    bits = np.array(values, np.int64)
    bits -= (bits >> 1) & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (bits * 0x0101010101010101) >> 56


def phases(x: IntArray, z: IntArray) -> NDArray[np.complex128]:
    """Return (-i)^|x & z|, the phase of the entries P(x, z)[j, j ^ x] = (-i)^|x & z| (-1)^(z . j).

    >>> phases(np.array([0, 1, 3]), np.array([1, 1, 3]))
    array([ 1.+0.j,  0.-1.j, -1.+0.j])
    """
    return np.array([1, complex(0, -1), -1, 1j])[bit_count(x & z) & 3]


def parse(labels: Iterable[str]) -> tuple[int, IntArray, IntArray]:
    """Return the number of qubits and the masks x and z of labels such as 'XIZY'.

    >>> parse(["XYZ", "IIX"])
    (3, array([6, 1]), array([3, 0]))
    """
    words = list(labels)
    if not words or not all(isinstance(word, str) for word in words):
        raise InvalidInput("labels", "strings of the letters I, X, Y, Z", repr(words[:1]) if words else "none")
    qubits = len(words[0])
    if not 1 <= qubits <= MOST_QUBITS:
        raise InvalidInput("labels", f"strings of 1 to {MOST_QUBITS} letters", f"{qubits} letters")
    for word in words:
        if len(word) != qubits:
            raise InvalidInput("labels", f"strings of {qubits} letters", repr(word))
        if word.strip("IXYZ"):
            raise InvalidInput("labels", "the letters I, X, Y, Z", repr(word))
    letters = np.frombuffer("".join(words).encode(), np.uint8).reshape(len(words), qubits)
    places = 1 << np.arange(qubits - 1, -1, -1)
    x = ((letters == ord("X")) | (letters == ord("Y"))) @ places
    z = ((letters == ord("Z")) | (letters == ord("Y"))) @ places
    return qubits, x, z


def write(qubits: int, x: IntArray, z: IntArray) -> list[str]:
    """Return the labels of the strings with masks x and z.

    >>> write(3, np.array([6, 1]), np.array([3, 0]))
    ['XYZ', 'IIX']
    """
    places = np.arange(qubits - 1, -1, -1)
    number = 2 * ((np.asarray(x)[:, None] >> places) & 1) + ((np.asarray(z)[:, None] >> places) & 1)
    return [bytes(row).decode() for row in _LETTERS[number]]


def masks(name: str, qubits: int, value: Any) -> IntArray:
    """Return ``value`` as an array of masks of ``qubits`` bits, or raise.

    Booleans of shape (n, qubits) are read as bits, column b being qubit b.

    >>> masks("x", 2, [[True, False], [True, True]])
    array([1, 3])
    """
    array = np.asarray(value)
    if array.dtype == bool and array.ndim == 2 and array.shape[1] == qubits:
        array = array @ (1 << np.arange(qubits))
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InvalidInput(name, "a list of integer masks, or booleans of shape (n, qubits)", _describe(array))
    if array.min() < 0 or array.max() >> qubits:
        raise InvalidInput(name, f"masks from 0 to 2^{qubits} - 1", f"{array.min()} to {array.max()}")
    return array.astype(np.int64)


def most_repeats(x: IntArray, z: IntArray) -> int:
    """Return how often the most frequent string occurs.

    >>> most_repeats(np.array([1, 2, 1]), np.array([3, 0, 3]))
    2
    """
    number = np.sort((x << MOST_QUBITS) | z)
    firsts = np.flatnonzero(np.diff(number, prepend=-1))
    return int(np.diff(firsts, append=number.size).max())


def matrix(qubits: int, x: int, z: int) -> Array:
    """Return the matrix of one string (2^q x 2^q, for small q).

    >>> matrix(1, 1, 1)
    array([[0.+0.j, 0.-1.j],
           [0.+1.j, 0.+0.j]])
    """
    index = np.arange(1 << qubits)
    result = np.zeros((index.size, index.size), np.complex128)
    result[index, index ^ x] = phases(np.array(x), np.array(z)) * (1 - 2 * (bit_count(index & z) & 1))
    return result


def _describe(array: Array) -> str:
    return f"dtype {array.dtype}, shape {array.shape}"
