"""Measured Pauli expectation values and counts of states (.csv, .npz, .json) and of channels (.csv)."""

from __future__ import annotations

import base64
import csv
import io
import itertools
import json
import os
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.files import atomic_write, format_csv, write_text
from unipd._util.printing import ReprMixin
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import (
    LINE_LIMIT,
    DamagedArchive,
    Limits,
    check_compression,
    open_bounded,
    read_arrays,
    read_bounded,
)
from unipd.maps.pauli.strings import MOST_QUBITS, check_strings, parse, write
from unipd.memory import require_room, require_room_for_state

SIGMAS = 6.0
"""Standard errors by which a value may differ from what it should be."""
MOST_SHOTS = 2**53
"""Largest number of shots: larger whole numbers are no longer exact as floating-point numbers."""
UNKNOWN_NOISE = 0.1
"""The same when neither shots nor standard errors are known."""
ROUNDING = 1e-6
"""Error of a value that rounding explains."""


@dataclass(frozen=True, eq=False, repr=False)
class PauliData(ReprMixin):
    """Measured expectation values tr(P_k rho) of Pauli strings, with shots or standard errors when known.

    Parameters
    ----------
    qubits
        Number of qubits.
    x
        x masks of the strings: bit b is set when qubit b has X or Y.
    z
        z masks of the strings: bit b is set when qubit b has Z or Y.
    expectations
        Measured values.
    shots
        Number of shots behind each value.
    stderr
        Standard error of each value; takes precedence over ``shots``.

    Raises
    ------
    InvalidInput
        Unless the arrays have one length and finite values.

    See Also
    --------
    read_pauli_data, unipd.apps.tomography.Paulis

    Examples
    --------
    >>> PauliData(2, np.array([3]), np.array([0]), np.array([0.5])).labels()
    ['XX']
    """

    qubits: int
    x: IntArray
    z: IntArray
    expectations: FloatArray
    shots: FloatArray | None = None
    stderr: FloatArray | None = None

    def __post_init__(self) -> None:
        arrays = {"z": self.z, "expectations": self.expectations, "shots": self.shots, "stderr": self.stderr}
        for name, array in arrays.items():
            if array is not None and array.shape != self.x.shape:
                raise InvalidInput(name, f"{self.x.size} values, one per Pauli string", f"shape {array.shape}")
        fault = find_fault(self.expectations, self.shots, self.stderr)
        if fault is not None:
            raise InvalidInput("expectations", "finite values in [-1, 1] up to noise", f"row {fault[0]}: {fault[1]}")

    @property
    def size(self) -> int:
        """Number of measurements."""
        return int(self.x.size)

    @property
    def keys(self) -> IntArray:
        """The strings as single numbers x << q | z; the identity is 0."""
        return (self.x.astype(np.int64) << self.qubits) | self.z

    def labels(self) -> list[str]:
        """Return the strings' labels; the rightmost letter is qubit 0."""
        return write(self.qubits, self.x, self.z)


def noise_tolerance(expectations: FloatArray, shots: FloatArray | None, stderr: FloatArray | None) -> FloatArray:
    """Return the error of each value that noise explains."""
    if stderr is not None:
        return np.maximum(SIGMAS * stderr, ROUNDING)
    if shots is not None:
        return SIGMAS / np.sqrt(np.where(shots > 0, shots, np.inf))
    return np.full(expectations.shape, UNKNOWN_NOISE)


def find_fault(expectations: FloatArray, shots: FloatArray | None, stderr: FloatArray | None) -> tuple[int, str] | None:
    """Return the first row that cannot be a measurement, and the reason.

    >>> find_fault(np.array([0.5, 1.7]), None, None)
    (1, 'the expectation value 1.7 lies outside [-1, 1] by more than noise explains')
    """
    columns = [
        ("the expectation value {:g} is not a finite number", expectations, -np.inf, np.inf),
        ("the number of shots {:g} is not above zero", shots, np.nextafter(0.0, 1.0), np.inf),
        ("the standard error {:g} is not a finite number >= 0", stderr, 0.0, np.inf),
        ("the number of shots {:g} is more than 2^53", shots, -np.inf, MOST_SHOTS),
    ]
    checks = [
        (text, values, ~(np.isfinite(values) & (values >= least) & (values <= most)))
        for text, values, least, most in columns
        if values is not None
    ]
    is_mean = shots is not None and stderr is None  # a mean of outcomes +-1, noise or not
    excess = ROUNDING if is_mean else noise_tolerance(expectations, shots, stderr)
    outside = np.isfinite(expectations) & (np.abs(expectations) > 1.0 + excess)
    text = "the expectation value {:g} lies outside [-1, 1] by more than noise explains"
    if is_mean:
        text = "the expectation value {:g}, a mean of outcomes +-1, lies outside [-1, 1] (corrected values need stderr)"
    if stderr is not None and outside.any() and stderr[np.argmax(outside)] == 0.0:
        text += ": its standard error is 0"
    faults = [
        (int(np.argmax(wrong)), text.format(values[np.argmax(wrong)]))
        for text, values, wrong in [*checks, (text, expectations, outside)]
        if wrong.any()
    ]
    return min(faults, key=lambda fault: fault[0], default=None)


COLUMNS = ("pauli", "expectation", "shots", "stderr")
"""Names of the columns; the last two are optional."""
COUNT_COLUMNS = ("basis", "outcome", "count")
"""Names of the columns of counts."""
FORMATS = (".csv", ".npz", ".json")
"""Endings of the files that are read and written."""
_JSON_GROWTH = 32.0
"""Bytes of objects per byte of JSON: 184 for {"X":1}."""
_OBJECT_BYTES = 100
"""Bytes of a number or a short string in a list, with copies."""
Counts: TypeAlias = dict[str, dict[str, float]]
"""Counts of bit-strings by measurement basis; quasi-counts may be negative or fractional."""


def read_pauli_data(path: str | os.PathLike[str], *, limits: Limits | None = None) -> PauliData | Counts:
    r"""Read measurements; malformed content raises :class:`~unipd.errors.FileFormatError` naming the row.

    - ``.csv``: a header with the columns ``pauli, expectation`` and, if known, ``shots`` or ``stderr``; then one
      measurement per line, e.g. ``XIZ,0.25,1000``, separated by commas, semicolons or tabs. The rightmost letter is
      qubit 0. Or the columns ``basis, outcome, count``, e.g. ``XZ,01,480``, for counts.
    - ``.json``: a list of objects with these names, or one object with a list under each name, or
      ``{"counts": {"XZ": {"00": 480, "11": 520}}}`` for raw counts by basis (or these counts alone), which are
      returned as they are; or a Qiskit ``Result`` (``json.dumps(result.to_dict())``), with the basis of each circuit in
      its metadata (``basis``, or ``m_idx`` of qiskit-experiments) or at the end of its name ("ghz_XXZ"); or the result
      of a ``SamplerV2`` (``json.dumps(result, cls=RuntimeEncoder)``, as IBM's site offers it), with the basis in the
      metadata of each circuit.
    - ``.npz``: arrays of these names, ``pauli`` as strings or replaced by the masks ``x`` and ``z`` (integers, bit b
      is qubit b) with a number ``qubits``. Pickled content is refused.

    ``limits`` (:class:`~unipd.io.Limits`) are those beyond which a file is refused.

    Parameters
    ----------
    path
        Path of the file.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    PauliData or dict
        Expectation values, or counts ``{basis: {bit-string: count}}``.

    See Also
    --------
    write_pauli_data, PauliData, unipd.PauliTomography

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
    return {".csv": _read_csv, ".json": _read_json, ".npz": _read_archive}[_file_format(name)](name, limits)


def write_pauli_data(data: PauliData, path: str | os.PathLike[str]) -> None:
    """Write measurements to a ``.csv``, ``.json`` or ``.npz`` file that :func:`read_pauli_data` reads back.

    Parameters
    ----------
    data
        Expectation values or counts.
    path
        Path of the file; its extension gives the format.

    See Also
    --------
    read_pauli_data, PauliData

    Examples
    --------
    >>> import tempfile
    >>> data = PauliData(1, np.array([1]), np.array([0]), np.array([0.5]), shots=np.array([100.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pauli_data(data, f"{folder}/data.csv")
    ...     print(Path(f"{folder}/data.csv").read_text())
    pauli,expectation,shots
    X,0.5,100
    """
    target, kind = Path(path), _file_format(os.fspath(path))
    columns = {"expectation": data.expectations, "shots": data.shots, "stderr": data.stderr}
    known: dict[str, Any] = {key: values for key, values in columns.items() if values is not None}
    if kind == ".npz":
        with atomic_write(target) as stream:
            np.savez(stream, qubits=np.array(data.qubits), x=data.x, z=data.z, **known)
        return
    lists = {"pauli": data.labels(), **{key: [_shorten(value) for value in values] for key, values in known.items()}}
    if kind == ".json":
        write_text(target, json.dumps(lists))
        return
    write_text(target, format_csv(lists, zip(*lists.values(), strict=True)))


def _file_format(name: str) -> str:
    kind = Path(name).suffix.lower()
    if kind not in FORMATS:
        raise InvalidInput("path", f"a file name ending in {', '.join(FORMATS)}", repr(name))
    return kind


def _shorten(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) > 1 else float(value)


def _read_csv(name: str, limits: Limits | None) -> PauliData | Counts:
    columns, lines = read_columns(name, limits)
    if set(columns) == set(COUNT_COLUMNS):
        return {basis: part for (basis,), part in collect_counts(name, columns, lines[1:]).items()}
    return _Columns(name, "line", lines[1:], lines[0]).assemble(columns)


def read_columns(name: str, limits: Limits | None) -> tuple[dict[str, list[str]], list[int]]:
    """Return the columns of a text file by their names in lower case, and the lines of the header and of the rows."""
    cells: list[list[str]] = []
    lines: list[int] = []
    try:
        with open_bounded(name, limits, LINE_LIMIT) as (stream, _):
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            begin = [next(text, "")]
            while begin[-1] and not begin[-1].strip():
                begin.append(next(text, ""))
            separator = next((mark for mark in ",;\t" if mark in begin[-1]), ",")
            whole = itertools.chain(begin, text)
            reader = csv.reader(whole, strict=True, skipinitialspace=separator != "\t", delimiter=separator)
            for row in reader:
                if any(cell.strip() for cell in row):
                    cells.append([cell.strip() for cell in row])
                    lines.append(reader.line_num)
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileFormatError(name, f"not a text file with columns ({error})") from error
    if not cells:
        raise FileFormatError(name, "the file is empty")
    header = [cell.lower() for cell in cells[0]]
    if len(set(header)) < len(header):
        raise FileFormatError(name, f"expected distinct columns, got {', '.join(header)}", lines[0])
    for row, line in zip(cells, lines, strict=True):
        if len(row) != len(header):
            raise FileFormatError(name, f"expected {len(header)} cells, got {len(row)}", line)
    return {key: [row[column] for row in cells[1:]] for column, key in enumerate(header)}, lines


def collect_counts(
    name: str, columns: Mapping[str, list[str]], lines: Sequence[int], *, whole: bool = False
) -> dict[tuple[str, ...], Any]:
    """Return counts by outcome for each setting, the columns before ``outcome`` and ``count``; labels are not checked.

    Quasi-counts, negative or fractional, are counts unless they must be ``whole``.
    """
    counts: dict[tuple[str, ...], Any] = {}
    *settings, outcomes, cells = (key for key in ("preparation", *COUNT_COLUMNS) if key in columns)
    rows = zip(
        zip(*(columns[key] for key in settings), strict=True), columns[outcomes], columns[cells], lines, strict=True
    )
    for setting, outcome, cell, line in rows:
        number = as_float(cell)
        if number is None or not np.isfinite(number) or (whole and (number < 0.0 or not number.is_integer())):
            raise FileFormatError(name, f"expected a {'whole ' * whole}number for count, got {quote(cell)}", line)
        part = counts.setdefault(setting, {})
        if outcome in part:
            place = " and ".join(f"{key} {quote(label)}" for key, label in zip(settings, setting, strict=True))
            raise FileFormatError(name, f"the outcome {quote(outcome)} of {place} occurs twice", line)
        part[outcome] = int(number) if number.is_integer() else number
    if not counts:
        raise FileFormatError(name, "no counts")
    return counts


def _read_json(name: str, limits: Limits | None) -> PauliData | Counts:
    text = read_bounded(name, limits, _JSON_GROWTH)
    try:
        content: Any = json.loads(text, object_pairs_hook=_unique_names)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(name, f"not JSON ({error})") from error
    if isinstance(content, dict) and "counts" in content:
        return _check_counts(name, content["counts"])
    if isinstance(content, dict) and isinstance(content.get("results"), list):
        return _check_counts(name, read_results(name, content["results"]))
    if isinstance(content, dict) and content.get("__type__") == "PrimitiveResult":
        return read_results(name, _decode_sampler(name, content, limits or Limits()))
    is_nested = isinstance(content, dict) and content and all(isinstance(part, dict) for part in content.values())
    if is_nested or (isinstance(content, dict) and _is_histogram(content)):
        return _check_counts(name, content)
    if isinstance(content, dict) and {"pauli", "expectation"} <= set(content):
        columns = {key: part for key, part in content.items() if key in COLUMNS or isinstance(part, list)}
    elif isinstance(content, list) and content and all(isinstance(record, dict) for record in content):
        header = list(content[0])
        for number, record in enumerate(content, start=1):
            if set(record) != set(header):
                names = f"expected the names {', '.join(header)} as in record 1, got {', '.join(record) or 'none'}"
                raise FileFormatError(name, f"record {number}: {names}")
        columns = {key: [record[key] for record in content] for key in header}
    else:
        expected = 'a list of {"pauli": ..., "expectation": ...}, an object of such lists, or {"counts": ...}'
        raise FileFormatError(name, f"expected {expected}")
    return _Columns(name, "record", range(1, sys.maxsize)).assemble(columns)


def read_results(name: str, results: Sequence[Any]) -> Counts:
    """Return the counts of a Qiskit ``Result`` (``result.to_dict()``); shots of the same basis are added.

    The basis of a circuit is ``basis`` or ``m_idx`` (qiskit-experiments: 0 is Z, 1 is X, 2 is Y, qubit 0 first) of its
    metadata, or the word of letters I, X, Y, Z that its name ends with.
    """
    counts: Counts = {}
    number = 0
    try:
        for entry in results:
            number += 1
            basis, found = _basis_of(entry["header"]), entry["data"]["counts"]
            part = counts.setdefault(basis, {})
            for key, count in found.items():
                bits = format(int(key, 16), f"0{len(basis)}b") if key.lower().startswith("0x") else key
                part[bits] = part.get(bits, 0) + count
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        expected = "header and data.counts, with the basis in the header's metadata (basis, m_idx) or name"
        raise FileFormatError(f"{name}: result {number}", f"expected {expected}") from None
    return counts


def _decode_sampler(name: str, content: Any, limits: Limits) -> list[Any]:
    """Return the circuits of a ``PrimitiveResult`` in the form of a ``Result``; nothing in it is unpickled."""
    results: list[Any] = []
    try:
        for part in content["__value__"]["pub_results"]:
            circuit = part["__value__"]
            (register,) = circuit["data"]["__value__"]["fields"].values()
            bits, packed = register["__value__"]["num_bits"], register["__value__"]["array"]["__value__"]
            shots: Any = np.load(io.BytesIO(_inflate(name, packed, limits)), allow_pickle=False)
            rows, numbers = np.unique(shots.reshape(shots.shape[-2:]), axis=0, return_counts=True)
            labels = (format(int.from_bytes(row.tobytes(), "big"), f"0{bits}b") for row in rows)
            counts = dict(zip(labels, numbers.tolist(), strict=True))
            header = {"metadata": circuit["metadata"]["circuit_metadata"], "name": ""}
            results.append({"header": header, "data": {"counts": counts}})
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, EOFError) as error:
        expected = "shots of one register and metadata of its circuit (circuit.metadata = {'basis': 'XZ'})"
        raise FileFormatError(f"{name}: result {len(results) + 1}", f"expected {expected}") from error
    return results


def _inflate(name: str, packed: str, limits: Limits) -> bytes:
    """Return the bytes that Qiskit has compressed and written as text."""
    raw = base64.b64decode(packed)
    most = max(limits.compression_from, int(limits.compression * len(raw)))
    try:
        text = zlib.decompressobj().decompress(raw, most + 1)
    except zlib.error as error:
        raise ValueError("not compressed") from error
    check_compression(name, len(text), len(raw), limits)
    return text


def _basis_of(header: Mapping[str, Any]) -> str:
    metadata = header.get("metadata") or {}
    if "basis" in metadata:
        return str(metadata["basis"])
    if "m_idx" in metadata:
        return "".join("ZXY"[index] for index in reversed(metadata["m_idx"]))
    return re.findall(r"(?:^|[^A-Za-z])([IXYZ]+)$", str(header["name"]))[0]


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; refuse repeated names, of which JSON would keep only the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in names if names.count(key) > 1)!r} occurs twice in one object")
    return content


def _is_histogram(content: dict[str, Any]) -> bool:
    """Whether an object holds numbers by outcome, without a basis: counts of a POVM."""
    return bool(content) and all(key[:1].isdigit() and type(count) in (int, float) for key, count in content.items())


def _check_counts(name: str, counts: Any) -> Counts:
    """Return counts by basis after a check of the types; bit-strings are checked where they are used."""
    if not isinstance(counts, dict) or not counts:
        raise FileFormatError(name, 'expected "counts" to hold an object of counts by basis')
    if _is_histogram(counts):
        return counts
    for basis, outcomes in counts.items():
        if not isinstance(outcomes, dict) or not all(type(count) in (int, float) for count in outcomes.values()):
            raise FileFormatError(name, f"basis {basis!r}: expected an object of numbers by bit-string")
    return counts


def _read_archive(name: str, limits: Limits | None) -> PauliData:
    """Read a ``.npz`` file; nothing in it is unpickled."""
    try:
        arrays = read_arrays(name, limits)
        strings = None if "pauli" in arrays else _read_masks(arrays)
    except DamagedArchive as error:
        raise FileFormatError(name, f"not a NumPy archive (.npz), or damaged ({error})") from error
    except InvalidInput as error:
        raise FileFormatError(name, str(error)) from error
    shape = arrays["pauli"].shape if strings is None else strings[1].shape
    chosen = {
        key: values
        for key, values in arrays.items()
        if key in COLUMNS or (key not in ("x", "z", "qubits") and values.shape == shape)
    }
    require_room(name, _OBJECT_BYTES * sum(values.size for values in chosen.values()))
    columns = {key: values.tolist() for key, values in chosen.items()}
    return _Columns(name, "row index", range(sys.maxsize)).assemble(columns, strings)


def _read_masks(arrays: dict[str, Array]) -> tuple[int, IntArray, IntArray]:
    """Return the strings of an archive without labels."""
    if not {"x", "z", "qubits"} <= set(arrays):
        raise InvalidInput("pauli", "an array pauli, or x, z and qubits", f"the arrays {', '.join(arrays) or 'none'}")
    number = arrays["qubits"]
    if number.size != 1 or number.dtype.kind not in "iu":
        raise InvalidInput("qubits", f"a whole number from 1 to {MOST_QUBITS}", repr(number.tolist()))
    qubits = require_room_for_state(int(number.reshape(-1)[0]), 1)
    return check_strings(qubits, arrays["x"], arrays["z"])


@dataclass(frozen=True)
class _Columns:
    """Turns the columns of a file into measurements; every error names the place."""

    name: str
    """The file."""
    place: str
    """What a row is called in messages."""
    numbers: Sequence[int]
    """The number of every row."""
    header_line: int | None = None
    """Line of the names of the columns."""

    def assemble(self, columns: Mapping[str, Any], strings: tuple[int, IntArray, IntArray] | None = None) -> PauliData:
        """Return the measurements; ``strings`` replaces the column of labels."""
        header = [*columns] if strings is None else ["pauli", *columns]
        if not {"pauli", "expectation"} <= set(header) <= set(COLUMNS):
            either = f"{', '.join(COUNT_COLUMNS)}, or pauli, expectation and perhaps shots or stderr"
            expected = f"expected the columns {either}, got {', '.join(map(repr, header))}"
            raise FileFormatError(self.name, expected, self.header_line)
        if not all(isinstance(cells, list) for cells in columns.values()):
            raise FileFormatError(self.name, "expected a list for each of the columns")
        lengths = {key: len(cells) for key, cells in columns.items()}
        if strings is not None:
            lengths["x"] = strings[1].size
        if len(set(lengths.values())) > 1:
            raise FileFormatError(self.name, f"expected columns of one length, got {lengths}")
        qubits, x, z = self._parse_labels(columns["pauli"]) if strings is None else strings
        values, shots, stderr = (self.parse_numbers(columns, key) for key in COLUMNS[1:])
        assert values is not None
        fault = find_fault(values, shots, stderr)
        if fault is not None:
            raise self._error(*fault)
        return PauliData(qubits, x, z, values, shots, stderr)

    def _parse_labels(self, labels: list[Any]) -> tuple[int, IntArray, IntArray]:
        if not labels:
            raise FileFormatError(self.name, "no measurements")
        for row, label in enumerate(labels):
            if not isinstance(label, str) or not label or label.strip("IXYZ"):
                raise self._error(row, f"expected a Pauli string of the letters I, X, Y, Z, got {quote(label)}")
            if len(label) != len(labels[0]):
                first = f"{len(labels[0])} letters as in {self.place} {self.numbers[0]}"
                raise self._error(row, f"expected a Pauli string of {first}, got {quote(label)}")
        require_room_for_state(len(labels[0]), len(labels))
        return parse(labels)

    def parse_numbers(self, columns: Mapping[str, Any], key: str, *, finite: bool = False) -> FloatArray | None:
        """Return a column as numbers, None where it is missing; errors name values that are not (finite) numbers."""
        if key not in columns:
            return None
        numbers = [as_float(cell) for cell in columns[key]]
        wrong = [row for row, number in enumerate(numbers) if number is None or (finite and not np.isfinite(number))]
        if wrong:
            raise self._error(wrong[0], f"expected a number for {key}, got {quote(columns[key][wrong[0]])}")
        return np.array(numbers, np.float64)

    def _error(self, row: int, problem: str) -> FileFormatError:
        number = self.numbers[row]
        if self.place == "line":
            return FileFormatError(self.name, problem, number)
        return FileFormatError(self.name, f"{self.place} {number}: {problem}")


ProcessCounts: TypeAlias = dict[tuple[str, str], dict[str, int]]
"""Counts by (preparation, basis) and outcome."""


class ProcessExpectations(NamedTuple):
    """Expectation values of Pauli strings in the outputs of prepared states.

    Parameters
    ----------
    preparations
        Label of the prepared state, one per value.
    paulis
        Pauli string, one per value.
    expectations
        The measured values.
    shots
        Shots behind each value, if known.
    stderr
        Standard error of each value, if known.

    See Also
    --------
    read_process_data, unipd.apps.process_tomography.expectation_data

    Examples
    --------
    >>> ProcessExpectations(["0"], ["Z"], np.array([0.96]), None, None).expectations
    array([0.96])
    """

    preparations: list[str]
    paulis: list[str]
    expectations: FloatArray
    shots: FloatArray | None
    stderr: FloatArray | None


def read_process_data(
    path: str | os.PathLike[str], *, limits: Limits | None = None
) -> ProcessCounts | ProcessExpectations:
    r"""Read a text file with the columns preparation, basis, outcome, count, or preparation, pauli, expectation.

    Labels are checked where they are used. Expectation values may have a column shots or stderr.

    Parameters
    ----------
    path
        Path of the file.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    dict or ProcessExpectations
        Counts ``{(preparation, basis): {bit-string: count}}``, or expectation values.

    Raises
    ------
    FileFormatError
        If the columns are others, or a number is malformed.

    See Also
    --------
    write_process_counts, ProcessExpectations, unipd.ProcessTomography

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "channel.csv"
    ...     _ = file.write_text("preparation,basis,outcome,count\n0,Z,0,98\n0,Z,1,2\n")
    ...     read_process_data(file)
    {('0', 'Z'): {'0': 98, '1': 2}}
    """
    name = os.fspath(path)
    columns, lines = read_columns(name, limits)
    if not lines[1:]:
        raise FileFormatError(name, "no measurements")
    if set(columns) == {"preparation", *COUNT_COLUMNS}:
        return collect_counts(name, columns, lines[1:], whole=True)  # pyright: ignore[reportReturnType]
    if not {"preparation", *COLUMNS[:2]} <= set(columns) <= {"preparation", *COLUMNS}:
        names = (
            f"preparation, {', '.join(COUNT_COLUMNS)}, or preparation, pauli, expectation and perhaps shots or stderr"
        )
        raise FileFormatError(name, f"expected the columns {names}, got {', '.join(columns)}", lines[0])
    parse = _Columns(name, "line", lines[1:]).parse_numbers
    values, shots, stderr = (parse(columns, key, finite=True) for key in COLUMNS[1:])
    assert values is not None
    return ProcessExpectations(columns["preparation"], columns["pauli"], values, shots, stderr)


def write_process_counts(counts: Mapping[tuple[str, str], Mapping[str, int]], path: str | os.PathLike[str]) -> None:
    """Write counts as a text file, a row for each outcome that was seen.

    Parameters
    ----------
    counts
        Counts ``{(preparation, basis): {bit-string: count}}``.
    path
        Path of the file.

    See Also
    --------
    read_process_data, unipd.apps.process_tomography.simulate_process

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_process_counts({("0", "Z"): {"0": 98, "1": 2}}, f"{folder}/channel.csv")
    ...     read_process_data(f"{folder}/channel.csv")
    {('0', 'Z'): {'0': 98, '1': 2}}
    """
    rows = ((*setting, outcome, count) for setting, outcomes in counts.items() for outcome, count in outcomes.items())
    write_text(Path(path), format_csv(("preparation", *COUNT_COLUMNS), rows))


def as_float(cell: Any) -> float | None:
    """Return a cell as a number, None if it is none."""
    try:
        return None if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def quote(value: Any) -> str:
    """Return a value in quotes, at most 40 characters of it."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
