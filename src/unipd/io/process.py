"""Data of process tomography as text: counts of input states and bases, or expectation values."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from unipd._typing import FloatArray
from unipd._util.files import write_text
from unipd.errors import FileFormatError
from unipd.io.limits import Limits
from unipd.io.pauli import as_float, collect_counts, quote, read_columns

COUNT_COLUMNS = ("preparation", "basis", "outcome", "count")
VALUE_COLUMNS = ("preparation", "pauli", "expectation")
NOISE_COLUMNS = ("shots", "stderr")

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
    if set(columns) == set(COUNT_COLUMNS):
        return collect_counts(name, columns, lines[1:], whole=True)  # pyright: ignore[reportReturnType]
    if not set(VALUE_COLUMNS) <= set(columns) <= {*VALUE_COLUMNS, *NOISE_COLUMNS}:
        expected = f"expected the columns {', '.join(COUNT_COLUMNS)}, or {', '.join(VALUE_COLUMNS)} and perhaps shots"
        raise FileFormatError(name, f"{expected} or stderr, got {', '.join(columns)}", lines[0])
    numbers = {
        key: np.array([_number(name, key, cell, line) for cell, line in zip(columns[key], lines[1:], strict=True)])
        for key in ("expectation", *NOISE_COLUMNS)
        if key in columns
    }
    return ProcessExpectations(
        columns["preparation"], columns["pauli"], numbers["expectation"], numbers.get("shots"), numbers.get("stderr")
    )


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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COUNT_COLUMNS)
    for (preparation, basis), outcomes in counts.items():
        writer.writerows((preparation, basis, outcome, count) for outcome, count in outcomes.items())
    write_text(Path(path), text.getvalue())


def _number(name: str, column: str, cell: Any, line: int) -> float:
    number = as_float(cell)
    if number is None or not np.isfinite(number):
        raise FileFormatError(name, f"expected a number for {column}, got {quote(cell)}", line)
    return number
