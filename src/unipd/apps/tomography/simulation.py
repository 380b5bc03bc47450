"""Simulated experiments: test states, Pauli expectation values with noise, and counts in local bases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product as all_tuples
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import draw_normal
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import BasisCounts
from unipd.apps.tomography.measurements import (
    DOUBLE_QUBITS,
    Paulis,
    as_paulis,
    choose_paulis,
    measurement_count,
    pauli_map,
    shot_variance,
)
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import Confusion, apply_local
from unipd.maps.pauli.strings import MOST_QUBITS, bit_count
from unipd.memory import require_room_for_state


def random_pure(qubits: int, seed: int = 0) -> QuantumState:
    """Return a pure state drawn uniformly (Haar).

    Parameters
    ----------
    qubits
        The number of qubits.
    seed
        Seed of the random numbers; equal seeds give equal results.

    See Also
    --------
    random_mixed, make_state

    Examples
    --------
    >>> random_pure(3, seed=1).rank
    1
    """
    return random_mixed(qubits, rank=1, seed=seed)


def random_mixed(qubits: int, rank: int = 3, seed: int = 0) -> QuantumState:
    """Return G G^* / tr(G G^*) for a complex Gaussian matrix G with ``rank`` columns.

    Parameters
    ----------
    qubits
        The number of qubits.
    rank
        Rank of the state.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``rank``: expected an integer of at least 1; ``seed``: expected an integer of at least 0.

    See Also
    --------
    random_pure, make_state

    Examples
    --------
    >>> state = random_mixed(3, rank=2, seed=1)
    >>> state.rank, 0.5 <= state.purity < 1
    (2, True)
    """
    size = _dimension(qubits)
    columns = validate.integer("rank", rank, minimum=1)
    if columns > size:
        raise InvalidInput("rank", f"at most 2^{qubits}", repr(rank))
    rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
    block = draw_normal(rng, (size, columns), np.complex128)
    return QuantumState(block, np.linalg.norm(block, axis=0) ** 2)


def ghz(qubits: int, seed: int = 0) -> QuantumState:
    """Return (|0...0> + |1...1>) / sqrt(2).

    Parameters
    ----------
    qubits
        The number of qubits.
    seed
        Ignored; all states take one.

    See Also
    --------
    w_state, make_state

    Examples
    --------
    >>> round(ghz(3).expectation("XXX"), 12)
    1.0
    """
    vector = np.zeros(_dimension(qubits))
    vector[[0, -1]] = 1.0
    return QuantumState(vector)


def w_state(qubits: int, seed: int = 0) -> QuantumState:
    """Return the equal superposition of the basis states with a single 1.

    Parameters
    ----------
    qubits
        The number of qubits.
    seed
        Ignored; all states take one.

    See Also
    --------
    ghz, make_state

    Examples
    --------
    >>> round(w_state(4).expectation("ZIII"), 12)
    0.5
    """
    vector = np.zeros(_dimension(qubits))
    vector[1 << np.arange(qubits)] = 1.0
    return QuantumState(vector)


def product(qubits: int, seed: int = 0) -> QuantumState:
    """Return a product of random pure states of one qubit each.

    Parameters
    ----------
    qubits
        The number of qubits.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``seed``: expected an integer of at least 0.

    See Also
    --------
    random_pure, make_state

    Examples
    --------
    >>> product(3, seed=2).rank
    1
    """
    _dimension(qubits)
    rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
    vector: Array = np.ones(1, np.complex128)
    for _ in range(qubits):
        single = draw_normal(rng, (2,), np.complex128)
        vector = np.kron(vector, single / np.linalg.norm(single))
    return QuantumState(vector)


STATES: dict[str, Callable[..., QuantumState]] = {
    "random": random_pure,
    "mixed": random_mixed,
    "ghz": ghz,
    "w": w_state,
    "product": product,
}
"""States by the names used in :func:`~unipd.apps.tomography.simulate` and on the command line."""


def make_state(kind: str, qubits: int, *, rank: int | None = None, seed: int = 0) -> QuantumState:
    """Return the state of this name; ``rank`` is for "mixed" alone (3 by default, 2 for one qubit).

    Parameters
    ----------
    kind
        "random", "mixed", "ghz", "w" or "product".
    qubits
        The number of qubits.
    rank
        Rank of a mixed state.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        If the name is unknown, the number of qubits is not positive or too large for a vector, a pure state is given a
        rank above 1, or the rank of a mixed state is not between 1 and 2^qubits.

    See Also
    --------
    ghz, w_state, random_pure, simulate

    Examples
    --------
    >>> make_state("mixed", 3, rank=2).rank
    2
    """
    if validate.choice("state", kind, STATES) == "mixed":
        return random_mixed(qubits, min(3, _dimension(qubits)) if rank is None else rank, seed)
    if rank not in (None, 1):
        raise InvalidInput("rank", f'1 (or the state "mixed"), since {kind} is pure', repr(rank))
    return STATES[kind](qubits, seed=seed)


def _dimension(qubits: int) -> int:
    count = validate.integer("qubits", qubits, minimum=1)
    if count > MOST_QUBITS:
        found = f"{qubits} (a vector of {math.ldexp(16, count):.3g} bytes)"
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", found)
    return 1 << count


@dataclass(frozen=True)
class Noise:
    """Errors that an expectation value e suffers between the state and the data, in this order.

    1. ``depolarizing`` d: the state becomes (1 - d) rho + d I/p, so e becomes (1 - d) e (the paper's polarisation);
    2. ``readout`` r: every measured bit flips with probability r, so e becomes (1 - 2 r)^w e for a string of weight w;
    3. ``shots`` N: the mean of N outcomes +-1 (binomial);
    4. ``gaussian`` s: an error of standard deviation s is added.

    The identity is always 1 and is measured without error.

    Parameters
    ----------
    shots
        N; None for exact means.
    depolarizing
        The share d of white noise.
    readout
        The probability r to flip a bit.
    gaussian
        The standard deviation s.

    Raises
    ------
    InvalidInput
        ``depolarizing``: expected a number from 0 to 1; ``readout``: expected a probability below 1/2; ``gaussian``:
        expected a number of at least zero; ``shots``: expected an integer of at least 1.

    See Also
    --------
    simulate, simulate_counts

    Examples
    --------
    >>> Noise(shots=1000, readout=0.01).readout
    0.01
    """

    shots: int | None = None
    depolarizing: float = 0.0
    readout: float = 0.0
    gaussian: float = 0.0

    def __post_init__(self) -> None:
        if self.shots is not None:
            validate.integer("shots", self.shots, minimum=1)
        if not 0.0 <= validate.number("depolarizing", self.depolarizing) <= 1.0:
            raise InvalidInput("depolarizing", "a number from 0 to 1", repr(self.depolarizing))
        if not 0.0 <= validate.number("readout", self.readout) < 0.5:
            raise InvalidInput("readout", "a probability below 1/2", repr(self.readout))
        validate.nonnegative("gaussian", self.gaussian)

    def sample(self, paulis: Paulis, expectations: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return measured values.

        Parameters
        ----------
        paulis
            The Pauli strings.
        expectations
            Their expectations without noise.
        rng
            NumPy's random generator.

        Examples
        --------
        >>> noise = Noise(depolarizing=0.5)
        >>> noise.sample(Paulis(1, np.array([0, 1]), np.array([0, 0])), np.array([1.0, 0.5]), np.random.default_rng(0))
        array([1.  , 0.25])
        """
        weight = bit_count(paulis.x | paulis.z)
        damping = (1.0 - self.depolarizing) * (1.0 - 2.0 * self.readout) ** weight
        values = np.where(weight == 0, 1.0, damping * expectations)
        if self.shots is not None:
            values = binomial_mean(values, self.shots, rng)
        if self.gaussian > 0.0:
            error = self.gaussian * rng.standard_normal(values.shape)
            values = values + np.where(weight == 0, 0.0, error)
        return values

    def stderr(self, values: FloatArray) -> FloatArray | None:
        """Return the standard errors that the data should carry, None when there is no random error."""
        if self.shots is None and self.gaussian == 0.0:
            return None
        variance = np.full(values.shape, self.gaussian**2)
        return np.sqrt(variance if self.shots is None else variance + shot_variance(values, self.shots))


def binomial_mean(expectations: FloatArray, shots: Any, rng: np.random.Generator) -> FloatArray:
    """Return the mean of ``shots`` outcomes +-1 with the given expectations."""
    chance = np.clip(0.5 * (1.0 + expectations), 0.0, 1.0)
    counts = np.asarray(shots).astype(np.int64)
    return 2.0 * rng.binomial(counts, chance) / counts - 1.0


_H, _UNIT = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0), np.eye(2)
_ROTATIONS: Mapping[str, Array] = {"X": _H, "Y": _H @ np.diag([1.0, -1.0j])}


def all_bases(qubits: int) -> list[str]:
    """Return the 3^q local bases.

    Parameters
    ----------
    qubits
        The number of qubits.

    Raises
    ------
    InvalidInput
        ``qubits``: expected an integer of at least 1.

    See Also
    --------
    random_bases, simulate_counts

    Examples
    --------
    >>> all_bases(1)
    ['X', 'Y', 'Z']
    """
    return ["".join(letters) for letters in all_tuples("XYZ", repeat=validate.integer("qubits", qubits, minimum=1))]


def random_bases(qubits: int, count: int, seed: int = 0) -> list[str]:
    """Return ``count`` distinct random local bases (all of them when there are no more).

    Parameters
    ----------
    qubits
        The number of qubits.
    count
        Number of bases.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``count``: expected an integer of at least 1.

    See Also
    --------
    all_bases, simulate_counts

    Examples
    --------
    >>> len(set(random_bases(3, 10, seed=1)))
    10
    """
    number = validate.integer("count", count, minimum=1)
    if number >= 3**qubits:
        return all_bases(qubits)
    rng = np.random.default_rng(seed)
    chosen: dict[str, None] = {}
    while len(chosen) < number:
        chosen["".join(np.array(list("XYZ"))[rng.integers(0, 3, qubits)])] = None
    return list(chosen)


def outcome_probabilities(state: QuantumState, basis: str, noise: Noise | None = None) -> FloatArray:
    """Return the probability of every outcome in a basis, by index ``int(bits, 2)``; I: a qubit is not measured.

    Parameters
    ----------
    state
        The state that is measured.
    basis
        One letter X, Y, Z or I for each qubit.
    noise
        Errors of the experiment.

    Raises
    ------
    InvalidInput
        If the basis has other letters, or not one for each qubit.

    See Also
    --------
    simulate_counts, QuantumState

    Examples
    --------
    >>> outcome_probabilities(QuantumState([1, 1]), "X").round(12)
    array([1., 0.])
    """
    if len(basis) != state.qubits or basis.strip("IXYZ") or not basis.strip("I"):
        raise InvalidInput("bases", f"bases of {state.qubits} letters X, Y, Z (I: not measured)", repr(basis))
    rotations: Any = tuple(_ROTATIONS.get(letter, _UNIT) for letter in reversed(basis))
    vectors: Any = (state.eigenvectors * np.sqrt(state.eigenvalues)).T
    probabilities = np.sum(np.abs(apply_local(vectors, rotations)) ** 2, axis=0)
    if noise is not None:
        probabilities = (1.0 - noise.depolarizing) * probabilities + noise.depolarizing / probabilities.size
        if noise.readout:
            flips = np.array([[1.0 - noise.readout, noise.readout], [noise.readout, 1.0 - noise.readout]])
            probabilities = apply_local(probabilities[np.newaxis], (flips,) * state.qubits)[0]
    unmeasured = tuple(axis for axis, letter in enumerate(basis) if letter == "I")
    tensor = probabilities.reshape((2,) * state.qubits)
    flat = np.maximum(tensor.sum(axis=unmeasured).reshape(-1), 0.0)
    return flat / flat.sum()


def sample_bases(
    state: QuantumState,
    bases: Iterable[str],
    shots: Iterable[int],
    rng: np.random.Generator,
    noise: Noise | None = None,
    confusion: Confusion | None = None,
) -> Iterator[BasisCounts]:
    """Yield random outcomes in each basis, for the given numbers of shots; ``confusion`` adds readout errors."""
    for basis, number in zip(bases, shots, strict=True):
        probabilities = outcome_probabilities(state, basis, noise)
        if confusion is not None:
            probabilities = apply_local(probabilities[np.newaxis], confusion)[0]
            probabilities = probabilities / probabilities.sum()
        counts = rng.multinomial(number, probabilities)
        seen = np.flatnonzero(counts)
        yield BasisCounts(basis, seen, counts[seen])


def simulate_counts(
    state: QuantumState, bases: Iterable[str], shots: int, *, noise: Noise | None = None, seed: int = 0
) -> dict[str, dict[str, int]]:
    """Return counts of bit-strings (qubit 0 at the right) for ``shots`` shots in each basis.

    Depolarizing and readout noise act on the outcomes; the shots of ``noise`` are not used.

    Parameters
    ----------
    state
        The state that is measured.
    bases
        The bases, one letter X, Y, Z or I (not measured) for each qubit.
    shots
        Shots in each basis.
    noise
        Errors of the experiment; its ``shots`` are ignored.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``shots``: expected an integer of at least 1.

    See Also
    --------
    simulate, all_bases, unipd.PauliTomography

    Examples
    --------
    >>> simulate_counts(QuantumState([1, 0, 0, 1]), ["XX"], 100, seed=1)
    {'XX': {'00': 45, '11': 55}}
    """
    chosen = list(bases)
    number = validate.integer("shots", shots, minimum=1)
    rng = np.random.default_rng(seed)
    parts = sample_bases(state, chosen, [number] * len(chosen), rng, noise)
    return {part.basis: part.by_outcome() for part in parts}


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(ReprMixin):
    """A simulated experiment.

    Parameters
    ----------
    state
        The state that was measured.
    data
        The strings and the measured values, with their standard errors if the noise is random.
    noise
        Their noise.
    exact
        The state's own expectation values; above 11 qubits in single precision.

    See Also
    --------
    simulate, Noise

    Examples
    --------
    >>> experiment = simulate("ghz", 2, noise=Noise(shots=100))
    >>> experiment.data.qubits, experiment.noise.shots
    (2, 100)
    """

    state: QuantumState
    data: PauliData
    noise: Noise
    exact: FloatArray


def simulate(
    state: QuantumState | str = "random",
    qubits: int | None = None,
    *,
    measurements: int | None = None,
    paulis: Any = None,
    noise: Noise | None = None,
    rank: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Simulation:
    """Measure Pauli strings of a state; no p x p matrix is formed.

    Parameters
    ----------
    state
        A state (or what :func:`as_state` makes one of), or the name of one: "random" (pure), "mixed", "ghz", "w",
        "product".
    qubits
        Number of qubits, for a state given by name.
    measurements
        Number of distinct random strings; default :func:`measurement_count` for the state's rank.
    paulis
        The strings to measure, instead of random ones.
    noise
        Noise of the measurements; none by default.
    rank
        Rank of the state "mixed" (3 by default, 2 for one qubit).
    seed
        Seed of the state, the strings and the noise (three independent streams).
    threads
        Threads of the products.

    Returns
    -------
    Simulation

    Raises
    ------
    InvalidInput
        ``seed``: expected an integer of at least 0.

    See Also
    --------
    Simulation, Noise, simulate_counts

    Examples
    --------
    >>> experiment = simulate("ghz", 3, noise=Noise(shots=1000), seed=1)
    >>> experiment.data.size, float(experiment.data.shots[0])
    (64, 1000.0)
    """
    root = validate.integer("seed", seed, minimum=0)
    noise = Noise() if noise is None else noise
    truth = _state(state, qubits, measurements, rank, _stream(root, 0))
    if paulis is None:
        count = measurement_count(truth.qubits, truth.rank) if measurements is None else measurements
        strings = choose_paulis(truth.qubits, count, _stream(root, 1))
    else:
        strings = as_paulis(paulis, truth.qubits)
    precision = "double" if truth.qubits <= DOUBLE_QUBITS else "single"
    exact = np.asarray(pauli_map(strings, precision=precision, threads=threads).image(truth.low_rank), np.float64)
    values = noise.sample(strings, exact, np.random.default_rng(_stream(root, 2)))
    shots = None if noise.shots is None else np.full(values.shape, float(noise.shots))
    stderr = None if noise.gaussian == 0.0 else noise.stderr(values)
    return Simulation(truth, PauliData(*strings, values, shots, stderr), noise, exact)


def _state(state: Any, qubits: int | None, measurements: int | None, rank: int | None, seed: int) -> QuantumState:
    """Return the state to measure; one given by name is built only after the memory forecast."""
    if not isinstance(state, str):
        return as_state(state)
    if qubits is None:
        raise InvalidInput("qubits", "the number of qubits of a state given by name", "None")
    known = require_room_for_state(qubits, measurements or 0)
    require_room_for_state(known, measurements or measurement_count(known))
    return make_state(state, known, rank=rank, seed=seed)


def _stream(seed: int, part: int) -> int:
    """Return the seed of one of the independent random streams of an experiment."""
    return int(np.random.SeedSequence([seed, part]).generate_state(1, np.uint64)[0])
