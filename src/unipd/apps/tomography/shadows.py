"""Observables from measurements in many local bases, without a state: classical shadows, for any number of qubits.

A basis *matches* a string that has its letters or I on every qubit, and a shot in it gives the string's sign. Two
estimates:

- median of means (Huang, Kueng and Preskill, 2020), for bases drawn uniformly at random. A string of weight w is
  matched with probability 3^-w, so 3^w times the sign, 0 without a match, has mean tr(P rho) and variance at most 3^w;
  that of a sum of strings is at most (sum |c| 3^(w/2))^2. The median of K means over B bases each errs by more than
  sqrt(34 variance / B) with probability at most 2 exp(-K / 2), whatever the state.
- matched: the mean sign over the shots that match, for bases of any kind. Its standard error comes from batches of
  shots drawn at random, since a single basis may match, and its counts come outcome by outcome.

Bits are stored by qubit and letter, 64 shots a word: 64 shots of a string of weight w cost 2 w operations on words.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, stdtrit

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import counts_by_setting, read_outcomes
from unipd.apps.tomography.measurements import MeasurementWarning, expand_label, read_masks
from unipd.errors import InvalidInput
from unipd.maps.pauli import bit_count

ESTIMATORS = ("median-of-means", "matched")
"""How shots become an estimate."""
BATCHES = 10
"""Batches of the matched estimate, whose spread is its standard error."""
MEDIAN_FACTOR = 34.0
"""The radius of a median of means is sqrt(34 variance / batch size) (Huang, Kueng and Preskill, theorem 1)."""
MOST_STORED = 1 << 33
"""Most bits that are stored: 1 GB."""
UNLIKELY = 1e-6
"""Random bases have letters as uneven as these with a smaller probability: they were not drawn uniformly."""
_LETTERS = np.frombuffer(b"XYZ", np.uint8)


class UnevenBases(MeasurementWarning):
    """Bases that were not drawn uniformly: a median of means is biased.

    See Also
    --------
    Shadow

    Examples
    --------
    >>> issubclass(UnevenBases, MeasurementWarning)
    True
    """


@dataclass(frozen=True, eq=False, repr=False)
class ShadowEstimate(ReprMixin):
    """An estimate of an observable from shots in many bases.

    Parameters
    ----------
    value
        The estimate.
    stderr
        Standard error, from the spread of the batches; infinite where that says nothing: no shot matches one of the
        strings, or ("matched") those of a single batch do.
    low
        Lower end of the interval: guaranteed for a median of means, else that of Student's distribution.
    high
        Upper end of the interval.
    matches
        Shots that match the string that fewest match.
    level
        Confidence level, for all observables together.

    See Also
    --------
    Shadow

    Examples
    --------
    >>> ShadowEstimate(0.5, 0.1, 0.3, 0.7, matches=120, level=0.95).high
    0.7
    """

    value: float
    stderr: float
    low: float
    high: float
    matches: int
    level: float


class Shadow:
    """Shots in local bases.

    Parameters
    ----------
    bases
        The basis of every shot: labels of the letters X, Y, Z, the rightmost for qubit 0.
    bits
        Its outcome: bit-strings, the rightmost bit for qubit 0, or an array of 0 and 1 of shape (shots, qubits) in the
        same order.
    settings
        Numbers, in increasing order, of the draw of a basis that every shot belongs to; by default every shot has a
        basis of its own.

    Raises
    ------
    InvalidInput
        If bases are not labels of X, Y, Z of one length, outcomes not as many bits, or settings not as many numbers in
        increasing order.

    See Also
    --------
    ShadowEstimate, unipd.PauliTomography

    Examples
    --------
    >>> shots = Shadow(["XX", "ZZ", "ZX"], ["00", "11", "10"])
    >>> shots.qubits, shots.size, shots.draws
    (2, 3, 3)
    """

    def __init__(self, bases: Sequence[str], bits: Any, settings: Any = None) -> None:
        self.letters = _read_letters(bases)
        """Letters of the bases as bytes, shape (shots, qubits), qubit 0 last."""
        self.ones = _read_bits(bits, self.letters.shape)
        """Whether the outcome is 1, in the same shape."""
        given = np.arange(self.size) if settings is None else np.asarray(settings)
        if given.shape != (self.size,) or np.any(np.diff(given) < 0):
            raise InvalidInput("settings", f"{self.size} numbers in increasing order", f"shape {given.shape}")
        self.settings: IntArray = np.unique(given, return_inverse=True)[1]
        """Number of the basis draw of every shot."""

    @classmethod
    def from_counts(cls, counts: Any) -> Shadow:
        """Return the shots of counts ``{basis: {bit-string: count}}`` in any form that ``fit_counts`` takes.

        The shots of a basis belong to one draw.

        >>> Shadow.from_counts({"XZ": {"00": 3, "11": 1}}).size
        4
        """
        counts = counts_by_setting(counts)
        rows: list[tuple[str, str, int]] = []
        numbers: list[int] = []
        for draw, (basis, content) in enumerate(counts.items()):
            outcomes, scale = read_outcomes(f"counts[{basis!r}]", len(str(basis)), content)
            for word, number in outcomes.items():
                known = isinstance(number, (int, float, np.integer, np.floating)) and scale == 1.0
                if not known or number < 0 or number != int(number):
                    raise InvalidInput(f"counts[{basis!r}]", "whole numbers of shots", repr(number))
                rows.append((str(basis), "".join(str(word).split()), draw))
                numbers.append(int(number))
        bases, words, draws = zip(*rows, strict=True)
        return cls(np.repeat(bases, numbers).tolist(), np.repeat(words, numbers).tolist(), np.repeat(draws, numbers))

    @property
    def size(self) -> int:
        """Number of shots."""
        return int(self.letters.shape[0])

    @property
    def qubits(self) -> int:
        """Number of qubits."""
        return int(self.letters.shape[1])

    @property
    def draws(self) -> int:
        """Number of bases drawn."""
        return int(self.settings[-1]) + 1

    def is_even(self) -> bool:
        """Whether the letters of the bases are as even as those of random bases (chi-square, all qubits)."""
        first = np.unique(self.settings, return_index=True)[1]
        found = np.stack([(self.letters[first] == letter).sum(axis=0) for letter in _LETTERS])
        chi_square = float(np.sum((found - self.draws / 3.0) ** 2) / (self.draws / 3.0))
        return float(chdtrc(2 * self.qubits, chi_square)) > UNLIKELY

    def estimate(
        self,
        observables: Mapping[str, Any],
        *,
        estimator: str = "median-of-means",
        level: float = 0.95,
        batches: int | None = None,
    ) -> dict[str, ShadowEstimate]:
        """Estimate observables.

        Parameters
        ----------
        observables
            Sums of Pauli strings by name: a label, a mapping or pairs from labels to coefficients, or a
            ``SparsePauliOp``. A label may be short: "Z0 Z7".
        estimator
            "median-of-means", whose interval is guaranteed for bases drawn uniformly at random, or "matched", for bases
            of any kind, with the interval of Student's distribution.
        level
            Confidence level: of all observables together for a median of means, else of each.
        batches
            Number of batches; by default as many as the level requires of a median of means, ten for "matched".

        Examples
        --------
        >>> shots = Shadow(["ZZ", "XX"] * 30, ["00", "11"] * 30)
        >>> found = shots.estimate({"zz": "ZZ", "z": "Z0"}, estimator="matched")
        >>> found["zz"].value, found["zz"].matches, found["z"].value
        (1.0, 30, 1.0)
        """
        is_median = validate.choice("estimator", estimator, ESTIMATORS) == ESTIMATORS[0]
        validate.fraction("level", level)
        terms = {name: read_terms(observable, self.qubits) for name, observable in observables.items()}
        least = math.ceil(2.0 * math.log(2.0 * max(1, len(terms)) / (1.0 - level))) if is_median else 2
        parts, unit, units = (self.draws, "basis", "bases") if is_median else (self.size, "shot", "shots")
        usual = least if is_median else min(BATCHES, parts)
        number = usual if batches is None else validate.integer("batches", batches, minimum=2)
        if not max(2, least) <= number <= parts:
            text = f"at least {max(2, least)} batches, each of at least one {unit} (level {level:g})"
            raise InvalidInput("batches", text, f"{number} batches of {parts} {units}")
        packed = PackedShots(self, number, shuffled=not is_median)
        if not is_median:
            return {name: _mean_of_matches(packed, *part, level) for name, part in terms.items()}
        if not self.is_even():
            text = 'the bases were not drawn uniformly at random: use the estimator "matched"'
            warnings.warn(text, UnevenBases, stacklevel=2)
        return {name: _median_of_means(packed, *part, level) for name, part in terms.items()}


def _read_letters(bases: Sequence[str]) -> NDArray[np.uint8]:
    is_many = isinstance(bases, Iterable)
    labels = [str(basis) for basis in bases] if is_many else []
    if not labels or not labels[0]:
        raise InvalidInput("bases", "a label of the letters X, Y, Z for every shot", "none" if is_many else repr(bases))
    wrong = next((label for label in labels if len(label) != len(labels[0]) or label.strip("XYZ")), None)
    if wrong is not None:
        raise InvalidInput("bases", f"labels of {len(labels[0])} letters X, Y, Z", repr(wrong))
    return np.frombuffer("".join(labels).encode(), np.uint8).reshape(len(labels), -1)


def _read_bits(bits: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if isinstance(bits, (Sequence, np.ndarray)) and len(bits) and isinstance(bits[0], str):
        wrong = next((word for word in bits if len(word) != shape[1] or word.strip("01")), None)
        if wrong is not None:
            raise InvalidInput("bits", f"bit-strings of {shape[1]} bits", repr(wrong))
        bits = (np.frombuffer("".join(bits).encode(), np.uint8) == ord("1")).reshape(len(bits), -1)
    array = np.asarray(bits)
    if array.shape != shape:
        raise InvalidInput("bits", f"0 and 1 of shape {shape}", f"shape {array.shape}")
    wrong = array[~np.isin(array, (0, 1))]
    if wrong.size:
        raise InvalidInput("bits", "0 and 1", repr(wrong.tolist()[0]))
    return array.astype(bool)


def read_terms(observable: Any, qubits: int) -> tuple[list[str], FloatArray]:
    """Return the labels and the real coefficients of an observable; the number of qubits is not limited.

    >>> read_terms({"Z0 X2": 0.5, "III": 2.0}, 3)
    (['XIZ', 'III'], array([0.5, 2. ]))
    """
    if hasattr(observable, "coeffs"):
        x, z = read_masks(observable) or ((), ())
        codes = np.asarray(x, bool)[:, ::-1] * 2 + np.asarray(z, bool)[:, ::-1]
        labels = ["".join("IZXY"[code] for code in row) for row in codes]
        numbers: Any = np.asarray(observable.coeffs)
    else:
        given = observable.items() if isinstance(observable, Mapping) else observable
        pairs = [(observable, 1.0)] if isinstance(observable, str) else list(given)
        labels, numbers = [expand_label(label, qubits) for label, _ in pairs], [number for _, number in pairs]
    wrong = next((label for label in labels if len(label) != qubits or label.strip("IXYZ")), None)
    if wrong is not None:
        raise InvalidInput("observable", f"strings of {qubits} letters I, X, Y, Z", repr(wrong))
    if np.any(np.imag(numbers)):
        raise InvalidInput("observable", "real coefficients", "complex ones")
    return labels, validate.real_array("observable", np.real(numbers), shape=(len(labels),)).astype(np.float64)


class PackedShots:
    """Shots as words of 64 bits, by qubit and letter; every batch begins with a new word.

    Batches consist of bases, or of shots in a random order (the same in every run) if ``shuffled``.
    """

    def __init__(self, shadow: Shadow, batches: int, *, shuffled: bool = False) -> None:
        order = np.random.default_rng(0).permutation(shadow.size) if shuffled else np.arange(shadow.size)
        draw, draws = (order, shadow.size) if shuffled else (shadow.settings, shadow.draws)
        batch = draw * batches // draws
        self.shots: IntArray = np.bincount(batch, minlength=batches)
        """Shots of each batch."""
        words = -(-self.shots // 64)
        if 4 * shadow.qubits * 64 * int(words.sum()) > MOST_STORED:
            raise InvalidInput("counts", f"at most {MOST_STORED // (4 * shadow.qubits)} shots", f"{shadow.size}")
        of_draw = np.bincount(draw).astype(np.float64)
        first = np.unique(draw, return_index=True)[1]
        squares = np.bincount(batch[first], of_draw**2, batches)
        self.independent = float(np.min(self.shots**2 / squares))
        """Bases of a batch, counted by the variance of its mean: fewer where their shots are uneven."""
        ends = np.cumsum(words)
        self._starts: IntArray = ends - words
        places = order + (64 * self._starts - (np.cumsum(self.shots) - self.shots))[batch]
        self.qubits, width = shadow.qubits, 64 * int(ends[-1])
        self._ones = _pack(shadow.ones, places, width)
        self._letters = {chr(letter): _pack(shadow.letters == letter, places, width) for letter in _LETTERS}

    def sums(self, label: str) -> tuple[FloatArray, FloatArray]:
        """Return for every batch the number of shots that match a string, and the sum of their signs."""
        support = [place for place, letter in enumerate(label) if letter != "I"]
        match = np.bitwise_and.reduce([self._letters[label[place]][place] for place in support])
        odd = match & np.bitwise_xor.reduce(self._ones[support])
        matches, negative = self._count(match), self._count(odd)
        return matches, matches - 2.0 * negative

    def _count(self, words: NDArray[np.uint64]) -> FloatArray:
        """Return the number of set bits of every batch; NumPy before 2.0 has no bitwise_count."""
        found = np.add.reduceat(_bit_counts()[words.view(np.uint16)], 4 * self._starts, dtype=np.int64)
        return found.astype(np.float64)


@cache
def _bit_counts() -> NDArray[np.uint8]:
    """Return the number of set bits of every 16-bit number."""
    return bit_count(np.arange(1 << 16)).astype(np.uint8)


def _pack(bits: Array, places: IntArray, width: int) -> NDArray[np.uint64]:
    """Return the bits of every qubit as words, shape (qubits, width / 64)."""
    packed = np.empty((bits.shape[1], width // 64), np.uint64)
    for row, column in zip(packed, bits.T, strict=True):
        spread = np.zeros(width, bool)
        spread[places] = column
        row[:] = np.packbits(spread).view(np.uint64)
    return packed


def _median_of_means(packed: PackedShots, labels: list[str], numbers: FloatArray, level: float) -> ShadowEstimate:
    """Return the median over the batches of the mean of 3^w times the sign, with its guaranteed radius."""
    means, root_variance, constant, fewest = np.zeros(packed.shots.size), 0.0, 0.0, int(packed.shots.sum())
    for label, number in zip(labels, numbers.tolist(), strict=True):
        weight = len(label) - label.count("I")
        if weight == 0:
            constant += number
            continue
        matches, sums = packed.sums(label)
        means += number * 3.0**weight * sums / packed.shots
        root_variance += abs(number) * 3.0 ** (0.5 * weight)
        fewest = min(fewest, int(matches.sum()))
    value, radius = float(np.median(means)), root_variance * math.sqrt(MEDIAN_FACTOR / packed.independent)
    reach = float(np.abs(numbers).sum()) - abs(constant)
    low, high = (constant + max(-reach, min(reach, value + sign * radius)) for sign in (-1.0, 1.0))
    stderr = float(np.std(means, ddof=1)) / math.sqrt(means.size) if fewest else math.inf
    return ShadowEstimate(constant + value, stderr, low, high, fewest, level)


def _mean_of_matches(packed: PackedShots, labels: list[str], numbers: FloatArray, level: float) -> ShadowEstimate:
    """Return the sum of mean signs over matching shots; its error by the deviations of the batches (delta method)."""
    deviations, value, fewest = np.zeros(packed.shots.size), 0.0, int(packed.shots.sum())
    for label, number in zip(labels, numbers.tolist(), strict=True):
        if not label.strip("I"):
            value += number
            continue
        matches, sums = packed.sums(label)
        total = float(matches.sum())
        if total == 0.0:
            raise InvalidInput("observable", "strings that some basis measures", f"{label}, which none does")
        mean = float(sums.sum()) / total
        value += number * mean
        deviations += number * (sums - mean * matches) / total if np.count_nonzero(matches) > 1 else math.inf
        fewest = min(fewest, int(total))
    count = deviations.size
    stderr = math.sqrt(count / (count - 1.0) * float(np.sum(deviations**2)))
    width, reach = float(stdtrit(count - 1, 0.5 + 0.5 * level)) * stderr, float(np.abs(numbers).sum())
    return ShadowEstimate(value, stderr, max(-reach, value - width), min(reach, value + width), fewest, level)
