"""Counts of outcomes, readout errors, and the Pauli expectation values that they determine.

Measurements are local bases, also of some of the qubits, or given as operators.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.measurements import SMALLEST_VARIANCE
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.pauli import MOST_SHOTS, PauliData, read_results
from unipd.maps.pauli import (
    Confusion,
    Measurement,
    OutcomeMap,
    apply_local,
    find_measurement,
    measure_basis,
    walsh_hadamard,
)
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


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Outcomes of a qubit in keys of counts."""
MAX_PAULIS = 1 << 19
"""Default limit on the number of strings."""
_BATCH = 1 << 22
"""Entries after which estimates from several bases are merged."""


@dataclass(frozen=True, eq=False, repr=False)
class BasisCounts(ReprMixin):
    """Outcomes of one measurement: ``counts[i]`` shots gave ``outcomes[i]``.

    Parameters
    ----------
    basis
        X, Y, Z or I (not measured) for each qubit, the rightmost for qubit 0; the name of a POVM.
    outcomes
        Distinct outcomes as integers: in a basis bit b is the measured qubit number b.
    counts
        How often each was seen; quasi-counts, corrected for readout errors, may be negative or fractional.
    povm
        The measurement, where it is no local basis.

    See Also
    --------
    as_counts, unipd.PauliTomography

    Examples
    --------
    >>> int(BasisCounts("XZ", np.array([0, 2]), np.array([3, 1])).counts.sum())
    4
    """

    basis: str
    outcomes: IntArray
    counts: IntArray | FloatArray
    povm: Measurement | None = None

    @property
    def measurement(self) -> Measurement:
        """The measurement."""
        return measure_basis(self.basis) if self.povm is None else self.povm

    @property
    def qubits(self) -> int:
        """Number of qubits of the state."""
        return len(self.basis) if self.povm is None else self.povm.qubits

    @property
    def size(self) -> int:
        """Number of possible outcomes."""
        return 1 << (len(self.basis) - self.basis.count("I")) if self.povm is None else self.povm.size

    @property
    def shots(self) -> int:
        """Number of shots."""
        return max(1, round(float(self.counts.sum())))

    def by_outcome(self) -> dict[str, int]:
        """Return the counts of a local basis by bit-string."""
        width = self.size.bit_length() - 1
        return {format(bits, f"0{width}b"): int(n) for bits, n in zip(self.outcomes, self.counts, strict=True)}

    @property
    def is_quasi(self) -> bool:
        """Whether these are quasi-counts."""
        return self.counts.dtype.kind == "f"


def as_counts(counts: Any, povm: Any = None) -> list[BasisCounts]:
    """Return checked counts from a mapping of basis -> {bit-string: count}.

    The rightmost letter of a basis and the rightmost bit of a bit-string belong to qubit 0 (Qiskit's order); spaces
    between registers are ignored, and hexadecimal numbers ("0x3") are read as well. Qiskit's ``Counts`` are such
    mappings; its ``BitArray`` or ``PubResult`` of one circuit may take the place of ``{bit-string: count}``, and its
    ``Result`` or ``PrimitiveResult`` that of all, if the metadata of each circuit have its ``basis``.
    Qubits with the letter I were not measured ("IIXX"); bit-strings then have a bit for each measured qubit, or one for
    every qubit, of which those of the others do not count. Negative or fractional numbers are quasi-counts; those of a
    Qiskit ``QuasiDistribution``, which sum to one, are multiplied by its ``shots``.

    Parameters
    ----------
    counts
        The mapping; with a single POVM also {outcome: count}.
    povm
        Operators of the outcomes instead of bases, as in :meth:`PauliTomography.fit_counts`.

    Raises
    ------
    InvalidInput
        ``counts``: expected a mapping of basis -> {bit-string: count}.

    See Also
    --------
    BasisCounts, unipd.io.read_pauli_data

    Examples
    --------
    >>> as_counts({"XZ": {"00": 3, "10": 1}})[0].outcomes, as_counts({"IZ": {"1": 4}})[0].size
    (array([0, 2]), 2)
    >>> as_counts({"03": 5, "12": 4}, povm="sic")[0].outcomes
    array([3, 6])
    """
    if isinstance(counts, list) and counts and all(isinstance(part, BasisCounts) for part in counts):
        return counts
    counts = counts_by_setting(counts)
    if povm is not None:
        return _povm_counts(counts, povm)
    qubits = len(str(next(iter(counts))))
    if qubits > MOST_QUBITS:
        require_room_for_state(qubits, 1)
    return [_basis_counts(basis, outcomes, qubits) for basis, outcomes in counts.items()]


def _read_qiskit(result: Any) -> Mapping[str, Any]:
    """Return the counts of all circuits of a Qiskit ``Result`` or ``PrimitiveResult``."""
    if hasattr(result, "to_dict"):
        circuits = result.to_dict()["results"]
    else:
        headers = [{"metadata": part.metadata.get("circuit_metadata"), "name": ""} for part in result]
        found = [{"counts": read_outcomes("counts", 0, part)[0]} for part in result]
        circuits = [{"header": header, "data": data} for header, data in zip(headers, found, strict=True)]
    try:
        return read_results("result", circuits)
    except FileFormatError as error:
        expected = "the basis of every circuit in its metadata (circuit.metadata = {'basis': 'XZ'})"
        raise InvalidInput("counts", expected, "a result without") from error


def counts_by_setting(counts: Any) -> Mapping[Any, Any]:
    """Return counts as a mapping: they are one, or the results of Qiskit's circuits."""
    if type(counts).__name__ in ("Result", "PrimitiveResult"):
        counts = _read_qiskit(counts)
    if not isinstance(counts, Mapping) or not counts:
        got = "an empty one" if isinstance(counts, Mapping) else type(counts).__name__
        raise InvalidInput("counts", "a mapping of basis -> {bit-string: count}", got)
    return counts


def read_outcomes(name: str, qubits: int, outcomes: Any) -> tuple[Mapping[Any, Any], float]:
    """Return the counts by bit-string of one measurement, and the number by which they are to be multiplied.

    Qiskit's ``BitArray`` and ``PubResult`` have the shots one by one; registers are joined as in bit-strings: the first
    is the rightmost. A ``QuasiDistribution`` has probabilities and the number of its shots; ``Counts`` made from
    numbers have dropped leading zeros.

    >>> read_outcomes("counts", 1, {"0": 3})
    ({'0': 3}, 1.0)
    """
    if type(outcomes) is dict:  # the usual case
        return outcomes, 1.0
    is_mapping = issubclass(type(outcomes), Mapping)
    if hasattr(outcomes, "join_data"):
        outcomes = outcomes.join_data()
    elif hasattr(outcomes, "data") and hasattr(outcomes, "metadata") and not is_mapping:
        registers = list(outcomes.data.values())
        if len(registers) != 1:
            raise InvalidInput(name, "a result with one register (others have join_data)", f"{len(registers)}")
        outcomes = registers[0]
    if hasattr(outcomes, "get_int_counts"):
        if outcomes.size != 1:
            expected = "the shots of one circuit (index the array: one basis, one entry)"
            raise InvalidInput(name, expected, f"an array of shape {outcomes.shape}")
        return {format(key, f"0{outcomes.num_bits}b"): value for key, value in outcomes.get_int_counts().items()}, 1.0
    if not is_mapping:
        expected = "a mapping of bit-string -> count, or Qiskit's BitArray or PubResult"
        raise InvalidInput(name, expected, type(outcomes).__name__)
    if getattr(outcomes, "hex_raw", None) is not None:
        return {format(key, f"0{qubits}b"): value for key, value in outcomes.int_outcomes().items()}, 1.0
    shots = getattr(outcomes, "shots", None)
    return outcomes, float(shots) if isinstance(shots, (int, float)) else 1.0


def _povm_counts(counts: Mapping[Any, Any], povm: Any) -> list[BasisCounts]:
    """Return the counts of outcomes of operators, setting by setting."""
    if all(isinstance(value, (int, float, np.number)) for value in counts.values()):
        counts = {"povm": counts}
    parts: list[BasisCounts] = []
    known: dict[Any, Measurement] = {}
    for setting, outcomes in counts.items():
        name = str(setting)
        if not isinstance(outcomes, Mapping) or not outcomes:
            raise InvalidInput(f"counts[{name!r}]", "a mapping of outcome -> count", type(outcomes).__name__)
        qubits = count_qubits(povm, name, outcomes)
        key = (name if isinstance(povm, Mapping) else None, qubits)
        if key not in known:
            known[key] = find_measurement(povm, name, qubits)
        if parts and parts[0].qubits != qubits:
            raise InvalidInput(f"counts[{name!r}]", f"outcomes of {parts[0].qubits} qubits", f"{qubits} qubits")
        places = [read_outcome(name, known[key], outcome) for outcome in outcomes]
        parts.append(BasisCounts(name, *_collect(name, places, 1.0, outcomes), known[key]))
    return parts


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

    >>> from unipd.maps.pauli.outcomes import as_measurement
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


def _basis_counts(basis: Any, outcomes: Any, qubits: int) -> BasisCounts:
    is_label = isinstance(basis, str) and len(basis) == qubits <= MOST_QUBITS and not basis.strip("IXYZ")
    if not is_label or not basis.strip("I"):
        raise InvalidInput("counts", f"bases of {qubits} letters X, Y, Z (I: not measured)", repr(basis))
    outcomes, scale = read_outcomes(f"counts[{basis!r}]", qubits, outcomes)
    width = len(basis) - basis.count("I")
    places = [_read_bits(basis, width, key) for key in outcomes]
    return BasisCounts(basis, *_collect(basis, places, scale, outcomes))


def _collect(
    name: str, places: list[int], scale: float, outcomes: Mapping[Any, Any]
) -> tuple[IntArray, IntArray | FloatArray]:
    """Return the distinct outcomes and their numbers, whole unless these are quasi-counts."""
    for value in outcomes.values():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise InvalidInput(f"counts[{name!r}]", "numbers", repr(value))
    numbers = np.array([validate.number(f"counts[{name!r}]", value) * scale for value in outcomes.values()])
    is_marginal = "I" in name and not name.strip("IXYZ")
    if len(set(places)) < len(places) and not is_marginal:
        twice = Counter(places).most_common(1)[0][0]
        word = [str(key) for key, place in zip(outcomes, places, strict=True) if place == twice][-1]
        raise InvalidInput(f"counts[{name!r}]", "every outcome once", f"{word} twice")
    distinct = np.array(places)
    if is_marginal:
        distinct, index = np.unique(distinct, return_inverse=True)
        numbers = np.bincount(index, numbers).astype(np.float64)
    if not numbers.sum() > 0.0:
        raise InvalidInput(f"counts[{name!r}]", "at least one shot", f"a sum of {numbers.sum():g}")
    if numbers.sum() > MOST_SHOTS:
        raise InvalidInput(f"counts[{name!r}]", "at most 2^53 shots", f"about 2^{math.log2(numbers.sum()):.0f}")
    if np.any(numbers != np.round(numbers)) and numbers.sum() <= LARGEST_PROBABILITY:
        raise InvalidInput(f"counts[{name!r}]", "counts (multiply frequencies by the shots)", "frequencies")
    is_quasi = bool(np.any(numbers != np.round(numbers)) or numbers.min() < 0.0)
    return distinct, numbers if is_quasi else numbers.astype(int)


def _read_bits(basis: str, width: int, key: Any) -> int:
    """Return an outcome as an integer: a bit for each measured qubit, also as a hexadecimal number such as "0x3"."""
    word = "".join(str(key).split())
    if len(word) == width and not word.strip("01"):
        return int(word, 2)
    is_hex = re.fullmatch(r"0[xX][0-9a-fA-F]+", word) is not None
    if is_hex and width == len(basis) and int(word, 16) < 1 << width:
        return int(word, 16)
    if len(word) != len(basis) or word.strip("01"):
        raise InvalidInput(f"counts[{basis!r}]", f"bit-strings of {width} bits", repr(str(key)))
    return int("".join(bit for bit, letter in zip(word, basis, strict=True) if letter != "I"), 2)


def as_confusion(readout: Any, qubits: int) -> Confusion | None:
    """Return readout errors as confusion matrices: entry (i, j) is the probability to read i in the state j.

    Parameters
    ----------
    readout
        None; the probability of a flip, the same for all qubits; one 2 x 2 matrix for all qubits; a 2 x 2 matrix for
        each, qubit 0 first; or one 2^q x 2^q matrix for all qubits together.
    qubits
        Number of qubits.

    Raises
    ------
    InvalidInput
        ``readout``: expected probabilities with columns (true states) that sum to one.

    See Also
    --------
    unipd.PauliTomography

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

    Returns
    -------
    PauliData

    Raises
    ------
    InvalidInput
        If the counts are of a POVM.

    See Also
    --------
    as_counts, PauliTomography

    Examples
    --------
    >>> data = estimate_paulis(as_counts({"ZZ": {"00": 3, "11": 1}}))
    >>> data.labels(), data.expectations, data.shots
    (['IZ', 'ZI', 'ZZ'], array([0.5, 0.5, 1. ]), array([4., 4., 4.]))
    """
    if any(part.povm is not None for part in counts):
        raise InvalidInput("counts", "counts in local bases for estimates of Pauli strings", "a POVM")
    qubits = counts[0].qubits
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
        inside = supports[supports & ~(x[0] | z[0]) == 0]
        keys = ((inside & x[0]) << qubits) | (inside & z[0])
        sums = all_signed_sums(qubits, _spread_bits(part), part.counts, inside)
        waiting.append((keys, sums, np.full(inside.size, float(part.shots))))
        if sum(entry[0].size for entry in waiting) > _BATCH:
            waiting = [_merge(waiting)]
    return _merge(waiting)


def _spread_bits(part: BasisCounts) -> IntArray:
    """Return the outcomes with the bit of every measured qubit in the place of that qubit."""
    if "I" not in part.basis:
        return part.outcomes
    measured = [qubit for qubit, letter in enumerate(reversed(part.basis)) if letter != "I"]
    return sum(
        (((part.outcomes >> bit) & 1) << qubit for bit, qubit in enumerate(measured)), np.zeros_like(part.outcomes)
    )


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
MOST_INVERTED = 1 << 25
"""Entries of a matrix of outcomes x strings that is inverted by least squares."""
SINGULAR = 1e-9
"""Eigenvalues of its Gram matrix below this share of the largest are zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(ReprMixin):
    """Counts of all possible outcomes, measurement after measurement."""

    counts: FloatArray
    """How often each outcome was seen."""
    sizes: IntArray
    """Number of outcomes of each measurement."""

    @cached_property
    def shots(self) -> FloatArray:
        """For each outcome the shots of its measurement."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.repeat(np.add.reduceat(self.counts, starts), self.sizes)

    @cached_property
    def choices(self) -> FloatArray:
        """For each outcome the number of outcomes of its measurement."""
        return np.repeat(self.sizes, self.sizes).astype(np.float64)

    @property
    def size(self) -> int:
        """Number of outcomes."""
        return int(self.counts.size)

    @property
    def frequencies(self) -> FloatArray:
        """Counts divided by shots."""
        return self.counts / self.shots


def histogram_of(counts: list[BasisCounts]) -> Histogram:
    """Return the counts of all outcomes.

    >>> histogram_of([BasisCounts("Z", np.array([1]), np.array([7]))]).counts
    array([0., 7.])
    """
    sizes = np.array([part.size for part in counts])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.concatenate([start + part.outcomes for start, part in zip(starts, counts, strict=True)])
    numbers = np.concatenate([part.counts for part in counts])
    return Histogram(np.bincount(places, numbers, int(sizes.sum())).astype(np.float64), sizes)


def pool_estimates(outcome_map: OutcomeMap, histogram: Histogram) -> PauliData:
    """Return the Pauli estimates that counts give, pooled over the measurements by their shots.

    Readout errors are corrected for; what exceeds the range of an expectation value then is cut off. Operators of which
    no measurement alone determines all its strings are inverted together, by least squares, and strings that they do
    not determine are left out.
    """
    inverses = [None if group.is_walsh and group.confusion is None else group.inverse() for group in outcome_map.groups]
    pairs = list(zip(outcome_map.groups, inverses, strict=True))
    is_plain = all(group.is_walsh and group.confusion is None for group in outcome_map.groups)
    if any(inverse is None and not (group.is_walsh and group.confusion is None) for group, inverse in pairs):
        return _invert_together(outcome_map, histogram)
    size = outcome_map.pauli_map.x.size
    total, sums, squares = np.zeros((3, size))
    for (group, inverse), places in zip(pairs, outcome_map.places, strict=True):
        numbers = histogram.counts[group.rows].reshape(places.shape[0], -1)
        shots = np.broadcast_to(numbers.sum(axis=1, keepdims=True), places.shape)
        if inverse is None:
            found, spread = walsh_hadamard(numbers), shots
        else:
            found, spread = apply_local(numbers, inverse), apply_local(numbers, tuple(part**2 for part in inverse))
        for target, values in ((total, shots), (sums, found), (squares, spread - found**2 / shots)):
            target += np.bincount(places.reshape(-1), values.reshape(-1), size)
    means = sums / total
    if not is_plain or histogram.counts.min() < 0.0:
        means = np.clip(means, -1.0, 1.0)
    strings = outcome_map.pauli_map
    errors = None if is_plain else np.sqrt(np.maximum(squares, SMALLEST_VARIANCE * total)) / total
    return PauliData(strings.qubits, strings.x, strings.z, means, total if is_plain else None, errors)


def _invert_together(outcome_map: OutcomeMap, histogram: Histogram) -> PauliData:
    """Return the estimates of the strings that all measurements together determine, by weighted least squares."""
    strings = outcome_map.pauli_map
    if strings.x.size * histogram.size > MOST_INVERTED:
        expected = "operators that determine their Pauli strings one measurement at a time, for this number of qubits"
        raise InvalidInput("povm", expected, f"{histogram.size} outcomes and {strings.x.size} strings")
    matrix = np.stack([outcome_map.probabilities(row) for row in np.eye(strings.x.size)], axis=1)
    values, vectors = np.linalg.eigh(matrix.T @ (histogram.shots[:, np.newaxis] * matrix))
    kept = vectors[:, values > SINGULAR * values[-1]]
    inverse = (kept / values[values > SINGULAR * values[-1]]) @ (kept.T @ matrix.T)
    known = np.sum(kept**2, axis=1) > 1.0 - SINGULAR
    means = np.clip(inverse @ histogram.counts, -1.0, 1.0)
    errors = np.sqrt(inverse**2 @ np.maximum(histogram.counts, SMALLEST_VARIANCE))
    return PauliData(strings.qubits, strings.x[known], strings.z[known], means[known], None, errors[known])
