"""Random sets of Pauli strings, as in the paper's tomography experiment."""

from __future__ import annotations

import math

import numpy as np

from unipd import validate
from unipd._typing import IntArray
from unipd.errors import InvalidInput
from unipd.maps.pauli.strings import MOST_QUBITS


def default_count(qubits: int) -> int:
    """Return ceil(2 p log10 p) with p = 2^q, the number of measurements of the paper (its "2 p log p").

    >>> default_count(14)
    138099
    """
    p = 1 << validate.integer("qubits", qubits, minimum=1)
    return math.ceil(2 * p * math.log10(p))


def random_paulis(qubits: int, count: int | None = None, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Return the masks x and z of ``count`` distinct strings, uniformly random, sorted by (x, z).

    Every set of ``count`` strings is equally likely (the identity may be among them); the 4^q strings are never listed.

    Parameters
    ----------
    qubits
        Number of qubits q.
    count
        Number of strings; :func:`default_count` by default.
    seed
        Seed of NumPy's default generator.

    Examples
    --------
    >>> random_paulis(2, 3, seed=1)
    (array([1, 2, 3]), array([3, 0, 0]))
    """
    q = validate.integer("qubits", qubits, minimum=1)
    if q > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
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
    chosen = _without_repeats(rng.integers(0, total, count))
    while chosen.size < count:
        extra = _without_repeats(rng.integers(0, total, 2 * (count - chosen.size) + 8))
        place = np.minimum(np.searchsorted(chosen, extra), chosen.size - 1)
        fresh = rng.permutation(extra[chosen[place] != extra])
        chosen = np.sort(np.concatenate([chosen, fresh[: count - chosen.size]]))
    return chosen


def _without_repeats(numbers: IntArray) -> IntArray:
    """Return the distinct numbers, sorted."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) != 0]
