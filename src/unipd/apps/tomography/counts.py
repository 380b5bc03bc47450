"""Counts in local measurement bases: the Pauli expectation values they determine, and fits outcome by outcome.

Both by Walsh-Hadamard transforms. With enough shots the frequencies of all outcomes are fitted, each weighted by its
variance: estimated from the counts ("gaussian") or from a previous state ("outcomes").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.state import QuantumState
from unipd.couplings import WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli import MOST_SHOTS, PauliData
from unipd.maps.pauli import OutcomeMap, walsh_hadamard
from unipd.maps.pauli.strings import MOST_QUBITS, bit_count, parse
from unipd.memory import require_room_for_state
from unipd.problem import Problem
from unipd.sharp.spectral.spectrahedron import Spectrahedron

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


def all_signed_sums(qubits: int, outcomes: IntArray, counts: IntArray, supports: IntArray) -> FloatArray:
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
        require_room_for_state(qubits, 1)
    return [_basis_counts(basis, outcomes, qubits) for basis, outcomes in counts.items()]


def _basis_counts(basis: Any, outcomes: Any, qubits: int) -> BasisCounts:
    known = isinstance(basis, str) and 1 <= len(basis) <= MOST_QUBITS and not basis.strip("XYZ")
    if not known or len(basis) != qubits:
        raise InvalidInput("counts", f"bases of {qubits} letters X, Y, Z", repr(basis))
    if not isinstance(outcomes, Mapping):
        raise InvalidInput(f"counts[{basis!r}]", "a mapping of bit-string -> count", type(outcomes).__name__)
    if getattr(outcomes, "hex_raw", None) is not None:  # Qiskit's Counts made from numbers drop leading zeros
        numbered: Any = outcomes
        outcomes = {format(key, f"0{qubits}b"): value for key, value in numbered.int_outcomes().items()}
    bits = ["".join(str(key).split()) for key in outcomes]
    for word in bits:
        if len(word) != qubits or word.strip("01"):
            raise InvalidInput(f"counts[{basis!r}]", f"bit-strings of {qubits} bits", repr(word))
    numbers = [validate.integer(f"counts[{basis!r}]", value, minimum=0) for value in outcomes.values()]
    if sum(numbers) == 0:
        raise InvalidInput(f"counts[{basis!r}]", "at least one shot", "none")
    if sum(numbers) > MOST_SHOTS:
        raise InvalidInput(f"counts[{basis!r}]", "at most 2^53 shots", f"about 2^{sum(numbers).bit_length()}")
    return BasisCounts(basis, np.array([int(word, 2) for word in bits]), np.array(numbers, np.int64))


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
    return PauliData(qubits, x[kept], z[kept], sums[kept] / shots[kept], shots[kept])


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


BY_OUTCOME = ("outcomes", "gaussian")
"""Objectives that fit the frequencies of outcomes."""
MOST_OUTCOMES = 1 << 22
"""Outcomes (bases times 2^q) up to which they are fitted one by one."""
SHOTS_PER_OUTCOME = 16
"""Average shots per outcome that frequencies, rather than Pauli estimates, require."""
GAUSSIAN_PSEUDOCOUNT = 0.5
"""Counts added to every outcome for the weights of "gaussian"."""
PSEUDOCOUNT = 1.0
"""Counts added to every outcome for the weights of the first fit."""
LEAST_COUNT = 0.1
"""Lower bound on the expected count of an outcome; smaller ones would only make the problem ill-conditioned."""
SCORE_LIMITS = (-4.0, 1.5)
"""Slopes of the likelihood towards white noise, in standard errors, within which weights from the counts serve well.

By simulation with 1,000 shots: pure states and states of rank 2, of two to five qubits, had slopes from -3.1 to 0.9,
and "outcomes" estimates them worse. With 5% of white noise the slopes were up to 1.1 for two and three qubits, 1 to 8
for four and 13 to 36 for five; GHZ and W states of three and more qubits had -3.6 to -37.
"""
LEAST_SCORED_COUNT = 0.5
"""Lower bound on the expected count of an outcome in such a slope."""


def pool_estimates(outcome_map: OutcomeMap, histogram: FloatArray) -> PauliData:
    """Return the Pauli estimates that counts (bases x outcomes) give, pooled over the bases by their shots."""
    sums = walsh_hadamard(histogram)
    shots = np.broadcast_to(histogram.sum(axis=1, keepdims=True), sums.shape)
    pauli_map = outcome_map.pauli_map
    flat, size = outcome_map.places.reshape(-1), pauli_map.x.size
    total = np.bincount(flat, shots.reshape(-1), size).astype(np.float64)
    means = np.bincount(flat, sums.reshape(-1), size) / total
    return PauliData(pauli_map.qubits, pauli_map.x, pauli_map.z, means, total)


def has_few_outcomes(counts: list[BasisCounts]) -> bool:
    """Whether there are few enough outcomes to fit them one by one."""
    return len(counts) << len(counts[0].basis) <= MOST_OUTCOMES


def has_frequent_outcomes(counts: list[BasisCounts]) -> bool:
    """Whether outcomes are few, and seen often enough on average for their frequencies to be nearly Gaussian."""
    return has_few_outcomes(counts) and min(part.shots for part in counts) >= SHOTS_PER_OUTCOME << len(counts[0].basis)


def smooth_frequencies(histogram: FloatArray) -> FloatArray:
    """Return the frequencies with one count added to every outcome, so that none is zero.

    >>> smooth_frequencies(np.array([[0.0, 8.0]]))
    array([[0.1, 0.9]])
    """
    smoothed = histogram + PSEUDOCOUNT
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def multinomial_variance(histogram: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return p / N for every outcome, with p bounded from below by :data:`LEAST_COUNT` / N.

    On frequencies that sum to one in every basis these weights are those of the multinomial distribution.
    """
    shots = histogram.sum(axis=1, keepdims=True)
    return np.maximum(probabilities.reshape(histogram.shape), LEAST_COUNT / shots) / shots


def gaussian_variance(histogram: FloatArray) -> FloatArray:
    """Return h (1 - h) / N for every outcome, with h the frequency after :data:`GAUSSIAN_PSEUDOCOUNT` is added.

    ``cvxpy_gaussian_lstsq`` of qiskit-experiments uses the same weights. Estimates of pure states are good, those of
    states with a little noise too pure.
    """
    shots = histogram.sum(axis=1, keepdims=True)
    hedged = (histogram + GAUSSIAN_PSEUDOCOUNT) / (shots + GAUSSIAN_PSEUDOCOUNT * histogram.shape[1])
    return hedged * (1.0 - hedged) / shots


def outcome_problem(outcome_map: OutcomeMap, histogram: FloatArray, variance: FloatArray, **options: Any) -> Problem:
    """Return min 1/2 sum over outcomes of (A(X) - f)^2 / v over density matrices, with f the observed frequencies.

    ``options`` are those of the spectral oracle.
    """
    frequencies = (histogram / histogram.sum(axis=1, keepdims=True)).reshape(-1)
    loss = WeightedLeastSquares(1.0 / variance.reshape(-1))
    return Problem(Spectrahedron(outcome_map.domain[0], **options), outcome_map, frequencies, loss)


def passes_score_test(outcome_map: OutcomeMap, histogram: FloatArray, state: QuantumState) -> bool:
    """Whether a state fitted with weights from the counts has neither lost white noise nor gained it.

    Moving the state towards I/p changes the log-likelihood at the rate sum (n - N p)(2^-q - p) / p, the score. In the
    true state it has mean 0 and variance sum N (2^-q - p)^2 / p. Above :data:`SCORE_LIMITS` standard errors the fit
    has lost white noise; below them it has too much, as where many outcomes never occur (GHZ states).
    """
    shots = histogram.sum(axis=1, keepdims=True)
    probabilities = np.maximum(outcome_map.image(state.low_rank).reshape(histogram.shape), LEAST_SCORED_COUNT / shots)
    rates = (1.0 / histogram.shape[1] - probabilities) / probabilities
    score = np.sum((histogram - shots * probabilities) * rates)
    least, most = np.sqrt(np.sum(shots * probabilities * rates**2)) * np.array(SCORE_LIMITS)
    return bool(least <= score <= most)


def histogram_of(counts: list[BasisCounts]) -> FloatArray:
    """Return the counts as an array of shape (bases, 2^q).

    >>> histogram_of([BasisCounts("Z", np.array([1]), np.array([7]))])
    array([[0., 7.]])
    """
    table = np.zeros((len(counts), 1 << len(counts[0].basis)))
    for row, part in zip(table, counts, strict=True):
        np.add.at(row, part.outcomes, part.counts)
    return table
