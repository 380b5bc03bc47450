"""Pauli strings as bit masks: P(x, z) = i^|x & z| X^x Z^z, their labels, and random sets of them.

Bit b of a mask belongs to qubit b, which is bit b of the index of a state. The factors are I (neither bit), X, Z and
Y (both): with the phase i^|x & z| the product is Hermitian, and Y is Y. As in Qiskit, the rightmost character of a
label is qubit 0: 'XYZ' is the Kronecker product of X, Y and Z in this order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.arrays import distinct
from unipd.errors import InvalidInput

MOST_QUBITS = 28
"""Masks are kept in 32-bit integers."""

_LETTERS = np.frombuffer(b"IZXY", np.uint8)
"""Letter of the number 2 x + z."""


def bit_count(values: Any) -> IntArray:
    """Return the number of set bits of each non-negative integer.

    Parameters
    ----------
    values
        Non-negative integers below 2^63.

    See Also
    --------
    random_paulis

    Examples
    --------
    >>> bit_count(np.array([0, 1, 6, 255]))
    array([0, 1, 2, 8])
    """
    bits = np.array(values, np.int64)
    bits -= (bits >> 1) & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (bits * 0x0101010101010101) >> 56


@cache
def sign_table(bits: int, dtype: Any) -> Array:
    """Return the 2^bits x 2^bits table of (-1)^(a . b).

    >>> sign_table(1, np.float64)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    index = np.arange(1 << bits)
    return (1.0 - 2.0 * (bit_count(index[:, None] & index) & 1)).astype(dtype)


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


def check_strings(qubits: Any, x: Any, z: Any) -> tuple[int, IntArray, IntArray]:
    """Return the number of qubits and the masks of strings given as masks or booleans, or raise."""
    count = validate.integer("qubits", qubits, minimum=1)
    if count > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    first, second = masks("x", count, x), masks("z", count, z)
    if first.shape != second.shape:
        raise InvalidInput("z", f"{first.size} masks, as many as x", f"{second.size}")
    return count, first, second


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
        expected = "a list of integer masks, or booleans of shape (n, qubits)"
        raise InvalidInput(name, expected, f"dtype {array.dtype}, shape {array.shape}")
    if array.min() < 0 or array.max() >> qubits:
        raise InvalidInput(name, f"masks from 0 to 2^{qubits} - 1", f"{array.min()} to {array.max()}")
    return array.astype(np.int64)


def most_repeats(x: IntArray, z: IntArray) -> int:
    """Return how often the most frequent string occurs.

    >>> most_repeats(np.array([1, 2, 1]), np.array([3, 0, 3]))
    2
    """
    return int(np.unique((x << MOST_QUBITS) | z, return_counts=True)[1].max())


def default_count(qubits: int) -> int:
    """Return ceil(2 p log10 p) with p = 2^q, the number of measurements of the paper (its "2 p log p").

    >>> default_count(14)
    138099
    """
    p = 1 << validate.integer("qubits", qubits, minimum=1)
    return math.ceil(2 * p * math.log10(p))


def random_paulis(qubits: int, count: int | None = None, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Return the masks x and z of ``count`` distinct strings, uniformly random, sorted by (x, z).

    All sets of ``count`` strings are equally likely (the identity included); the 4^q strings are never listed.

    Parameters
    ----------
    qubits
        Number of qubits q.
    count
        Number of strings; :func:`default_count` by default.
    seed
        Seed of NumPy's default generator.

    Raises
    ------
    InvalidInput
        If there are too many qubits, or more strings than 4^q.

    See Also
    --------
    PauliMap, bit_count

    Examples
    --------
    >>> random_paulis(2, 3, seed=1)
    (array([1, 2, 3]), array([3, 0, 0]))
    """
    q = check_strings(qubits, [0], [0])[0]
    n = default_count(q) if count is None else validate.integer("count", count, minimum=1)
    if n > 4**q:
        raise InvalidInput("count", f"at most 4^{q} strings", repr(count))
    number = _distinct(4**q, n, np.random.default_rng(validate.integer("seed", seed, minimum=0)))
    return number >> q, number & ((1 << q) - 1)


def _distinct(total: int, count: int, rng: np.random.Generator) -> IntArray:
    """Return ``count`` distinct numbers below ``total``, sorted: a uniformly random subset."""
    if 2 * count > total:
        left_out = _distinct(total, total - count, rng) if count < total else np.empty(0, np.int64)
        return np.delete(np.arange(total), left_out)
    chosen = distinct(rng.integers(0, total, count))
    while chosen.size < count:
        extra = distinct(rng.integers(0, total, 2 * (count - chosen.size) + 8))
        place = np.minimum(np.searchsorted(chosen, extra), chosen.size - 1)
        fresh = rng.permutation(extra[chosen[place] != extra])
        chosen = np.sort(np.concatenate([chosen, fresh[: count - chosen.size]]))
    return chosen
