"""Data of process tomography: input states, measurements, counts or expectation values; simulated experiments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.process_tomography.channel import as_channel, kron_all, pauli_matrix
from unipd.apps.tomography.counts import as_confusion, as_counts, counts_by_setting
from unipd.apps.tomography.measurements import real_values
from unipd.apps.tomography.simulation import all_bases
from unipd.apps.tomography.state import as_state
from unipd.errors import InvalidInput
from unipd.maps.channel import ChannelMeasurements
from unipd.maps.pauli import apply_local

_ROOT = np.sqrt(0.5)
STATES: Mapping[str, Array] = {
    "0": np.array([1, 0], np.complex128),
    "1": np.array([0, 1], np.complex128),
    "+": _ROOT * np.array([1, 1], np.complex128),
    "-": _ROOT * np.array([1, -1], np.complex128),
    "r": _ROOT * np.array([1, 1j]),
    "l": _ROOT * np.array([1, -1j]),
}
"""The states of a label's letters, as in Qiskit: eigenstates of Z (0, 1), of X (+, -) and of Y (r, l)."""
_OUTCOMES: Mapping[str, Array] = {
    letter: np.array([np.outer(STATES[name], STATES[name].conj()) for name in pair])
    for letter, pair in (("X", "+-"), ("Y", "rl"), ("Z", "01"))
}
LOST = "lost"
"""The outcome of shots without a result."""
MINIMAL = "01+r"
"""Letters of four states that span all density matrices of a qubit."""


def prepared_state(label: str) -> Array:
    """Return the density matrix of a label of letters 0, 1, +, -, r, l; the rightmost is qubit 0.

    Parameters
    ----------
    label
        One letter for each qubit.

    Raises
    ------
    InvalidInput
        If a letter is unknown.

    See Also
    --------
    all_preparations

    Examples
    --------
    >>> prepared_state("+").real.round(9)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    if not isinstance(label, str) or not label or label.strip("".join(STATES)):
        raise InvalidInput("preparation", "a label of the letters 0, 1, +, -, r, l, one for each qubit", repr(label))
    vector = kron_all([STATES[letter] for letter in label])
    return np.outer(vector, vector.conj())


def basis_effects(basis: str) -> Array:
    """Return the projectors on the outcomes of a local basis, by index ``int(bits, 2)``.

    >>> basis_effects("Z")[1].real
    array([[0., 0.],
           [0., 1.]])
    """
    if not isinstance(basis, str) or not basis or basis.strip("XYZ"):
        raise InvalidInput("basis", "a letter X, Y or Z for every qubit", repr(basis))
    return kron_all([_OUTCOMES[letter] for letter in basis])


def all_preparations(qubits: int, letters: str = MINIMAL) -> list[str]:
    """Return all labels of these letters.

    Parameters
    ----------
    qubits
        The number of qubits.
    letters
        The letters of one qubit.

    Raises
    ------
    InvalidInput
        ``qubits``: expected an integer of at least 1.

    See Also
    --------
    prepared_state, simulate_process

    Examples
    --------
    >>> all_preparations(1)
    ['0', '1', '+', 'r']
    """
    number = validate.integer("qubits", qubits, minimum=1)
    return ["".join(label) for label in product(letters, repeat=number)]


@dataclass(frozen=True, eq=False, repr=False)
class ProcessData(ReprMixin):
    """Measured pairs (input state, operator) with their counts or expectation values.

    Parameters
    ----------
    states
        Input states of shape (states, d_in, d_in); with an ancilla those that its outcomes leave, not normalised.
    effects
        Measurement operators of shape (operators, d_out, d_out).
    pairs
        State and operator of every value.
    values
        Counts, or expectation values.
    settings
        For counts: the experiment that each outcome belongs to, from 0 on.
    shots
        For counts: the shots of every experiment.
    stderr
        For expectation values: standard errors, if known.

    See Also
    --------
    counts_data, expectation_data, process_problem

    Examples
    --------
    >>> data = counts_data({("0", "Z"): {"0": 98, "1": 2}})
    >>> data.values
    array([98.,  2.])
    """

    states: Array
    effects: Array
    pairs: tuple[IntArray, IntArray]
    values: FloatArray
    settings: IntArray | None = None
    shots: FloatArray | None = None
    stderr: FloatArray | None = None

    @property
    def is_counts(self) -> bool:
        """Whether the values are counts."""
        return self.shots is not None

    @property
    def lost(self) -> FloatArray:
        """Shots of every experiment that have no outcome."""
        assert self.shots is not None
        assert self.settings is not None
        return self.shots - np.bincount(self.settings, self.values, self.shots.size)

    @property
    def row_shots(self) -> FloatArray:
        """The shots behind every count."""
        assert self.shots is not None
        assert self.settings is not None
        return self.shots[self.settings]

    @property
    def measurements(self) -> ChannelMeasurements:
        """The map from Choi matrices to probabilities or expectation values."""
        return ChannelMeasurements(self.states, self.effects, self.pairs)

    def add_lost_level(self) -> ProcessData:
        """Return the data for outputs with one more level, to which the state of a lost shot goes.

        A map with tr_out J <= I is then a channel. For counts every experiment gets the outcome that the shot is lost,
        whatever the ancilla showed: its input state is the sum of those that the outcomes of the ancilla leave.
        """
        effects = np.pad(self.effects, ((0, 0), (0, 1), (0, 1)))
        if not self.is_counts:
            return replace(self, effects=effects)
        assert self.settings is not None
        flag = np.zeros((1, *effects.shape[1:]), np.complex128)
        flag[0, -1, -1] = 1.0
        number, states = self.lost.size, self.states
        experiments, inputs = np.divmod(np.unique(self.settings * len(states) + self.pairs[0]), len(states))
        if inputs.size > number:  # an ancilla: several input states in an experiment
            sums = np.zeros((number, *states.shape[1:]), states.dtype)
            np.add.at(sums, experiments, states[inputs])
            states, inputs = np.concatenate([states, sums]), len(states) + np.arange(number)
        return replace(
            self,
            states=states,
            effects=np.concatenate([effects, flag]),
            pairs=(np.append(self.pairs[0], inputs), np.append(self.pairs[1], np.full(number, len(effects)))),
            values=np.append(self.values, self.lost),
            settings=np.append(self.settings, np.arange(number)),
        )


def counts_data(counts: Any, readout: Any = None) -> ProcessData:
    """Return the data of counts ``{(preparation, basis): {bit-string: count}}``.

    Parameters
    ----------
    counts
        The counts.
    readout
        Readout errors, as in :func:`~unipd.apps.tomography.as_confusion`.

    Raises
    ------
    InvalidInput
        ``counts``: expected pairs (preparation, basis) as keys.

    See Also
    --------
    ancilla_data, expectation_data, ProcessData

    Examples
    --------
    >>> counts_data({("0", "Z"): {"0": 9, "1": 1}}).values
    array([9., 1.])
    """
    if not isinstance(counts, Mapping) or not counts:
        expected = "a mapping of (preparation, basis) -> {bit-string: count}"
        raise InvalidInput("counts", expected, validate.describe_type(counts))
    wrong = next((key for key in counts if not (isinstance(key, tuple) and len(key) == 2)), None)
    if wrong is not None:
        raise InvalidInput("counts", "pairs (preparation, basis) as keys", repr(wrong))
    table, shots = _histogram([(f"{first}, {basis}", basis, outcomes) for (first, basis), outcomes in counts.items()])
    preparations, bases = _number(first for first, _ in counts), _number(basis for _, basis in counts)
    states = _same_size("preparation", [prepared_state(label) for label in preparations])
    effects = read_effects(list(bases), readout)
    inside, measured = (
        np.array([labels[key[part]] for key in counts]) for part, labels in enumerate((preparations, bases))
    )
    groups = effects.reshape(len(bases), -1, *effects.shape[1:])
    return replace(tabulate_process(states, inside, groups, measured, table), shots=shots)


def tabulate_process(states: Array, inputs: IntArray, effects: Array, measured: IntArray, table: Any) -> ProcessData:
    """Return the data of a table of counts, a row for each experiment and a column for each outcome.

    Parameters
    ----------
    states
        The distinct input states, of shape (states, d_in, d_in).
    inputs
        The state of each experiment; where an ancilla is measured the states that its outcomes leave, in a row each.
    effects
        The operators of the outcomes of each distinct measurement, of shape (measurements, outcomes, d_out, d_out).
    measured
        The measurement of each experiment.
    table
        Counts of shape (experiments, outcomes), those of an ancilla first.

    Examples
    --------
    >>> one = np.eye(2)[None] / 2
    >>> tabulate_process(one, np.array([0]), basis_effects("Z")[None], np.array([0]), [[3, 1]]).shots
    array([4.])
    """
    counts = validate.real_array("table", table).astype(np.float64)
    inputs = inputs.reshape(len(inputs), -1)
    shape = len(inputs), inputs.shape[1] * effects.shape[1]
    if counts.shape != shape or len(measured) != len(inputs):
        raise InvalidInput("table", f"counts of shape {shape}", f"shape {counts.shape}")
    if counts.min() < 0.0 or np.any(counts.sum(axis=1) <= 0.0):
        raise InvalidInput("table", "counts of at least one shot in each experiment", "none, or negative ones")
    operators = measured[:, None, None] * effects.shape[1] + np.arange(effects.shape[1])
    first, second = np.broadcast_arrays(inputs[:, :, None], operators)
    settings = np.repeat(np.arange(len(counts)), counts.shape[1])
    flat = effects.reshape(-1, *effects.shape[2:])
    pairs = first.reshape(-1), second.reshape(-1)
    return ProcessData(states, flat, pairs, counts.reshape(-1), settings, counts.sum(axis=1))


def ancilla_data(counts: Any, state: Any = None, readout: Any = None) -> ProcessData:
    """Return the data of counts ``{basis: {bit-string: count}}`` measured on ancilla and output together.

    Letters and bits of the ancilla come first (higher qubits). ``state`` of ancilla and input, in this order, was
    prepared; by default it is maximally entangled.

    Parameters
    ----------
    counts
        The counts.
    state
        State of ancilla and input that was prepared; maximally entangled by default.
    readout
        Readout errors of each qubit, as in :func:`~unipd.apps.tomography.as_confusion`.

    Raises
    ------
    InvalidInput
        ``counts``: expected a mapping of basis -> {bit-string: count}; ``readout``: expected readout errors of each
        qubit where there is an ancilla.

    See Also
    --------
    counts_data, ProcessData

    Examples
    --------
    >>> ancilla_data({"ZZ": {"00": 51, "11": 49}}).values
    array([51.,  0.,  0., 49.])
    """
    counts = counts_by_setting(counts)
    table, shots = _histogram([(str(basis), basis, outcomes) for basis, outcomes in counts.items()])
    qubits, half = len(next(iter(counts))), len(next(iter(counts))) // 2
    size = 1 << half
    rho = np.outer(np.eye(size), np.eye(size)) / size if state is None else as_state(state).density_matrix()
    if qubits % 2 or rho.shape[0] != size * size:
        expected = "bases of ancilla and output, as many letters for each, and a state of as many qubits"
        raise InvalidInput("counts", expected, f"{qubits} letters, a state of dimension {rho.shape[0]}")
    confusion = as_confusion(readout, qubits)
    if isinstance(confusion, np.ndarray):
        raise InvalidInput("readout", "readout errors of each qubit where there is an ancilla", "one for all outcomes")
    parts = (None, None) if confusion is None else (confusion[half:], confusion[:half])
    ancilla, output = _number(basis[:half] for basis in counts), _number(basis[half:] for basis in counts)
    tensor = rho.reshape(size, size, size, size)
    states = np.einsum("lab,bias->lis", read_effects(list(ancilla), parts[0]), tensor)
    effects = read_effects(list(output), parts[1]).reshape(len(output), size, size, size)
    inputs = np.array([ancilla[basis[:half]] for basis in counts])[:, None] * size + np.arange(size)
    measured = np.array([output[basis[half:]] for basis in counts])
    return replace(tabulate_process(states, inputs, effects, measured, table), shots=shots)


def expectation_data(
    preparations: Any, paulis: Any, expectations: Any, shots: Any = None, stderr: Any = None
) -> ProcessData:
    """Return the data of expectation values tr(P E(rho)), one for each preparation and Pauli string.

    Preparations are labels, or density matrices. Shots give standard errors.

    Parameters
    ----------
    preparations
        Label or density matrix of the prepared state, one per value.
    paulis
        Pauli string, one per value.
    expectations
        The measured values.
    shots
        Shots behind each value.
    stderr
        Standard error of each value; takes precedence over ``shots``.

    Raises
    ------
    InvalidInput
        ``paulis``: expected strings of the letters I, X, Y, Z; ``stderr``: expected positive numbers; ``shots``:
        expected at least 1; ``preparations``: expected an array of finite numbers.

    See Also
    --------
    counts_data, ProcessData

    Examples
    --------
    >>> expectation_data(["0", "+"], ["Z", "X"], [0.97, 0.95]).values
    array([0.97, 0.95])
    """
    given, strings = list(preparations), [str(label) for label in paulis]
    values = real_values("expectations", expectations, len(strings))
    if len(given) != len(strings):
        raise InvalidInput("preparations", f"{len(strings)}, one for each Pauli string", f"{len(given)}")
    wrong = next((label for label in strings if not label or label.strip("IXYZ")), None)
    if wrong is not None:
        raise InvalidInput("paulis", "strings of the letters I, X, Y, Z", repr(wrong))
    if all(isinstance(label, str) for label in given):
        labels = _number(given)
        states, inside = [prepared_state(label) for label in labels], np.array([labels[label] for label in given])
    else:
        states, inside = [validate.finite_array("preparations", part, ndim=2) for part in given], np.arange(len(given))
    names = _number(strings)
    effects = _same_size("paulis", [pauli_matrix(label) for label in names])
    errors = None if stderr is None else real_values("stderr", stderr, len(strings), spread=True)
    if errors is None and shots is not None:
        number = real_values("shots", shots, len(strings), spread=True)
        if number.min() < 1.0:
            raise InvalidInput("shots", "at least 1", f"{number.min():g}")
        errors = np.sqrt(np.maximum(1.0 - values**2, 1.0 / number) / number)
    if errors is not None and errors.min() <= 0.0:
        place = int(np.argmin(errors))
        raise InvalidInput("stderr", "positive numbers", f"{errors[place]:g} of {strings[place]} (row {place})")
    pairs = inside, np.array([names[label] for label in strings])
    return ProcessData(_same_size("preparations", states), effects, pairs, values, stderr=errors)


def read_effects(bases: Sequence[str], readout: Any = None) -> Array:
    """Return the operators of all outcomes of some bases, with readout errors folded in."""
    effects = _same_size("basis", [basis_effects(basis) for basis in bases])
    outcomes, size = effects.shape[1], effects.shape[2]
    confusion = as_confusion(readout, size.bit_length() - 1) if not isinstance(readout, tuple) else readout
    if confusion is not None:
        rows: Any = effects.transpose(0, 2, 3, 1).reshape(-1, outcomes)
        effects = apply_local(rows, confusion).reshape(-1, size, size, outcomes).transpose(0, 3, 1, 2)
    return effects.reshape(-1, size, size)


def _histogram(experiments: Sequence[tuple[str, Any, Any]]) -> tuple[FloatArray, FloatArray]:
    """Return the counts of every outcome, and the shots, of experiments (name, basis, outcomes)."""
    width = len(str(experiments[0][1]))
    table, shots = np.zeros((len(experiments), 1 << width)), np.zeros(len(experiments))
    for row, (name, basis, outcomes) in enumerate(experiments):
        lost = outcomes.get(LOST, 0) if isinstance(outcomes, Mapping) else 0
        plain = {key: value for key, value in outcomes.items() if key != LOST} if lost else outcomes
        if len(str(basis)) != width:
            raise InvalidInput("counts", f"bases of {width} letters", repr(basis))
        part = as_counts({basis: plain})[0]
        if part.is_quasi:
            raise InvalidInput(f"counts[{name!r}]", "whole numbers, not negative", "quasi-counts")
        np.add.at(table[row], part.outcomes, part.counts)
        shots[row] = table[row].sum() + validate.nonnegative("lost", lost)
    return table, shots


def _number(labels: Iterable[Any]) -> dict[Any, int]:
    """Return distinct labels with their places in order of appearance."""
    return {label: place for place, label in enumerate(dict.fromkeys(labels))}


def _same_size(name: str, matrices: Sequence[Array]) -> Array:
    sizes = {matrix.shape for matrix in matrices}
    if len(sizes) > 1:
        raise InvalidInput(name, "one number of qubits", "labels of several lengths")
    return np.array(matrices)


def simulate_process(
    channel: Any,
    *,
    preparations: Iterable[str] | None = None,
    bases: Iterable[str] | None = None,
    shots: int = 1000,
    readout: float = 0.0,
    seed: int = 0,
) -> dict[tuple[str, str], dict[str, int]]:
    """Return counts ``{(preparation, basis): {bit-string: count}}`` of a simulated experiment.

    Parameters
    ----------
    channel
        A :class:`QuantumChannel`, or what :func:`as_channel` makes one of.
    preparations, bases
        Labels of the input states (by default all of 0, 1, +, r) and bases (by default all 3^q); every pair is
        measured.
    shots
        Shots of each pair. Those that a trace-decreasing map loses are counted under "lost".
    readout
        Probability that a bit is read wrongly.
    seed
        Seed of the outcomes.

    Raises
    ------
    InvalidInput
        If there is no such channel, preparation or basis, ``shots`` is not an integer of at least 1, or ``readout`` is
        not a probability.

    See Also
    --------
    make_channel, all_preparations, unipd.ProcessTomography

    Examples
    --------
    >>> simulate_process("x", preparations=["0"], bases=["Z"], shots=10)
    {('0', 'Z'): {'1': 10}}
    """
    truth, rng = as_channel(channel), np.random.default_rng(seed)
    number, width = validate.integer("shots", shots, minimum=1), truth.outputs.bit_length() - 1
    chosen = all_preparations(truth.qubits) if preparations is None else list(preparations)
    settings = list(bases or all_bases(width))
    wrong = next((basis for basis in settings if len(basis) != width), None)
    if wrong is not None:
        raise InvalidInput("bases", f"{width} letter(s) in every label", repr(wrong))
    operators = {basis: read_effects([basis], readout or None) for basis in settings}
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for label in chosen:
        output = truth.apply(prepared_state(label))
        for basis, effects in operators.items():
            probabilities = np.maximum(np.einsum("kop,po->k", effects, output).real, 0.0)
            missing = max(0.0, 1.0 - float(probabilities.sum()))
            drawn = rng.multinomial(number, [*probabilities, missing] / (probabilities.sum() + missing))
            seen = {format(bits, f"0{width}b"): int(drawn[bits]) for bits in np.flatnonzero(drawn[:-1])}
            counts[label, basis] = seen | ({LOST: int(drawn[-1])} if drawn[-1] else {})
    return counts
