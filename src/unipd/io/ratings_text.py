"""Text files of ratings: find the separator and the columns, read them fast, and say which line is wrong."""

from __future__ import annotations

import csv
import gzip
import itertools
import math
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.errors import FileFormatError
from unipd.io.ratings_columns import chosen_columns, known_columns

_SEPARATORS = ("::", "\t", ";", ",", "|")
_SAMPLE = 1000
"""Lines that tell whether identifiers are texts."""
_MISSING = ("nan", "na", "none", "null")
_MARKET = "%%matrixmarket"
"""Beginning of a Matrix Market file, whose second line of numbers has the sizes."""
_LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are to be read."""

    separator: str | None
    """What stands between fields; None for any white space."""
    header: bool
    """Whether the first line has names."""
    columns: tuple[int, ...]
    """Places of user, item and rating."""
    texts: tuple[bool, bool]
    """Whether users, and items, are texts."""


def read_text(path: Path) -> tuple[Array, Array, FloatArray]:
    """Return users, items and ratings of a text file."""
    try:
        layout = find_layout(path)
        fast = _read_numbers(path, layout)
        return fast if fast is not None else _read_lines(path, layout)
    except UnicodeDecodeError as error:
        raise FileFormatError(str(path), "not a text file (UTF-8)") from error
    except gzip.BadGzipFile as error:
        raise FileFormatError(str(path), "not a gzip file, or damaged") from error
    except (EOFError, zlib.error) as error:
        raise FileFormatError(str(path), "the gzip file is damaged or cut short") from error
    except csv.Error as error:
        raise FileFormatError(str(path), f"not a table ({error}); is a quotation mark never closed?") from error


def find_layout(path: Path) -> Layout:
    """Return the layout that the first lines with something in them show."""
    with _opened(path) as stream:
        lines = list(itertools.islice((line for line in stream if line.strip()), _SAMPLE))
    if not lines:
        raise FileFormatError(str(path), "no ratings: the file is empty")
    first = lines[0].strip("\r\n")
    if first.lower().startswith(_MARKET):
        raise FileFormatError(str(path), "a Matrix Market file: scipy.io.mmread reads it as a sparse matrix to fit", 1)
    separator = next((mark for mark in _SEPARATORS if len(_split(first, mark)) >= 3), None)
    fields = _split(first, separator)
    if len(fields) < 3:
        raise FileFormatError(str(path), f"three fields expected (user, item, rating), got {first[:60]!r}", 1)
    header = known_columns(fields) is not None or not any(_is_number(field) for field in fields)
    columns = chosen_columns(fields) if header else (0, 1, 2)
    if columns is None:
        raise FileFormatError(str(path), f"columns user, item and rating expected, got {first[:60]!r}", 1)
    rows = [_split(line, separator) for line in lines[int(header) :]]
    users, items = ([row[place].strip() for row in rows if place < len(row)] for place in columns[:2])
    return Layout(separator, header, columns, (_are_texts(users), _are_texts(items)))


def _are_texts(fields: list[str]) -> bool:
    """Whether identifiers are texts: the first one is, or two are, or one begins with a needless zero.

    One text among numbers is a mistake, which is told with its line.
    """
    texts = [_is_text(field) for field in fields]
    return texts[:1] == [True] or sum(texts) >= 2 or any(re.match(r"0\d", field) for field in fields)


def _is_text(field: str) -> bool:
    return bool(field) and not _is_number(field) and field.lower() not in _MISSING


def _read_numbers(path: Path, layout: Layout) -> tuple[Array, Array, FloatArray] | None:
    """Return the columns when every identifier is an integer and nothing is wrong, else None."""
    if any(layout.texts):
        return None
    separator = "\t" if layout.separator == "::" else layout.separator
    kinds: Any = [("user", np.int64), ("item", np.int64), ("rating", np.float64)]
    how: Any = {"delimiter": separator, "usecols": layout.columns, "comments": None, "ndmin": 1}
    with _opened(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about files without data, which are told apart below
        lines: Iterator[str] = (line for line in stream if line.strip())
        if layout.separator == "::":
            lines = (line.replace("::", "\t") for line in lines)
        if layout.header:
            next(lines, None)
        try:
            table: Any = np.loadtxt(lines, kinds, **how)
        except (ValueError, OverflowError):
            return None
    users, items, ratings = (np.ascontiguousarray(table[name]) for name in ("user", "item", "rating"))
    fine = users.size and users.min() >= 0 and items.min() >= 0 and np.isfinite(ratings).all()
    return (users, items, ratings) if fine else None


def _read_lines(path: Path, layout: Layout) -> tuple[Array, Array, FloatArray]:
    """Read line by line: identifiers may be texts, and what is wrong is told with its line."""
    users, items, ratings = list[Any](), list[Any](), list[float]()
    with _opened(path) as stream:
        skip = layout.header
        for number, fields in _rows(stream, layout.separator):
            if skip:
                skip = False
                continue
            if len(fields) <= max(layout.columns):
                _complain(
                    path, number, f"{max(layout.columns) + 1} fields expected (user, item, rating)", ", ".join(fields)
                )
            user, item, rating = (fields[place].strip() for place in layout.columns)
            users.append(_identifier(path, number, "user", user, layout.texts[0]))
            items.append(_identifier(path, number, "item", item, layout.texts[1]))
            ratings.append(_rating(path, number, rating))
    if not ratings:
        raise FileFormatError(str(path), "no ratings")
    return _identifiers(users), _identifiers(items), np.array(ratings, np.float64)


def _identifiers(values: list[Any]) -> Array:
    """Return texts, or integers; integers of more than 64 bits are texts too."""
    if isinstance(values[0], int) and max(values) > _LARGEST:
        return np.array([str(value) for value in values])
    return np.array(values)


def _rows(stream: Any, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    if separator is None or separator == "::":
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.strip().split(separator)
        return
    reader = csv.reader(stream, delimiter=separator)
    for fields in reader:
        if any(field.strip() for field in fields):
            yield reader.line_num, fields


def _identifier(path: Path, number: int, name: str, field: str, text: bool) -> Any:
    if text and field:
        return field
    if not _is_number(field) or not float(field).is_integer():
        _complain(path, number, f"the {name} must be an integer not below 0", field)
    try:
        value = int(field)
    except ValueError:
        value = int(float(field))
    if value < 0:
        _complain(path, number, f"the {name} must not be negative", field)
    return value


def _rating(path: Path, number: int, field: str) -> float:
    if not _is_number(field):
        _complain(path, number, "the rating must be a number", field)
    return float(field)


def _complain(path: Path, number: int, problem: str, got: Any) -> NoReturn:
    raise FileFormatError(str(path), f"{problem}, got {str(got)[:60]!r}", number)


def _is_number(field: str) -> bool:
    """Whether a field is a finite number, without the underscores that Python takes between digits."""
    try:
        return "_" not in field and math.isfinite(float(field))
    except ValueError:
        return False


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None or separator == "::":
        return line.strip().split(separator)
    return next(csv.reader([line], delimiter=separator))


def _opened(path: Path) -> Any:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")
