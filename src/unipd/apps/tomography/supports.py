"""Sets of qubits, and sums of signed counts over all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd.maps.pauli.strings import bit_count

_TRANSFORM_QUBITS = 20
_CHUNK = 1 << 22


def supports_by_weight(qubits: int, weight: int) -> IntArray:
    """Return the masks of all nonempty sets of at most ``weight`` qubits, smaller sets first.

    >>> supports_by_weight(3, 2)
    array([1, 2, 4, 3, 5, 6])
    """
    if weight >= qubits and qubits <= _TRANSFORM_QUBITS:
        every = np.arange(1, 1 << qubits)
        return every[np.argsort(bit_count(every), kind="stable")]
    sets = [[sum(1 << b for b in places) for places in combinations(range(qubits), k)] for k in range(1, weight + 1)]
    return np.array([mask for group in sets for mask in group], np.int64)


def all_signed_sums(qubits: int, outcomes: IntArray, counts: IntArray, supports: IntArray) -> FloatArray:
    """Return sum_i counts[i] (-1)^|outcomes[i] & s| for every set s.

    By a Walsh-Hadamard transform of the histogram, or directly when that is less work.

    >>> all_signed_sums(2, np.array([0, 3]), np.array([3, 1]), np.array([1, 3]))
    array([2., 4.])
    """
    if qubits <= _TRANSFORM_QUBITS and supports.size * outcomes.size > qubits << qubits:
        histogram = np.zeros(1 << qubits)
        np.add.at(histogram, outcomes, counts)
        return walsh_hadamard(histogram)[supports]
    sums = np.empty(supports.size)
    step = max(1, _CHUNK // max(1, outcomes.size))
    for first in range(0, supports.size, step):
        odd = bit_count(supports[first : first + step, np.newaxis] & outcomes) & 1
        sums[first : first + step] = (1.0 - 2.0 * odd) @ counts
    return sums


def walsh_hadamard(values: FloatArray) -> FloatArray:
    """Return sum_j (-1)^|i & j| values[..., j] for every i.

    >>> walsh_hadamard(np.array([1.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 2.])
    """
    result = np.array(values, np.float64)
    half = 1
    while half < result.shape[-1]:
        pairs = result.reshape(*result.shape[:-1], -1, 2, half)
        total = pairs[..., 0, :] + pairs[..., 1, :]
        np.subtract(pairs[..., 0, :], pairs[..., 1, :], out=pairs[..., 1, :])
        pairs[..., 0, :] = total
        half *= 2
    return result
