"""Probabilities of the outcomes of measurements, from the expectations of Pauli strings.

The outcomes of a measurement of one qubit are positive matrices E_0, E_1, ... that sum to I. Their coefficients
tr(E P) / 2, P = I, Z, X, Y, are a small matrix with a row for each outcome, and the probabilities of a product of such
measurements are the Kronecker product of these matrices times the expectations of the strings that occur in it. In a
local basis only I and its letter occur, and the product is a Walsh-Hadamard transform. A qubit that is not measured
has the single outcome I. A measurement of all qubits together has one matrix over all strings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.context import current_communicator
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.pauli.dense import walsh_columns
from unipd.maps.pauli.map import PauliMap
from unipd.maps.pauli.strings import parse


def walsh_hadamard(values: FloatArray) -> FloatArray:
    """Return sum_j (-1)^|i & j| values[..., j] for every i.

    Parameters
    ----------
    values
        Array whose last axis has 2^q entries.

    See Also
    --------
    apply_local

    Examples
    --------
    >>> walsh_hadamard(np.array([1.0, 0.0, 0.0, 1.0]))
    array([2., 0., 0., 2.])
    """
    columns = np.array(values.reshape(-1, values.shape[-1]).T, np.float64, order="C")
    return walsh_columns(columns, np.empty_like(columns)).T.reshape(values.shape)


Confusion = tuple[FloatArray, ...] | FloatArray
"""Readout errors: a 2 x 2 matrix for each qubit, qubit 0 first, or one 2^q x 2^q matrix; entry (i, j) is the
probability to read i in the state j, so that columns sum to one."""


def apply_local(values: FloatArray, matrices: Confusion, *, transpose: bool = False) -> FloatArray:
    """Return M v (or M^T v) for every row v, with M one matrix, or the Kronecker product of one for each qubit.

    Parameters
    ----------
    values
        The vectors, as rows.
    matrices
        A matrix for each qubit, qubit 0 first, or one for all.
    transpose
        Multiply by M^T.

    See Also
    --------
    walsh_hadamard

    Examples
    --------
    >>> flips = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> apply_local(np.array([[0.0, 0.0, 1.0, 0.0]]), (np.eye(2), flips))
    array([[0.2, 0. , 0.8, 0. ]])
    """
    if isinstance(matrices, np.ndarray):
        return values @ (matrices if transpose else matrices.T)
    sizes = [matrix.shape[0 if transpose else 1] for matrix in reversed(matrices)]
    tensor = values.reshape(-1, *sizes)
    for qubit, matrix in enumerate(matrices):
        axis = len(matrices) - qubit
        rows = np.tensordot(matrix.T if transpose else matrix, tensor, axes=(1, axis))
        tensor = np.moveaxis(rows, 0, axis)
    return tensor.reshape(values.shape[0], -1)


NEGLIGIBLE = 1e-13
"""Coefficients of a string below this are rounding: the string does not occur."""
_HADAMARD = np.array([[0.5, 0.5], [0.5, -0.5]])
PAULI_MATRICES = np.array([[[1, 0], [0, 1]], [[1, 0], [0, -1]], [[0, 1], [1, 0]], [[0, -1j], [1j, 0]]])
"""I, Z, X, Y: by their number 2 x + z."""


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(ReprMixin):
    """A measurement by the Pauli coefficients of its outcomes.

    Parameters
    ----------
    qubits
        Number of qubits.
    matrices
        Outcomes x (I, Z, X, Y) for each qubit, qubit 0 first; or one matrix, outcomes x 4^q strings in the order of
        the Kronecker product.

    See Also
    --------
    measure_basis, find_measurement

    Examples
    --------
    >>> measure_basis("ZX").size
    4
    """

    qubits: int
    matrices: tuple[FloatArray, ...] | FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of outcomes, qubit 0 last; one number for a measurement of all qubits together."""
        if isinstance(self.matrices, np.ndarray):
            return (self.matrices.shape[0],)
        return tuple(matrix.shape[0] for matrix in reversed(self.matrices))

    @property
    def size(self) -> int:
        """Number of outcomes."""
        return math.prod(self.shape)


def pauli_coefficients(operators: Array) -> FloatArray:
    """Return 2^-q tr(E P) for every operator E and every string P, in the order of the Kronecker product.

    Parameters
    ----------
    operators
        Matrices of order 2^q, one after another.

    See Also
    --------
    Measurement

    Examples
    --------
    >>> pauli_coefficients(np.array([[[1.0, 0.0], [0.0, 0.0]]]))
    array([[0.5, 0.5, 0. , 0. ]])
    """
    number, qubits = operators.shape[0], operators.shape[-1].bit_length() - 1
    tensor: Any = operators.reshape(number, *(2,) * (2 * qubits))
    for rest in range(qubits, 0, -1):  # the first axes of rows and columns that are left become letters, at the end
        tensor = np.tensordot(tensor, PAULI_MATRICES, axes=((1, 1 + rest), (2, 1))) / 2.0
    return np.ascontiguousarray(tensor.reshape(number, -1).real)


@cache
def measure_basis(label: str) -> Measurement:
    """Return the measurement in a local basis, e.g. "XZ"; qubits with the letter I are not measured.

    Parameters
    ----------
    label
        A letter I, X, Y or Z for each qubit, qubit 0 last.

    See Also
    --------
    Measurement, OutcomeMap

    Examples
    --------
    >>> measure_basis("IX").shape
    (1, 2)
    """
    _, x, z = parse([label])
    numbers = [2 * ((int(x[0]) >> qubit) & 1) + ((int(z[0]) >> qubit) & 1) for qubit in range(len(label))]
    return Measurement(len(label), tuple(_letter_matrix(number) for number in numbers))


@cache
def _letter_matrix(number: int) -> FloatArray:
    if number == 0:
        return np.array([[1.0, 0.0, 0.0, 0.0]])
    matrix = np.zeros((2, 4))
    matrix[:, 0], matrix[:, number] = 0.5, (0.5, -0.5)
    return matrix


OPERATOR_TOLERANCE = 1e-6
"""Tolerance of the checks that operators are Hermitian, positive and sum to one: rounding and printed digits."""
JOINT_QUBITS = 6
"""Most qubits of a measurement of all qubits together, whose coefficients are a dense matrix."""


def sic_povm() -> Array:
    """Return the symmetric informationally complete POVM of a qubit: four operators of trace 1/2, a tetrahedron.

    See Also
    --------
    pauli6_povm, unipd.PauliTomography

    Examples
    --------
    >>> np.allclose(sic_povm().sum(axis=0), np.eye(2))
    True
    """
    points = [(0.0, 0.0, 1.0)]
    for turn in range(3):
        angle = 2.0 * math.pi * turn / 3.0
        points.append((math.sqrt(8.0) / 3.0 * math.cos(angle), math.sqrt(8.0) / 3.0 * math.sin(angle), -1.0 / 3.0))
    return np.array([_bloch_operator(0.25, point) for point in points])


def pauli6_povm() -> Array:
    """Return the Pauli-6 POVM of a qubit: the projectors on the states 0, 1, +, -, +i, -i, each divided by three.

    It describes a measurement in a random one of the bases Z, X, Y.

    See Also
    --------
    sic_povm, unipd.PauliTomography

    Examples
    --------
    >>> pauli6_povm().shape
    (6, 2, 2)
    """
    axes = ((0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
    return np.array([_bloch_operator(1.0 / 6.0, axis) for axis in axes])


def _bloch_operator(weight: float, point: Sequence[float]) -> Array:
    """Return w (I + x X + y Y + z Z)."""
    x, y, z = point
    return weight * np.array([[1.0 + z, complex(x, -y)], [complex(x, y), 1.0 - z]])


NAMED = {"sic": sic_povm, "pauli-6": pauli6_povm}
"""POVMs of a qubit by name."""


def as_measurement(povm: Any, qubits: int) -> Measurement:
    """Return the measurement of these operators.

    Parameters
    ----------
    povm
        "sic" or "pauli-6"; operators of shape (outcomes, 2, 2), the same for every qubit; a list of such arrays, qubit
        0 first; or operators of all qubits, of shape (outcomes, 2^q, 2^q).
    qubits
        Number of qubits.

    Examples
    --------
    >>> as_measurement("sic", 2).shape, as_measurement(np.eye(4)[:, None] * np.eye(4)[:, :, None], 2).shape
    ((4, 4), (4,))
    """
    if isinstance(povm, str):
        coefficients = pauli_coefficients(NAMED[validate.choice("povm", povm, NAMED)]())
        return Measurement(qubits, (coefficients,) * qubits)
    if isinstance(povm, (list, tuple)) and len(povm) == qubits and all(np.ndim(part) == 3 for part in povm):
        return Measurement(qubits, tuple(_coefficients(part, 2) for part in povm))
    size = np.shape(povm)[-1] if np.ndim(povm) == 3 else 0
    if size == 2:
        return Measurement(qubits, (_coefficients(povm, 2),) * qubits)
    if size != 1 << qubits or qubits > JOINT_QUBITS:
        shapes = f"shape (outcomes, 2, 2), for each of {qubits} qubits or for all alike"
        joint = f", or (outcomes, {1 << qubits}, {1 << qubits})" if qubits <= JOINT_QUBITS else ""
        raise InvalidInput("povm", f"operators of {shapes}{joint}", f"shape {np.shape(povm)}")
    return Measurement(qubits, _coefficients(povm, size))


def _coefficients(operators: Any, size: int) -> FloatArray:
    """Return the Pauli coefficients of checked operators."""
    array = validate.finite_array("povm", operators).astype(np.complex128)
    if array.ndim != 3 or array.shape[1:] != (size, size) or array.shape[0] < 1:
        raise InvalidInput("povm", f"operators of shape (outcomes, {size}, {size})", f"shape {array.shape}")
    if np.abs(array - array.conj().transpose(0, 2, 1)).max() > OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "Hermitian operators", "one that is not")
    if np.linalg.eigvalsh(array).min() < -OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "positive operators", f"an eigenvalue of {np.linalg.eigvalsh(array).min():.3g}")
    if np.abs(array.sum(axis=0) - np.eye(size)).max() > OPERATOR_TOLERANCE:
        raise InvalidInput("povm", "operators that sum to the identity", "another sum")
    return pauli_coefficients(0.5 * (array + array.conj().transpose(0, 2, 1)))


def find_measurement(povm: Any, setting: str, qubits: int) -> Measurement:
    """Return the measurement of a setting: ``povm`` itself, its entry of that name, or one entry for each letter.

    Parameters
    ----------
    povm
        What :meth:`PauliTomography.fit_counts` accepts as ``povm``.
    setting
        Label of the setting.
    qubits
        Number of qubits.

    Raises
    ------
    InvalidInput
        If there is none for the setting.

    See Also
    --------
    Measurement, measure_basis

    Examples
    --------
    >>> find_measurement({"A": "sic", "B": "pauli-6"}, "AB", 2).shape
    (4, 6)
    """
    if not isinstance(povm, Mapping):
        return as_measurement(povm, qubits)
    if setting in povm:
        return as_measurement(povm[setting], qubits)
    if len(setting) == qubits and all(letter in povm for letter in setting):
        parts = {letter: as_measurement(povm[letter], 1).matrices[0] for letter in set(setting)}
        return Measurement(qubits, tuple(parts[letter] for letter in reversed(setting)))
    raise InvalidInput("povm", f"operators for the setting {setting!r}, or for each of its letters", f"{list(povm)}")


@dataclass(frozen=True, eq=False)
class Group:
    """Measurements with the same transform from expectations to probabilities."""

    matrices: Confusion
    """The transform: a matrix for each qubit, or one; without the strings that do not occur."""
    strings: IntArray
    """Keys (x << q | z) of the strings of each measurement, in the order of the columns."""
    rows: IntArray
    """Places of its outcomes among those of all measurements."""
    confusion: FloatArray | None
    """Readout errors of all qubits together."""

    @cached_property
    def is_walsh(self) -> bool:
        """Whether the transform is that of Walsh and Hadamard."""
        parts = self.matrices if isinstance(self.matrices, tuple) else (self.matrices,)
        return all(np.array_equal(part, _HADAMARD) or part.shape == (1, 1) for part in parts)

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes, for rows of expectations."""
        found = walsh_hadamard(values) / values.shape[1] if self.is_walsh else apply_local(values, self.matrices)
        return found if self.confusion is None else apply_local(found, self.confusion)

    def adjoint(self, weights: FloatArray) -> FloatArray:
        """Return the coefficients of the strings in sums of outcomes with these weights."""
        if self.confusion is not None:
            weights = apply_local(weights, self.confusion, transpose=True)
        if self.is_walsh:
            return walsh_hadamard(weights) / weights.shape[1]
        return apply_local(weights, self.matrices, transpose=True)

    def inverse(self) -> tuple[FloatArray, ...] | None:
        """Return matrices that take frequencies to expectations; None where these do not determine every string.

        A single one belongs to a measurement, or to readout errors, of all qubits together.
        """
        parts = self.matrices if isinstance(self.matrices, tuple) else (self.matrices,)
        if self.confusion is not None:
            parts = (self.confusion @ reduce(np.kron, reversed(parts)),)
        if any(np.linalg.matrix_rank(part) < part.shape[1] for part in parts):
            return None
        return tuple(np.asarray(np.linalg.pinv(part), np.float64) for part in parts)


def group_measurements(measurements: Sequence[Measurement], confusion: Confusion | None = None) -> list[Group]:
    """Return the groups of measurements with the same transform.

    >>> [group.strings.tolist() for group in group_measurements([measure_basis("Z"), measure_basis("X")])]
    [[[0, 1], [0, 2]]]
    """
    qubits, known = measurements[0].qubits, dict[tuple[int, int], tuple[FloatArray, IntArray, bytes]]()

    def reduce_letters(matrix: FloatArray, qubit: int) -> tuple[FloatArray, IntArray, bytes]:
        """Return a matrix without the letters that do not occur, the keys of the others, and a mark of the matrix.

        The letters are those of a qubit, and of the qubits above it where the matrix has more of them. Readout errors
        of the qubit are included, and every matrix is examined once.
        """
        if (id(matrix), qubit) not in known:
            used = np.flatnonzero(np.any(np.abs(matrix) > NEGLIGIBLE, axis=0))
            kept, keys = matrix[:, used], np.zeros_like(used)
            for place in range(matrix.shape[1].bit_length() // 2):
                letter = (used >> 2 * place) & 3
                keys |= (letter >> 1) << (place + qubit + qubits) | (letter & 1) << (place + qubit)
            if isinstance(confusion, tuple) and matrix.shape[0] > 1:
                kept = confusion[qubit] @ kept
            known[id(matrix), qubit] = kept, keys, kept.tobytes()
        return known[id(matrix), qubit]

    collected: dict[Any, tuple[Confusion, list[IntArray], list[IntArray]]] = {}
    end = 0
    for measurement in measurements:
        begin, end = end, end + measurement.size
        is_joint = isinstance(measurement.matrices, np.ndarray)
        each = (measurement.matrices,) if is_joint else measurement.matrices
        matrices, keys, marks = zip(*(reduce_letters(matrix, qubit) for qubit, matrix in enumerate(each)), strict=True)
        entry = collected.setdefault((measurement.shape, marks), (matrices[0] if is_joint else matrices, [], []))
        entry[1].append(reduce(lambda high, low: (high[:, np.newaxis] | low).reshape(-1), keys[::-1]))
        entry[2].append(np.arange(begin, end))
    joint_errors = confusion if isinstance(confusion, np.ndarray) else None
    return [
        Group(matrices, np.stack(keys), np.concatenate(rows), joint_errors)
        for matrices, keys, rows in collected.values()
    ]


class OutcomeMap(Map):
    """Probabilities of all outcomes of some measurements, A(X)_(M, s) = tr(E_(M, s) X), through the Pauli map.

    With readout errors A(X) = M tr(E X): the probabilities of what is read.

    Parameters
    ----------
    measurements
        Labels of local bases (qubits with the letter I are not measured), or :class:`Measurement`.
    precision, threads
        As in :class:`~unipd.maps.pauli.PauliMap`.
    confusion
        Readout errors, the same in all bases.

    Raises
    ------
    InvalidInput
        If one matrix of readout errors meets qubits that are not measured.

    See Also
    --------
    PauliMap, measure_basis

    Examples
    --------
    >>> from unipd.atoms import LowRank
    >>> plus = np.array([[1.0], [1.0]]) / np.sqrt(2)
    >>> OutcomeMap(["Z", "X"], "double").image(LowRank(plus, plus, np.ones(1))).round(9)
    array([0.5, 0.5, 1. , 0. ])
    """

    def __init__(
        self,
        measurements: Sequence[str | Measurement],
        precision: str = "single",
        threads: int | None = None,
        confusion: Confusion | None = None,
    ) -> None:
        known = [measure_basis(entry) if isinstance(entry, str) else entry for entry in measurements]
        qubits = known[0].qubits
        if isinstance(confusion, np.ndarray) and any(entry.size != confusion.shape[0] for entry in known):
            raise InvalidInput("readout", "a matrix for each qubit where some are not measured", "one for all outcomes")
        self.groups = group_measurements(known, confusion)
        """Measurements with the same transform."""
        every = np.concatenate([group.strings.reshape(-1) for group in self.groups])
        distinct, places = np.unique(every, return_inverse=True)
        ends = np.cumsum([group.strings.size for group in self.groups])[:-1]
        self.places: list[IntArray] = [
            part.reshape(group.strings.shape).astype(np.int32)
            for part, group in zip(np.split(places, ends), self.groups, strict=True)
        ]
        """For each group the string of every measurement and column."""
        pauli_map = PauliMap(qubits, distinct >> qubits, distinct & ((1 << qubits) - 1), precision, threads)
        self.pauli_map: PauliMap = current_communicator().distribute(pauli_map)
        super().__init__(self.pauli_map.domain, (sum(entry.size for entry in known),), np.float64)

    @property
    def precision(self) -> str:
        """Precision of the Pauli map."""
        return self.pauli_map.precision

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(part.nbytes for part in self.places) + self.pauli_map.nbytes

    def image(self, atom: Any) -> FloatArray:
        """Return the probabilities, measurement after measurement, outcomes by index."""
        return self.probabilities(np.asarray(self.pauli_map.image(atom), np.float64))

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return the probabilities from the expectations of the strings of the Pauli map."""
        if len(self.groups) == 1:
            return self.groups[0].probabilities(values[self.places[0]]).reshape(-1)
        result = np.empty(self.codomain)
        for group, places in zip(self.groups, self.places, strict=True):
            result[group.rows] = group.probabilities(values[places]).reshape(-1)
        return result

    def adjoint(self, dual: Array) -> Any:
        """Return sum over outcomes of lam E as an operator: a sum of Pauli strings."""
        return self.pauli_map.adjoint(self.string_weights(np.asarray(dual, np.float64)))

    def string_weights(self, dual: FloatArray) -> FloatArray:
        """Return the coefficients of the strings of the Pauli map in the sum over outcomes of lam E."""
        size = self.pauli_map.x.size
        total = np.zeros(size)
        for group, places in zip(self.groups, self.places, strict=True):
            weights = dual[group.rows].reshape(places.shape[0], -1)
            total += np.bincount(places.reshape(-1), group.adjoint(weights).reshape(-1), size)
        return total
