"""Measurements in NumPy archives."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.archive import DamagedArchive, read_arrays
from unipd.io.pauli_model import PauliData, first_fault
from unipd.io.pauli_room import require_room
from unipd.maps.pauli.strings import MOST_QUBITS, masks, parse

_NAMES = ("pauli", "x", "z", "qubits", "expectation", "shots", "stderr")


def read_archive(name: str) -> PauliData:
    """Read a ``.npz`` file; nothing in it is unpickled."""
    arrays = _arrays(name)
    try:
        qubits, x, z = _strings(arrays)
        columns = {key: _column(arrays, key, x.size) for key in ("expectation", "shots", "stderr")}
        expectations = columns["expectation"]
        if expectations is None:
            raise InvalidInput("expectation", "an array of this name", "none")
        for key, values in arrays.items():
            if key not in _NAMES and values.shape == x.shape:
                raise InvalidInput(key, f"columns of the names {', '.join(_NAMES)}", "another")
    except InvalidInput as error:
        raise FileFormatError(name, str(error)) from error
    found = first_fault(expectations, columns["shots"], columns["stderr"])
    if found is not None:
        raise FileFormatError(name, f"row {found[0]} (counted from 0): {found[1]}")
    return PauliData(qubits, x, z, expectations, columns["shots"], columns["stderr"])


def _arrays(name: str) -> dict[str, Array]:
    """Return the arrays of an archive; a file of another kind, damaged or pickled is refused."""
    try:
        return read_arrays(name)
    except DamagedArchive as error:
        raise FileFormatError(name, f"not a NumPy archive (.npz), or damaged ({error})") from error


def _strings(arrays: dict[str, Array]) -> tuple[int, Any, Any]:
    labels = arrays.get("pauli")
    if labels is not None:
        if labels.ndim != 1 or labels.dtype.kind != "U":
            raise InvalidInput("pauli", "a list of strings", f"dtype {labels.dtype}, shape {labels.shape}")
        return _parsed(labels.tolist())
    if not {"x", "z", "qubits"} <= set(arrays):
        raise InvalidInput("pauli", "an array pauli, or x, z and qubits", f"the arrays {', '.join(arrays) or 'none'}")
    given = arrays["qubits"]
    if given.size != 1 or given.dtype.kind not in "iu":
        raise InvalidInput("qubits", f"a whole number from 1 to {MOST_QUBITS}", repr(given.tolist()))
    qubits = require_room(int(given.reshape(-1)[0]), 1)
    x, z = masks("x", qubits, arrays["x"]), masks("z", qubits, arrays["z"])
    if x.shape != z.shape:
        raise InvalidInput("z", f"{x.size} masks, as many as x", f"{z.size}")
    return qubits, x, z


def _parsed(labels: list[str]) -> tuple[int, Any, Any]:
    """Return the masks of labels; a complaint names the row."""
    for row, label in enumerate(labels):
        if not label or label.strip("IXYZ"):
            raise InvalidInput("pauli", "strings of the letters I, X, Y, Z", f"{label!r} in row {row} (counted from 0)")
        if len(label) != len(labels[0]):
            expected = f"strings of {len(labels[0])} letters as in row 0"
            raise InvalidInput("pauli", expected, f"{label!r} in row {row} (counted from 0)")
    if labels:
        require_room(len(labels[0]), len(labels))
    return parse(labels)


def _column(arrays: dict[str, Array], key: str, size: int) -> FloatArray | None:
    values = arrays.get(key)
    if values is None:
        return None
    if values.shape != (size,) or values.dtype.kind not in "iuf":
        raise InvalidInput(key, f"{size} real numbers", f"dtype {values.dtype}, shape {values.shape}")
    return values.astype(np.float64)
