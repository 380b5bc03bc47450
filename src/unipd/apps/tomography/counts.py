"""Counts in local measurement bases, their readout errors, and the Pauli expectation values that they determine."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.adapters import read_outcomes
from unipd.errors import InvalidInput
from unipd.io.pauli import MOST_SHOTS, PauliData
from unipd.maps.pauli import Confusion, OutcomeMap, confuse, walsh_hadamard
from unipd.maps.pauli.strings import MOST_QUBITS, bit_count, parse
from unipd.memory import require_room_for_state

_TRANSFORM_QUBITS = 20
"""Largest number of qubits whose histogram of outcomes is formed."""
_CHUNK = 1 << 22
"""Signs computed at once."""


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


def all_signed_sums(qubits: int, outcomes: IntArray, counts: IntArray | FloatArray, supports: IntArray) -> FloatArray:
    """Return sum_i counts[i] (-1)^|outcomes[i] & s| for every set s.

    By a Walsh-Hadamard transform of the histogram, or directly when that is less work.

    >>> all_signed_sums(2, np.array([0, 3]), np.array([3, 1]), np.array([1, 3]))
    array([2., 4.])
    """
    if qubits <= _TRANSFORM_QUBITS and supports.size * outcomes.size > qubits << qubits:
        histogram = np.bincount(outcomes, counts, 1 << qubits).astype(np.float64).reshape(-1, 1 << qubits // 2)
        return walsh_hadamard(walsh_hadamard(histogram).T).T.reshape(-1)[supports]
    sums = np.empty(supports.size)
    step = max(1, _CHUNK // max(1, outcomes.size))
    for first in range(0, supports.size, step):
        odd = bit_count(supports[first : first + step, np.newaxis] & outcomes) & 1
        sums[first : first + step] = (1.0 - 2.0 * odd) @ counts
    return sums


MAX_PAULIS = 1 << 19
"""Default limit on the number of strings."""
_BATCH = 1 << 22
"""Entries after which estimates from several bases are merged."""


@dataclass(frozen=True, eq=False, repr=False)
class BasisCounts(ReprMixin):
    """Outcomes in one local basis: ``counts[i]`` shots gave the bits ``outcomes[i]``."""

    basis: str
    """One of X, Y, Z for each qubit, the rightmost for qubit 0."""
    outcomes: IntArray
    """Distinct outcomes as integers: bit b is qubit b."""
    counts: IntArray | FloatArray
    """How often each was seen; quasi-counts, corrected for readout errors, may be negative or fractional."""

    @property
    def shots(self) -> int:
        """Number of shots."""
        return max(1, round(float(self.counts.sum())))

    @property
    def is_quasi(self) -> bool:
        """Whether these are quasi-counts."""
        return self.counts.dtype.kind == "f"


def as_counts(counts: Any) -> list[BasisCounts]:
    """Return checked counts from a mapping of basis -> {bit-string: count}.

    The rightmost letter of a basis and the rightmost bit of a bit-string belong to qubit 0 (Qiskit's order); spaces
    between registers are ignored, and hexadecimal numbers ("0x3") are read as well. Qiskit's ``Counts`` are such
    mappings; its ``BitArray`` or ``PubResult`` of one circuit may take the place of ``{bit-string: count}``.
    Negative or fractional numbers are quasi-counts; those of a Qiskit ``QuasiDistribution``, which sum to one, are
    multiplied by its ``shots``.

    >>> as_counts({"XZ": {"00": 3, "10": 1}})[0].outcomes
    array([0, 2])
    """
    if isinstance(counts, list) and counts and all(isinstance(part, BasisCounts) for part in counts):
        return counts
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput("counts", "a mapping of basis -> {bit-string: count}", type(counts).__name__)
    qubits = len(str(next(iter(counts))))
    if qubits > MOST_QUBITS:
        require_room_for_state(qubits, 1)
    return [_basis_counts(basis, outcomes, qubits) for basis, outcomes in counts.items()]


def _basis_counts(basis: Any, outcomes: Any, qubits: int) -> BasisCounts:
    known = isinstance(basis, str) and 1 <= len(basis) <= MOST_QUBITS and not basis.strip("XYZ")
    if isinstance(basis, str) and "I" in basis and not basis.strip("IXYZ"):
        expected = "a letter X, Y or Z for every qubit (estimates of marginal strings go to fit, with their shots)"
        raise InvalidInput("counts", expected, repr(basis))
    if not known or len(basis) != qubits:
        raise InvalidInput("counts", f"bases of {qubits} letters X, Y, Z", repr(basis))
    outcomes, scale = read_outcomes(f"counts[{basis!r}]", qubits, outcomes)
    numbered = [_read_bits(basis, key) for key in outcomes]
    if len(set(numbered)) < len(numbered):
        twice = Counter(numbered).most_common(1)[0][0]
        raise InvalidInput(f"counts[{basis!r}]", "every outcome once", f"{twice:0{qubits}b} twice")
    numbers = np.array([_read_count(basis, scale, value) for value in outcomes.values()], np.float64)
    if not numbers.sum() > 0.0:
        raise InvalidInput(f"counts[{basis!r}]", "at least one shot", "none")
    if numbers.sum() > MOST_SHOTS:
        raise InvalidInput(f"counts[{basis!r}]", "at most 2^53 shots", f"about 2^{math.log2(numbers.sum()):.0f}")
    if np.any(numbers != np.round(numbers)) and numbers.sum() <= LARGEST_PROBABILITY:
        raise InvalidInput(f"counts[{basis!r}]", "counts (multiply frequencies by the shots)", "frequencies")
    is_quasi = bool(np.any(numbers != np.round(numbers)) or numbers.min() < 0.0)
    return BasisCounts(basis, np.array(numbered), numbers if is_quasi else numbers.astype(int))


def _read_bits(basis: str, key: Any) -> int:
    """Return an outcome as an integer: a bit for each qubit, also as a hexadecimal number such as "0x3"."""
    word = "".join(str(key).split())
    is_hex = re.fullmatch(r"0[xX][0-9a-fA-F]+", word) is not None
    if is_hex and int(word, 16) < 1 << len(basis):
        return int(word, 16)
    if is_hex or len(word) != len(basis) or word.strip("01"):
        raise InvalidInput(f"counts[{basis!r}]", f"bit-strings of {len(basis)} bits", repr(word))
    return int(word, 2)


def _read_count(basis: str, scale: float, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InvalidInput(f"counts[{basis!r}]", "numbers", repr(value))
    number = float(value) * scale
    if not math.isfinite(number):
        raise InvalidInput(f"counts[{basis!r}]", "finite numbers", repr(value))
    return number


def as_confusion(readout: Any, qubits: int) -> Confusion | None:
    """Return readout errors as confusion matrices: entry (i, j) is the probability to read i in the state j.

    Parameters
    ----------
    readout
        None; the probability of a flip, the same for all qubits; one 2 x 2 matrix for all qubits; a 2 x 2 matrix for
        each, qubit 0 first; or one 2^q x 2^q matrix for all qubits together.
    qubits
        Number of qubits.

    Examples
    --------
    >>> as_confusion(0.25, 1)
    (array([[0.75, 0.25],
           [0.25, 0.75]]),)
    """
    if readout is None:
        return None
    array = validate.real_array("readout", readout).astype(np.float64)
    if array.ndim == 0:
        flip = float(array)
        array = np.array([[1.0 - flip, flip], [flip, 1.0 - flip]])
    size = 1 << qubits
    if array.shape not in ((2, 2), (qubits, 2, 2), (size, size)):
        expected = f"a probability, a 2 x 2 matrix for each of {qubits} qubits, or one of shape {(size, size)}"
        raise InvalidInput("readout", expected, f"shape {array.shape}")
    if array.min() < 0.0 or np.abs(array.sum(axis=-2) - 1.0).max() > COLUMN_SUM:
        raise InvalidInput("readout", "probabilities with columns (true states) that sum to one", f"{array.tolist()}")
    if np.linalg.cond(array).max() > WORST_CONDITION:
        raise InvalidInput("readout", "an invertible matrix (reading that depends on the state)", f"{array.tolist()}")
    if array.shape == (size, size) and qubits > 1:
        return array
    return tuple(np.broadcast_to(array, (qubits, 2, 2)).copy())


def correct_readout(histogram: FloatArray, confusion: Confusion | None) -> FloatArray:
    """Return the counts multiplied by the inverse of the confusion matrix: quasi-counts without readout errors."""
    if confusion is None:
        return histogram
    if isinstance(confusion, np.ndarray):
        return confuse(histogram, np.asarray(np.linalg.inv(confusion), np.float64))
    return confuse(histogram, tuple(np.asarray(np.linalg.inv(matrix), np.float64) for matrix in confusion))


def estimate_paulis(
    counts: list[BasisCounts], *, max_weight: int | None = None, max_paulis: int | None = None
) -> PauliData:
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
        Largest number of strings; those of lowest weight, which most bases determine, are kept.

    Examples
    --------
    >>> data = estimate_paulis(as_counts({"ZZ": {"00": 3, "11": 1}}))
    >>> data.labels(), data.expectations, data.shots
    (['IZ', 'ZI', 'ZZ'], array([0.5, 0.5, 1. ]), array([4., 4., 4.]))
    """
    qubits = len(counts[0].basis)
    limit = MAX_PAULIS if max_paulis is None else validate.integer("max_paulis", max_paulis, minimum=1)
    weight = _largest_weight(qubits, max_weight, limit)
    keys, sums, shots = _pool_bases(counts, supports_by_weight(qubits, weight))
    x, z = keys >> qubits, keys & ((1 << qubits) - 1)
    kept = np.sort(np.argsort(bit_count(x | z), kind="stable")[:limit])
    means = sums[kept] / shots[kept]
    means = np.clip(means, -1.0, 1.0) if any(part.is_quasi for part in counts) else means
    return PauliData(qubits, x[kept], z[kept], means, shots[kept])


def _largest_weight(qubits: int, max_weight: int | None, limit: int) -> int:
    """Return the largest weight requested, lowered while one basis alone would give more strings than allowed."""
    weight = qubits if max_weight is None else min(qubits, validate.integer("max_weight", max_weight, minimum=1))
    while weight > 1 and sum(math.comb(qubits, k) for k in range(1, weight)) > limit:
        weight -= 1
    return weight


def _pool_bases(counts: list[BasisCounts], supports: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the distinct strings (x << q | z), their summed signs and their shots; memory is bounded by batches."""
    waiting: list[tuple[IntArray, FloatArray, FloatArray]] = []
    for part in counts:
        qubits, x, z = parse([part.basis])
        keys = ((supports & x[0]) << qubits) | (supports & z[0])
        sums = all_signed_sums(qubits, part.outcomes, part.counts, supports)
        waiting.append((keys, sums, np.full(supports.size, float(part.shots))))
        if sum(entry[0].size for entry in waiting) > _BATCH:
            waiting = [_merge(waiting)]
    return _merge(waiting)


def _merge(parts: list[tuple[IntArray, FloatArray, FloatArray]]) -> tuple[IntArray, FloatArray, FloatArray]:
    keys, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    values = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
    sums, shots = (np.bincount(place, value, keys.size).astype(np.float64) for value in values)
    return keys, sums, shots


LARGEST_PROBABILITY = 1.5
"""Fractional numbers with a smaller sum are frequencies, whose number of shots is unknown."""
COLUMN_SUM = 1e-6
"""Error allowed to the column sums of a confusion matrix."""
WORST_CONDITION = 1e6
"""Largest condition number of a confusion matrix."""


def pool_estimates(outcome_map: OutcomeMap, histogram: FloatArray) -> PauliData:
    """Return the Pauli estimates that counts (bases x outcomes) give, pooled over the bases by their shots.

    Readout errors are corrected for; what exceeds the range of a measurement then is cut off.
    """
    sums = walsh_hadamard(correct_readout(histogram, outcome_map.confusion))
    shots = np.broadcast_to(histogram.sum(axis=1, keepdims=True), sums.shape)
    pauli_map = outcome_map.pauli_map
    flat, size = outcome_map.places.reshape(-1), pauli_map.x.size
    total = np.bincount(flat, shots.reshape(-1), size).astype(np.float64)
    means = np.bincount(flat, sums.reshape(-1), size) / total
    if outcome_map.confusion is not None or histogram.min() < 0.0:
        means = np.clip(means, -1.0, 1.0)
    return PauliData(pauli_map.qubits, pauli_map.x, pauli_map.z, means, total)


def histogram_of(counts: list[BasisCounts]) -> FloatArray:
    """Return the counts as an array of shape (bases, 2^q).

    >>> histogram_of([BasisCounts("Z", np.array([1]), np.array([7]))])
    array([[0., 7.]])
    """
    table = np.zeros((len(counts), 1 << len(counts[0].basis)))
    for row, part in zip(table, counts, strict=True):
        np.add.at(row, part.outcomes, part.counts)
    return table
