"""Measurements row by row, as text files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unipd.errors import FileFormatError
from unipd.io.pauli_model import PauliData, first_fault
from unipd.io.pauli_room import require_room
from unipd.maps.pauli.strings import MOST_QUBITS, parse

COLUMNS = ("pauli", "expectation", "shots", "stderr")
"""Names of the columns; the last two are optional."""


class Rows:
    """Rows of a file under a header; every complaint names the place.

    >>> rows = Rows("data.csv", ["pauli", "expectation"])
    >>> rows.add(2, ["XZ", "0.25"])
    >>> rows.data().expectations
    array([0.25])
    """

    def __init__(self, name: str, header: Sequence[str], *, line: int | None = None, place: str = "line") -> None:
        self.name = name
        self.header = list(header)
        self._place = place
        self._numbers: list[int] = []
        self._labels: list[str] = []
        self._values: list[list[float]] = []
        unknown = [column for column in self.header if column not in COLUMNS]
        if unknown or len(set(self.header)) < len(self.header) or not {"pauli", "expectation"} <= set(self.header):
            got = ", ".join(map(repr, self.header))
            problem = f"expected the columns pauli, expectation and perhaps shots or stderr, got {got}"
            raise FileFormatError(name, problem, line)

    def add(self, number: int, cells: Sequence[Any]) -> None:
        """Take the cells of one row."""
        if len(cells) != len(self.header):
            raise self._error(number, f"expected {len(self.header)} cells, got {len(cells)}")
        row = dict(zip(self.header, cells, strict=True))
        self._check_label(number, row.pop("pauli"))
        self._numbers.append(number)
        self._values.append([self._number(number, column, cell) for column, cell in row.items()])

    def data(self) -> PauliData:
        """Return the measurements."""
        if not self._labels:
            raise FileFormatError(self.name, "no measurements")
        qubits, x, z = parse(self._labels)
        names = [column for column in self.header if column != "pauli"]
        columns = dict(zip(names, np.array(self._values, np.float64).T, strict=True))
        noise = {key: columns.get(key) for key in ("shots", "stderr")}
        found = first_fault(columns["expectation"], noise["shots"], noise["stderr"])
        if found is not None:
            raise self._error(self._numbers[found[0]], found[1])
        return PauliData(qubits, x, z, columns["expectation"], noise["shots"], noise["stderr"])

    def _check_label(self, number: int, label: Any) -> None:
        if not isinstance(label, str) or not label or label.strip("IXYZ"):
            raise self._error(number, f"expected a Pauli string of the letters I, X, Y, Z, got {_shown(label)}")
        if self._labels and len(label) != len(self._labels[0]):
            first = f"{len(self._labels[0])} letters as in {self._place} {self._numbers[0]}"
            raise self._error(number, f"expected a Pauli string of {first}, got {_shown(label)}")
        if len(label) > MOST_QUBITS:
            require_room(len(label), 1)
        self._labels.append(label)

    def _number(self, number: int, column: str, cell: Any) -> float:
        if isinstance(cell, bool) or not isinstance(cell, (str, int, float)):
            raise self._error(number, f"expected a number for {column}, got {_shown(cell)}")
        try:
            return float(cell)
        except (ValueError, OverflowError):
            raise self._error(number, f"expected a number for {column}, got {_shown(cell)}") from None

    def _error(self, number: int, problem: str) -> FileFormatError:
        if self._place == "line":
            return FileFormatError(self.name, problem, number)
        return FileFormatError(self.name, f"{self._place} {number}: {problem}")


def joined(name: str, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return lists of equal length as one record a row.

    >>> joined("data.json", {"pauli": ["X", "Z"], "expectation": [0.0, 1.0]})
    [{'pauli': 'X', 'expectation': 0.0}, {'pauli': 'Z', 'expectation': 1.0}]
    """
    if not all(isinstance(values, list) for values in columns.values()):
        raise FileFormatError(name, "expected a list for each of the columns")
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise FileFormatError(name, f"expected lists of one length, got {lengths}")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
