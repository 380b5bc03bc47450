"""Pauli measurements: strings and values in any form users have, the map X -> tr(P_k X), standard errors.

Also how many measurements a state takes, and warnings about too few or contradictory ones.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import distinct
from unipd._util.context import current_communicator
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData, noise_tolerance
from unipd.maps.pauli import PauliMap
from unipd.maps.pauli.strings import check_strings, default_count, parse, random_paulis, write

_EXPECTED = "labels such as 'XIZ', a PauliList or SparsePauliOp, or a pair (x, z) of masks"


class Paulis(NamedTuple):
    """Pauli strings as masks: bit b of x (z) is set when qubit b has X or Y (Z or Y).

    Parameters
    ----------
    qubits
        Number of qubits.
    x
        x masks.
    z
        z masks.

    See Also
    --------
    as_paulis, choose_paulis, unipd.maps.PauliMap

    Examples
    --------
    >>> as_paulis(["XZ"])
    Paulis(qubits=2, x=array([2]), z=array([1]))
    """

    qubits: int
    x: IntArray
    z: IntArray


def as_paulis(value: Any, qubits: int | None = None) -> Paulis:
    """Return Pauli strings as masks.

    Parameters
    ----------
    value
        Labels (the rightmost letter is qubit 0, as in Qiskit); an object with arrays ``x`` and ``z`` of booleans, such
        as Qiskit's ``PauliList`` (column 0 is qubit 0), or with such an object under ``paulis``, such as
        ``SparsePauliOp``; or a pair (x, z) of boolean arrays of shape (n, qubits) or of integer masks.
    qubits
        Number of qubits, needed for integer masks only.

    Raises
    ------
    InvalidInput
        If a letter is unknown, or the strings have different lengths.

    See Also
    --------
    Paulis, as_pauli_sum

    Examples
    --------
    >>> as_paulis(["XZ", "IY"])
    Paulis(qubits=2, x=array([2, 1]), z=array([1, 1]))
    >>> as_paulis(([2, 1], [1, 1]), qubits=2).x
    array([2, 1])
    """
    found = _read(value, qubits)
    if qubits is not None and found.qubits != qubits:
        raise InvalidInput("paulis", f"strings on {qubits} qubits", f"{found.qubits} qubits")
    return found


def as_pauli_sum(observable: Any, qubits: int) -> tuple[Paulis, Array]:
    """Return the strings and coefficients of an observable.

    Parameters
    ----------
    observable
        A label (also a short one, "Z0 Z3"), a mapping or a list of pairs from labels to coefficients, an object with
        ``paulis`` and ``coeffs`` such as ``SparsePauliOp``, or anything that :func:`as_paulis` reads (with coefficients
        1).
    qubits
        Number of qubits of the state.

    Raises
    ------
    InvalidInput
        ``observable``: expected an array of finite numbers.

    See Also
    --------
    as_paulis, QuantumState

    Examples
    --------
    >>> strings, coefficients = as_pauli_sum({"ZI": 0.5, "IZ": -0.5}, 2)
    >>> strings.z, coefficients
    (array([2, 1]), array([ 0.5, -0.5]))
    """
    if isinstance(observable, Mapping):
        observable = list(observable.items())
    coefficients: Any = getattr(observable, "coeffs", None)
    if isinstance(observable, (list, tuple)) and observable and all(_is_term(term) for term in observable):
        coefficients = [number for _, number in observable]
        observable = [expand_label(label, qubits) for label, _ in observable]
    paulis = as_paulis(expand_label(observable, qubits), qubits)
    numbers = np.ones(paulis.x.size) if coefficients is None else coefficients
    return paulis, validate.finite_array("observable", numbers, shape=paulis.x.shape)


def expand_label(label: Any, qubits: int) -> Any:
    """Return the label of a string that names its qubits, such as "X0 Z3"; other values as they are.

    >>> expand_label("X0 Z3", 4), expand_label("IX", 2)
    ('ZIIX', 'IX')
    """
    if not isinstance(label, str) or not any(mark.isdecimal() for mark in label):
        return label
    parts = re.findall(r"([IXYZ])(\d+)", label)
    places = [int(place) for _, place in parts]
    if re.sub(r"[IXYZ]\d+|\s", "", label) or len(set(places)) < len(places) or max(places) >= qubits:
        raise InvalidInput("paulis", f"letters with distinct qubits below {qubits}, such as 'X0 Z3'", repr(label))
    letters = ["I"] * qubits
    for letter, place in parts:
        letters[qubits - 1 - int(place)] = letter
    return "".join(letters)


def _is_term(term: Any) -> bool:
    return isinstance(term, tuple) and len(term) == 2 and isinstance(term[0], str) and not isinstance(term[1], str)


def _read(value: Any, qubits: int | None) -> Paulis:
    if isinstance(value, Paulis):
        return value
    masked = read_masks(value)
    if masked is not None:
        return _from_masks(*masked, qubits)
    if isinstance(value, str):
        return Paulis(*parse([value]))
    if isinstance(value, tuple) and len(value) == 2 and not any(isinstance(part, str) for part in value):
        return _from_masks(np.asarray(value[0]), np.asarray(value[1]), qubits)
    try:
        return Paulis(*parse([_label_of(item) for item in value]))
    except TypeError:
        raise InvalidInput("paulis", _EXPECTED, type(value).__name__) from None


def read_masks(value: Any) -> tuple[Array, Array] | None:
    """Return the masks of Qiskit's ``Pauli``, ``PauliList`` or ``SparsePauliOp`` in rows; None for other objects."""
    value = getattr(value, "paulis", value)
    if not (hasattr(value, "x") and hasattr(value, "z")):
        return None
    _refuse_phases(value)
    return np.atleast_2d(np.asarray(value.x)), np.atleast_2d(np.asarray(value.z))


def _label_of(value: Any) -> Any:
    """Return the label of one string, which Qiskit's ``Pauli`` knows; other values as they are."""
    if hasattr(value, "to_label"):
        _refuse_phases(value)
        return str(value.to_label())
    return str(value) if isinstance(value, str) else value


def _refuse_phases(value: Any) -> None:
    if np.any(np.asarray(getattr(value, "phase", 0)) != 0):
        raise InvalidInput("paulis", "strings without sign or phase (move it to the values)", "a phase")


def _from_masks(x: Array, z: Array, qubits: int | None) -> Paulis:
    if qubits is None:
        if x.dtype != bool or x.ndim != 2:
            raise InvalidInput("qubits", "the number of qubits, needed with integer masks", "None")
        qubits = int(x.shape[1])
    return Paulis(*check_strings(qubits, x, z))


IMAGINARY_ROUNDING = 1e-9
"""Imaginary part of a number that counts as real."""


def real_values(name: str, value: Any, size: int, *, spread: bool = False) -> FloatArray:
    """Return one number per string, also from a column or a row.

    NaN is left to the check of the measurements, which names the row.

    >>> real_values("shots", 100, 2, spread=True)
    array([100., 100.])
    """
    try:
        given: Any = np.real_if_close(value, IMAGINARY_ROUNDING)  # Qiskit's expectation values are complex
        array = given.astype(np.complex128 if given.dtype.kind == "c" else np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(name, "real numbers", type(value).__name__) from None
    if array.dtype.kind == "c":
        raise InvalidInput(name, "real numbers", "numbers with imaginary parts")
    if spread and array.ndim == 0:
        array = np.full(size, float(array))
    array = array.reshape(-1) if array.shape in ((size, 1), (1, size)) else array
    if array.shape != (size,):
        raise InvalidInput(name, f"{size} values, one per Pauli string", f"shape {array.shape}")
    return array


def pauli_map(paulis: Paulis, *, precision: str = "single", threads: int | None = None) -> PauliMap:
    """Return the map X -> tr(P_k X)_k for the strings, distributed over the processes of a cluster run.

    Parameters
    ----------
    paulis
        The strings.
    precision
        "single", "double" or "auto".
    threads
        Number of threads; by default all cores.

    See Also
    --------
    unipd.maps.PauliMap, tomography_problem

    Examples
    --------
    >>> pauli_map(as_paulis(["X", "Z"])).codomain
    (2,)
    """
    return current_communicator().distribute(PauliMap(paulis.qubits, paulis.x, paulis.z, precision, threads))


SHOT_PSEUDOCOUNT = 0.5
"""Counts added to both outcomes before a variance is estimated, so that none is zero."""
SMALLEST_VARIANCE = 0.02
"""Lower bound on the variance of a single shot; smaller ones would only make the problem ill-conditioned."""
NAMED_STRINGS = 5
"""Most strings that a warning names."""
SMALLEST_STDERR = 1e-2
"""Lower bound on a standard error, as a share of the median one."""


def shot_variance(expectations: FloatArray, shots: Any) -> FloatArray:
    """Estimate the variance of means of +-1 outcomes: (1 - e^2) / N with e hedged and bounded away from zero.

    With N e replaced by N e / (N + 2 h), h = 1/2 counts added to either outcome, a mean of exactly 1 still has a
    variance; :data:`SMALLEST_VARIANCE` keeps the weights of comparable size.

    Parameters
    ----------
    expectations
        Measured values.
    shots
        The number N behind each value.

    Returns
    -------
    ndarray

    See Also
    --------
    standard_errors

    Examples
    --------
    >>> shot_variance(np.array([0.0, 1.0]), 100)
    array([0.01  , 0.0002])
    """
    count = np.asarray(shots, np.float64)
    hedged = np.clip(expectations, -1.0, 1.0) * count / (count + 2.0 * SHOT_PSEUDOCOUNT)
    return np.maximum(1.0 - hedged**2, SMALLEST_VARIANCE) / count


def standard_errors(data: PauliData) -> FloatArray | None:
    """Return the standard error of each value, bounded away from zero; None for data that declare no error.

    Parameters
    ----------
    data
        The measurements.

    See Also
    --------
    shot_variance, residual_noise

    Examples
    --------
    >>> errors = np.array([0.0, 0.1, 0.1])
    >>> standard_errors(PauliData(1, np.arange(3), np.zeros(3, int), np.zeros(3), stderr=errors))
    array([0.001, 0.1  , 0.1  ])
    """
    if data.stderr is not None:
        positive = data.stderr[data.stderr > 0]
        return np.maximum(data.stderr, SMALLEST_STDERR * float(np.median(positive))) if positive.size else None
    return None if data.shots is None else np.sqrt(shot_variance(data.expectations, data.shots))


DOUBLE_QUBITS = 11
"""Up to this many qubits double precision costs little."""
PRECISIONS = ("auto", "single", "double")


def choose_precision(precision: str, data: PauliData) -> str:
    """Return "single" or "double"; "auto" is single for many qubits and data without declared errors.

    Exact data are fitted to a residual near zero, which single precision resolves. With noise the objective stays
    of the order of the noise, and its last digits determine the minimiser.

    >>> choose_precision("auto", PauliData(14, np.array([1]), np.array([0]), np.array([0.1])))
    'single'
    """
    if precision != "auto":
        return precision
    has_errors = data.shots is not None or data.stderr is not None
    return "double" if has_errors or data.qubits <= DOUBLE_QUBITS else "single"


PAPER_COUNT, PAPER_DIMENSION = 138_099, 1 << 14
"""The paper's experiment: n = 138,099 at p = 2^14, n/p = 8.43."""


class MeasurementWarning(UserWarning):
    """Base of the warnings about measurements.

    See Also
    --------
    TooFewMeasurements, UndeterminedState, DoubtfulMeasurements, QuasiCounts

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", MeasurementWarning)  # in a pipeline, doubtful data are errors
    """


class DoubtfulMeasurements(MeasurementWarning):
    """Measurements contradict each other, or the identity's value 1, by more than noise explains, or have no error.

    See Also
    --------
    MeasurementWarning

    Examples
    --------
    >>> issubclass(DoubtfulMeasurements, MeasurementWarning)
    True
    """


class TooFewMeasurements(MeasurementWarning):
    """Fewer measurements than a pure state needs: the estimate is one of many that fit.

    See Also
    --------
    MeasurementWarning, measurement_count

    Examples
    --------
    >>> issubclass(TooFewMeasurements, MeasurementWarning)
    True
    """


class UndeterminedState(MeasurementWarning):
    """The estimate has more parameters than there are measurements: other states fit as well.

    See Also
    --------
    MeasurementWarning, TooFewMeasurements

    Examples
    --------
    >>> issubclass(UndeterminedState, MeasurementWarning)
    True
    """


class QuasiCounts(MeasurementWarning):
    """Negative or fractional counts, which have no likelihood.

    See Also
    --------
    MeasurementWarning, as_counts

    Examples
    --------
    >>> issubclass(QuasiCounts, MeasurementWarning)
    True
    """


def measurement_count(qubits: int, rank: int = 1) -> int:
    """Return the default number of measurements: ceil(2 p log10 p), at small q the paper's ratio n/p = 8.43.

    For small q the formula alone does not identify a state. The number grows in proportion to the rank, up to all 4^q
    strings.

    Parameters
    ----------
    qubits
        The number of qubits.
    rank
        Rank of the state.

    Raises
    ------
    InvalidInput
        ``qubits``, ``rank``: expected an integer of at least 1.

    See Also
    --------
    choose_paulis

    Examples
    --------
    >>> measurement_count(14), measurement_count(8), measurement_count(8, rank=3), measurement_count(2)
    (138099, 2158, 6474, 16)
    """
    p = 1 << validate.integer("qubits", qubits, minimum=1)
    ratio = -(-PAPER_COUNT * p // PAPER_DIMENSION)
    return min(validate.integer("rank", rank, minimum=1) * max(default_count(qubits), ratio), p * p)


def choose_paulis(qubits: int, count: int | None = None, seed: int = 0) -> Paulis:
    """Return ``count`` random distinct strings (the number of :func:`measurement_count` by default).

    Parameters
    ----------
    qubits
        The number of qubits.
    count
        Number of strings.
    seed
        Seed of the random numbers; equal seeds give equal results.

    See Also
    --------
    measurement_count, Paulis

    Examples
    --------
    >>> choose_paulis(2, 3, seed=1)
    Paulis(qubits=2, x=array([1, 2, 3]), z=array([3, 0, 0]))
    """
    number = measurement_count(qubits) if count is None else count
    return Paulis(qubits, *random_paulis(qubits, number, seed))


def count_strings(data: PauliData) -> int:
    """Return the number of distinct strings other than the identity."""
    return int(distinct(data.keys[data.keys != 0]).size)


def parameter_count(qubits: int, rank: int) -> int:
    """Return the number of real parameters of the states of this rank: 2 p r - r^2 - 1.

    >>> parameter_count(1, 1), parameter_count(1, 2)
    (2, 3)
    """
    return 2 * (1 << qubits) * rank - rank * rank - 1


def identifying_count(qubits: int) -> int:
    """Return min(4 p - 5, 4^q - 1): with fewer expectation values some pure states cannot be distinguished.

    It is the number (up to terms in log p) that Heinosaari, Mazzarella and Wolf (2013) prove necessary.

    >>> identifying_count(1), identifying_count(3)
    (3, 27)
    """
    p = 1 << qubits
    return min(4 * p - 5, p * p - 1)


def warn_if_undetermined(qubits: int, distinct: int, rank: int) -> None:
    """Warn when distinct strings are fewer than :func:`identifying_count`, or than an estimate of this rank takes."""
    needed, parameters = identifying_count(qubits), parameter_count(qubits, rank)
    if distinct < needed:
        text = f"{distinct} distinct Pauli measurement{'s' * (distinct != 1)} cannot identify a state of {qubits} "
        text += f"qubit{'s' * (qubits != 1)} (a pure one takes about {needed}): the estimate is one of many that fit"
        warnings.warn(text, TooFewMeasurements, stacklevel=4)
    elif distinct < parameters:
        text = f"{distinct} distinct strings do not determine an estimate of rank {rank} ({parameters} parameters): "
        text += "it is one of many states that fit; measure more strings, prescribe a smaller rank (rank), or "
        warnings.warn(f'{text}minimise the trace (objective "trace")', UndeterminedState, stacklevel=4)


def warn_if_errors_vanish(data: PauliData) -> None:
    """Warn, by name, of strings whose standard error is too small to be one: their values are not exact.

    The identity's is zero, and if all are, the data declare no error at all.
    """
    errors = standard_errors(data)
    if data.stderr is None or errors is None:
        return
    raised = np.flatnonzero((data.stderr < errors) & (data.keys != 0))
    if raised.size:
        labels = ", ".join(write(data.qubits, data.x[raised[:NAMED_STRINGS]], data.z[raised[:NAMED_STRINGS]]))
        others = f" and {raised.size - NAMED_STRINGS} other strings" if raised.size > NAMED_STRINGS else ""
        text = f"the standard error of {labels}{others} is {data.stderr[raised].min():g}, less than a hundredth of the "
        text += f"median one: fitted as {errors[raised[0]]:.3g} (shots, where known, tell more than such an error)"
        warnings.warn(text, DoubtfulMeasurements, stacklevel=3)


def warn_if_doubtful(data: PauliData) -> None:
    """Warn when values of the same string, or of the identity, differ by more than noise explains.

    The fit still uses all of them, so that their mean counts.
    """
    values = np.append(data.expectations, 1.0)  # the identity at the end, exactly known
    keys = np.append(data.keys, 0)
    noise = np.append(noise_tolerance(data.expectations, data.shots, data.stderr), 0.0)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    low = np.maximum.reduceat((values - noise)[order], starts)
    high = np.minimum.reduceat((values + noise)[order], starts)
    worst = int(np.argmax(low - high))
    if low[worst] <= high[worst]:
        return
    key = int(keys[order[starts[worst]]])
    mine = data.expectations[keys[:-1] == key]
    label = write(data.qubits, np.array([key >> data.qubits]), np.array([key & ((1 << data.qubits) - 1)]))[0]
    warnings.warn(
        f"values from {mine.min():g} to {mine.max():g} of the same string {label} differ by more than noise explains"
        if mine.size > 1
        else f"the value {mine[0]:g} of the identity {label} is off its true value 1 by more than noise explains",
        DoubtfulMeasurements,
        stacklevel=3,
    )
