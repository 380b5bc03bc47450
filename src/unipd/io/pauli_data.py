"""Files of Pauli expectation values (.csv, .npz, .json) and of raw counts (.json)."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from unipd.errors import FileFormatError, InvalidInput
from unipd.io.pauli_archive import read_archive
from unipd.io.pauli_model import PauliData
from unipd.io.pauli_rows import COLUMNS, Rows, joined
from unipd.maps.pauli.strings import write
from unipd.replacing import replacing, write_text

Counts: TypeAlias = dict[str, dict[str, int]]
"""Counts of bit-strings by measurement basis."""
FORMATS = (".csv", ".npz", ".json")
_READABLE = f"a file name ending in {', '.join(FORMATS)}"


def read_pauli_data(path: str | os.PathLike[str]) -> PauliData | Counts:
    r"""Read measurements; what is malformed raises :class:`~unipd.errors.FileFormatError` with the row.

    - ``.csv``: a first line that names the columns ``pauli, expectation`` and, if known, ``shots`` or ``stderr``;
      then one measurement a line, e.g. ``XIZ,0.25,1000``, or with semicolons or tabs in the place of the commas. The
      rightmost letter is qubit 0.
    - ``.json``: a list of objects with these names, or one object with a list under each name, or
      ``{"counts": {"XZ": {"00": 480, "11": 520}}}`` for raw counts by basis (or these counts alone), which are
      returned as they are.
    - ``.npz``: arrays of these names, ``pauli`` as strings or in its place the masks ``x`` and ``z`` (integers, bit b
      is qubit b) with a number ``qubits``. Pickled content is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("pauli,expectation\nXX,1.0\nZZ,0.5\n")
    ...     data = read_pauli_data(path)
    >>> data.labels(), data.expectations
    (['XX', 'ZZ'], array([1. , 0.5]))
    """
    name = os.fspath(path)
    readers: dict[str, Callable[[str], PauliData | Counts]] = {
        ".csv": _read_csv,
        ".json": _read_json,
        ".npz": read_archive,
    }
    kind = Path(name).suffix.lower()
    if kind not in readers:
        raise InvalidInput("path", _READABLE, repr(name))
    return readers[kind](name)


def write_pauli_data(data: PauliData, path: str | os.PathLike[str]) -> None:
    """Write measurements to a ``.csv``, ``.json`` or ``.npz`` file that :func:`read_pauli_data` reads back.

    >>> import tempfile
    >>> data = PauliData(1, np.array([1]), np.array([0]), np.array([0.5]), shots=np.array([100.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pauli_data(data, f"{folder}/data.csv")
    ...     print(Path(f"{folder}/data.csv").read_text())
    pauli,expectation,shots
    X,0.5,100
    """
    name = os.fspath(path)
    kind = Path(name).suffix.lower()
    columns = {"expectation": data.expectations, "shots": data.shots, "stderr": data.stderr}
    known = {key: values for key, values in columns.items() if values is not None}
    if kind == ".npz":
        with replacing(Path(name)) as stream:
            np.savez(stream, allow_pickle=False, qubits=np.array(data.qubits), x=data.x, z=data.z, **known)
        return
    if kind not in FORMATS:
        raise InvalidInput("path", _READABLE, repr(name))
    labels = write(data.qubits, data.x, data.z)
    lists = {"pauli": labels, **{key: [_short(value) for value in values] for key, values in known.items()}}
    if kind == ".json":
        write_text(Path(name), json.dumps(lists))
        return
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(lists)
    writer.writerows(zip(*lists.values(), strict=True))
    write_text(Path(name), table.getvalue())


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) > 1 else float(value)


def _read_csv(name: str) -> PauliData:
    try:
        with open(name, newline="", encoding="utf-8-sig") as stream:
            first = next((line for line in iter(stream.readline, "") if line.strip()), "")
            stream.seek(0)
            separator = next((mark for mark in ",;\t" if mark in first), ",")
            reader = csv.reader(stream, strict=True, skipinitialspace=separator != "\t", delimiter=separator)
            named = next((cells for cells in reader if any(cell.strip() for cell in cells)), None)
            if named is None:
                raise FileFormatError(name, "the file is empty")
            rows = Rows(name, [cell.strip().lower() for cell in named], line=reader.line_num)
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    rows.add(reader.line_num, [cell.strip() for cell in cells])
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileFormatError(name, f"not a text file with columns ({error})") from error
    return rows.data()


def _read_json(name: str) -> PauliData | Counts:
    try:
        content: Any = json.loads(Path(name).read_bytes(), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(name, f"not JSON ({error})") from error
    if isinstance(content, dict) and "counts" in content:
        return _counts(name, content["counts"])
    if isinstance(content, dict) and content and all(isinstance(part, dict) for part in content.values()):
        return _counts(name, content)
    if isinstance(content, dict) and {"pauli", "expectation"} <= set(content):
        content = joined(name, {key: part for key, part in content.items() if key in COLUMNS or isinstance(part, list)})
    if not isinstance(content, list) or not content or not all(isinstance(record, dict) for record in content):
        expected = 'a list of {"pauli": ..., "expectation": ...}, an object of such lists, or {"counts": ...}'
        raise FileFormatError(name, f"expected {expected}")
    rows = Rows(name, list(content[0]), place="record")
    for number, record in enumerate(content, start=1):
        if set(record) != set(rows.header):
            names = f"expected the names {', '.join(rows.header)} as in record 1, got {', '.join(record) or 'none'}"
            raise FileFormatError(name, f"record {number}: {names}")
        rows.add(number, [record.get(key) for key in rows.header])
    return rows.data()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; a name that comes twice would silently lose what came first."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in names if names.count(key) > 1)!r} comes twice in one object")
    return content


def _counts(name: str, counts: Any) -> Counts:
    """Return counts by basis after a check of the types; the bit-strings are checked where they are used."""
    if not isinstance(counts, dict) or not counts:
        raise FileFormatError(name, 'expected "counts" to hold an object of counts by basis')
    for basis, outcomes in counts.items():
        whole = isinstance(outcomes, dict) and all(
            isinstance(count, int) and not isinstance(count, bool) for count in outcomes.values()
        )
        if not whole:
            raise FileFormatError(name, f"basis {basis!r}: expected an object of whole numbers by bit-string")
    return counts


__all__ = ["COLUMNS", "Counts", "PauliData", "read_pauli_data", "write_pauli_data"]
