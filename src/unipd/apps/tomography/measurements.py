"""How many measurements, and which of them contradict each other."""

from __future__ import annotations

import warnings

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.tomography.paulis import Paulis
from unipd.io import pauli_room as room
from unipd.io.pauli_model import SIGMAS, UNKNOWN_NOISE, PauliData
from unipd.maps.pauli.sampling import default_count, random_paulis
from unipd.maps.pauli.strings import write

PAPER_COUNT, PAPER_DIMENSION = 138_099, 1 << 14
"""The paper's experiment: n = 138,099 at p = 2^14, n/p = 8.43."""


class MeasurementWarning(UserWarning):
    """Something about the measurements that their owner should know."""


class DoubtfulMeasurements(MeasurementWarning):
    """Measurements contradict each other, or the identity's value 1, by more than noise explains."""


class TooFewMeasurements(MeasurementWarning):
    """There are fewer measurements than a pure state needs, so the answer is one of many that fit."""


def measurement_count(qubits: int, rank: int = 1) -> int:
    """Return the default number of measurements: ceil(2 p log10 p), at small q the paper's ratio n/p = 8.43.

    The formula leaves too few to identify a state when q is small; a state of higher rank takes that many times more,
    and 4^q is all there are.

    >>> measurement_count(14), measurement_count(8), measurement_count(8, rank=3), measurement_count(2)
    (138099, 2158, 6474, 16)
    """
    p = 1 << validate.integer("qubits", qubits, minimum=1)
    ratio = -(-PAPER_COUNT * p // PAPER_DIMENSION)
    return min(validate.integer("rank", rank, minimum=1) * max(default_count(qubits), ratio), p * p)


def choose_paulis(qubits: int, count: int | None = None, seed: int = 0) -> Paulis:
    """Return ``count`` random distinct strings (the number of :func:`measurement_count` by default).

    >>> choose_paulis(2, 3, seed=1)
    Paulis(qubits=2, x=array([1, 2, 3]), z=array([3, 0, 0]))
    """
    number = measurement_count(qubits) if count is None else count
    return Paulis(qubits, *random_paulis(qubits, number, seed))


def identifying_count(qubits: int) -> int:
    """Return min(4 p - 5, 4^q - 1): with fewer expectation values some pure states cannot be told apart.

    It is the number (up to terms in log p) that Heinosaari, Mazzarella and Wolf (2013) prove necessary.

    >>> identifying_count(1), identifying_count(3)
    (3, 27)
    """
    p = 1 << qubits
    return min(4 * p - 5, p * p - 1)


def warn_if_too_few(paulis: Paulis) -> None:
    """Warn when there are fewer distinct strings than :func:`identifying_count`."""
    keys = (paulis.x.astype(np.int64) << paulis.qubits) | paulis.z
    distinct = int(np.unique(keys[keys != 0]).size)
    needed = identifying_count(paulis.qubits)
    if distinct < needed:
        warnings.warn(
            f"{distinct} distinct Pauli measurement{'s' * (distinct != 1)} cannot identify a state of {paulis.qubits} "
            f"qubit{'s' * (paulis.qubits != 1)} "
            f"(a pure one takes about {needed}): the estimate is one of many that fit",
            TooFewMeasurements,
            stacklevel=3,
        )


def warn_if_doubtful(data: PauliData) -> None:
    """Warn when equal strings have values, or the identity has one, that noise does not explain.

    The fit takes all of them for what they are: measurements, whose mean counts.
    """
    values = np.append(data.expectations, 1.0)  # the identity at the end, exactly known
    keys = np.append((data.x.astype(np.int64) << data.qubits) | data.z, 0)
    noise = np.append(_tolerances(data), 0.0)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    low = np.maximum.reduceat((values - noise)[order], starts)
    high = np.minimum.reduceat((values + noise)[order], starts)
    worst = int(np.argmax(low - high))
    if low[worst] <= high[worst]:
        return
    key = int(keys[order[starts[worst]]])
    mine = values[:-1][keys[:-1] == key]
    label = write(data.qubits, np.array([key >> data.qubits]), np.array([key & ((1 << data.qubits) - 1)]))[0]
    warnings.warn(
        f"values from {mine.min():g} to {mine.max():g} of the same string {label} differ by more than noise explains"
        if mine.size > 1
        else f"the value {mine[0]:g} of the identity {label} is off its true value 1 by more than noise explains",
        DoubtfulMeasurements,
        stacklevel=3,
    )


def _tolerances(data: PauliData) -> FloatArray:
    """Return what each value may be off by."""
    if data.stderr is not None:
        return np.maximum(SIGMAS * data.stderr, 1e-6)
    if data.shots is not None:
        return SIGMAS / np.sqrt(data.shots)
    return np.full(data.expectations.shape, UNKNOWN_NOISE)


def require_room(qubits: int, count: int | None = None, *, double: bool = False) -> int:
    """Return the number of qubits, or raise when it is not positive or a fit would not fit in memory.

    >>> require_room(3)
    3
    """
    checked = validate.integer("qubits", qubits, minimum=1)
    number = 0 if count is None and checked > room.ABSURD else measurement_count(checked) if count is None else count
    return room.require_room(checked, number, double=double)
