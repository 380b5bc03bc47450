"""Files of ratings: one (user, item, rating) a line, as MovieLens and most spreadsheets write them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.errors import FileFormatError, MissingExtra
from unipd.io.ratings_columns import chosen_columns
from unipd.io.ratings_text import read_text


@dataclass(frozen=True)
class Ratings:
    """Ratings as three arrays of one length.

    >>> len(Ratings(np.array([1, 1]), np.array([7, 8]), np.array([3.0, 5.0])))
    2
    """

    users: Array
    """Who rated: integers or texts."""
    items: Array
    """What was rated: integers or texts."""
    values: FloatArray
    """The ratings."""

    def __len__(self) -> int:
        return int(self.values.size)

    def where(self, chosen: Array) -> Ratings:
        """Return the ratings at the places (or of the mask) chosen."""
        return Ratings(self.users[chosen], self.items[chosen], self.values[chosen])


@dataclass(frozen=True)
class Shard(Ratings):
    """The ratings of one member of a team: all those of its users, whose names come between its neighbours'."""

    all_users: Array
    """Names of the users of all members, sorted."""
    all_items: Array
    """Names of the items of all members, sorted."""


def read_ratings(path: str | os.PathLike[str]) -> Ratings:
    r"""Read a file of ratings; a malformed line raises :class:`~unipd.errors.FileFormatError` with its number.

    Text files have one rating a line: user, item, rating and whatever follows, separated by tabs, commas,
    semicolons, ``::`` or spaces (found from the first line), with or without a line of column names. Names such as
    ``userId``, ``movie_id`` or ``rating`` choose the columns; otherwise they are the first three. Identifiers are
    integers not below 0, or texts: when the first one is no number, when of the first thousand lines two have such ones
    or one begins with a needless zero (as ISBN do), and when one has more than 64 bits. Names ending in .gz are
    decompressed, and .parquet files are read with pyarrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ratings.csv")
    ...     _ = file.write_text("user,item,rating\n1,10,4\n2,10,3.5\n")
    ...     read_ratings(file).values
    array([4. , 3.5])
    """
    target = Path(path)
    if target.suffix.lower() in (".parquet", ".pq"):
        return Ratings(*_read_parquet(target))
    return Ratings(*read_text(target))


def _read_parquet(path: Path) -> tuple[Array, Array, FloatArray]:
    try:
        import pyarrow.parquet as parquet  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtra("pyarrow", "data", "a parquet file") from error
    with open(path, "rb") as stream:
        try:
            table: Any = parquet.read_table(stream, use_threads=False, pre_buffer=False)
            names = [str(name) for name in table.column_names]
            places = chosen_columns(names) or ()
            columns = [np.asarray(table.column(place).to_numpy()) for place in places]
        except Exception as error:  # pyarrow has many kinds of its own
            raise FileFormatError(str(path), f"not a parquet file ({error})") from error
    if not columns:
        raise FileFormatError(str(path), f"no columns named like user, item, rating, but {', '.join(names)}")
    return checked_columns(str(path), *columns)


def checked_columns(source: str, users: Array, items: Array, values: Array) -> tuple[Array, Array, FloatArray]:
    """Return the columns of a table as identifiers and numbers, or raise with the row that is wrong."""
    if values.size == 0:
        raise FileFormatError(source, "no ratings")
    if values.dtype.kind in "mM":
        raise FileFormatError(source, "the ratings are dates, not numbers")
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise FileFormatError(source, f"the ratings are not numbers ({error})") from error
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise FileFormatError(source, f"row {row + 1}: the rating is {numbers[row]}, not a number")
    return _identifiers(source, "user", users), _identifiers(source, "item", items), numbers


def _identifiers(source: str, name: str, column: Array) -> Array:
    if column.dtype.kind in "iu":
        if column.min() < 0:
            raise FileFormatError(source, f"row {int(np.argmin(column >= 0)) + 1}: the {name} is negative")
        return column.astype(np.str_ if column.max() > np.iinfo(np.int64).max else np.int64)
    if column.dtype.kind == "f":
        wrong = ~np.isfinite(column) | (column < 0) | (column != np.floor(column))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise FileFormatError(source, f"row {row + 1}: the {name} is {column[row]}, not an integer from 0")
        return column.astype(np.int64)
    missing = [row for row, value in enumerate(column) if value is None]
    if missing:
        raise FileFormatError(source, f"row {missing[0] + 1}: the {name} is missing")
    try:
        return column.astype(np.str_)
    except ValueError as error:
        raise FileFormatError(source, f"the {name}s are neither integers nor texts ({error})") from error
