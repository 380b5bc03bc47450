"""Forecast of the memory that a fit takes: a state of many qubits is refused before anything is computed."""

from __future__ import annotations

from unipd import validate
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps.pauli.strings import MOST_QUBITS
from unipd.memory import available_memory, size_text
from unipd.memory.limits import memory_limit

VECTORS = 90
"""Complex vectors of length p in use at once: a Krylov basis, quasi-Newton pairs, copies."""
BYTES_A_STRING = 180
"""Bytes for every Pauli string: masks, their sorted form, and dual vectors."""
ABSURD = 200
"""Qubits for which not even a forecast is made."""


def forecast_bytes(qubits: int, count: int, *, double: bool = False) -> int:
    """Return the bytes that a fit of ``count`` strings takes, from the sizes alone.

    >>> 2e7 < forecast_bytes(14, 138_099) < 2e8
    True
    """
    entry = 16 if double else 8
    return VECTORS * entry * (1 << qubits) + BYTES_A_STRING * count


def require_room(qubits: int, count: int, *, double: bool = False) -> int:
    """Return the number of qubits, or raise when it is not positive or a fit would not fit in memory.

    >>> require_room(4, 256)
    4
    """
    checked = validate.integer("qubits", qubits, minimum=1)
    if checked > ABSURD:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    needed, room = forecast_bytes(checked, count, double=double), available_memory()
    if needed > room:
        limit = memory_limit()
        rest = "" if limit is None else f" of the limit of {size_text(limit)} (the program itself takes the rest)"
        raise MemoryForecastError(
            f"a state of {checked} qubits needs about {size_text(needed)} of memory, "
            f"{size_text(room)} are available{rest}"
        )
    if checked > MOST_QUBITS:
        raise InvalidInput("qubits", f"at most {MOST_QUBITS}", repr(qubits))
    return checked
