"""How many measurements: enough to identify a state, few enough for memory."""

from __future__ import annotations

import warnings

import numpy as np

from unipd import validate
from unipd.apps.tomography.paulis import Paulis
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps.pauli.sampling import default_count, random_paulis
from unipd.maps.pauli.strings import MOST_QUBITS
from unipd.memory import available_memory

PAPER_COUNT, PAPER_DIMENSION = 138_099, 1 << 14
"""The paper's experiment: n = 138,099 at p = 2^14, n/p = 8.43."""
VECTORS = 90
"""Complex vectors of length p in use at once: a Krylov basis, quasi-Newton pairs, copies."""
BYTES_A_STRING = 180
"""Bytes for every Pauli string: masks, their sorted form, and dual vectors."""


class TooFewMeasurements(UserWarning):
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
            f"{distinct} distinct Pauli measurements cannot identify a state of {paulis.qubits} qubits "
            f"(a pure one takes about {needed}): the estimate is one of many that fit",
            TooFewMeasurements,
            stacklevel=3,
        )


def forecast_bytes(qubits: int, count: int, *, double: bool = False) -> int:
    """Return the bytes that a run takes, from the sizes alone.

    >>> 2e7 < forecast_bytes(14, 138_099) < 2e8
    True
    """
    entry = 16 if double else 8
    return VECTORS * entry * (1 << qubits) + BYTES_A_STRING * count


def require_room(qubits: int, count: int | None = None, *, double: bool = False) -> int:
    """Return the number of qubits, or raise when it is not positive or a run would not fit in memory."""
    checked = validate.integer("qubits", qubits, minimum=1)
    if checked > 200:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    needed = forecast_bytes(checked, measurement_count(checked) if count is None else count, double=double)
    room = available_memory()
    if needed > room:
        raise MemoryForecastError(
            f"a state of {checked} qubits needs about {size_text(needed)} of memory, {size_text(room)} are available"
        )
    if checked > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    return checked


def size_text(count: float) -> str:
    """Return a number of bytes for people.

    >>> size_text(123_456_789)
    '123 MB'
    """
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} EB"
