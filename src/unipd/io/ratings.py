"""Ratings, one (user, item, rating) per line as MovieLens and spreadsheets write them, and titles of items.

Of a table, which column is the user, the item, the rating, and the identifiers in them.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.lazy import import_extra
from unipd._util.printing import clean_line
from unipd.errors import FileFormatError, InvalidInput, UnipdError
from unipd.io.reading import LINE_LIMIT, Limits, Source, open_bounded, read_bounded
from unipd.memory import require_room

LARGEST_ID = int(np.iinfo(np.int64).max)
"""Larger integers are treated as strings."""

COLUMN_NAMES = (
    (
        *("user", "customer", "reviewer", "visitor", "member", "account", "person", "uid", "u"),
        *("reader", "listener", "viewer", "player", "client", "buyer", "rater"),
    ),
    (
        *("item", "movie", "film", "product", "book", "isbn", "asin", "iid", "i"),
        *("track", "song", "artist", "album", "game", "anime", "joke", "article", "business", "restaurant"),
        *("show", "series", "video", "recipe", "course", "hotel", "beer", "wine"),
    ),
    ("rating", "ratings", "value", "score", "stars", "overall", "r", "plays", "playcount", "weight"),
)
"""Names of the user, item and rating columns, without case, marks, a qualifier before and a label after."""
LABELS = ("id", "name", "title", "key", "code", "number", "no")
"""Labels after such a name: user_id, movieTitle."""
ROLES = ("user", "item", "rating")
_NUMBERING = ("", "unnamed0")
"""Names of a first column that only numbers the rows."""


def match_column_names(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of user, item and rating by their names, None unless all three are there.

    >>> match_column_names(["movieId", "user_id", "Rating", "timestamp"])
    (1, 0, 2)
    """
    found = tuple(place for place in _places(names) if place is not None)
    return found if len(found) == len(COLUMN_NAMES) else None


def choose_columns(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of user, item and rating: by name, or the first three where no name speaks against that.

    None when there are fewer columns, or when the names known stand elsewhere. A first column that numbers the rows is
    passed over.

    >>> choose_columns(["who", "what", "how much"]), choose_columns(["time", "user", "what"])
    ((0, 1, 2), None)
    """
    named = match_column_names(names)
    if named is not None:
        return named
    first = int(len(names) > len(COLUMN_NAMES) and _plain(names[0]) in _NUMBERING)
    usual = tuple(range(first, first + len(COLUMN_NAMES)))
    fits = all(place in (None, own) for place, own in zip(_places(names), usual, strict=True))
    return usual if fits and usual[-1] < len(names) else None


def find_columns(names: Sequence[str], columns: Mapping[str, str]) -> tuple[int, ...] | None:
    """Return the places of the columns given for user, item and rating; None if one is not there.

    >>> find_columns(["who", "what", "liking"], {"user": "who", "item": "what", "rating": "liking"})
    (0, 1, 2)
    """
    stripped = [name.strip() for name in names]
    found = [stripped.index(columns[role]) if columns[role] in stripped else -1 for role in ROLES]
    return None if min(found) < 0 else tuple(found)


def warn_of_positions(names: Sequence[str], places: tuple[int, ...], remedy: str = "rename them") -> None:
    """Warn that columns whose names say nothing were taken by their positions; numbers are no names."""
    if match_column_names(names) is None and not all(is_number(names[place]) for place in places):
        taken = ", ".join(f"{role} = {names[place]!r}" for role, place in zip(ROLES, places, strict=False))
        warnings.warn(f"columns taken by position: {taken}; {remedy} if that is wrong", stacklevel=4)


def has_no_column_name(names: Sequence[str]) -> bool:
    """Whether no name is one of a user, item or rating column, or of a column that numbers the rows.

    >>> has_no_column_name(["7", "9"]), has_no_column_name(["user", "7"])
    (True, False)
    """
    return all(place is None for place in _places(names)) and not any(_plain(name) in _NUMBERING for name in names[:1])


def _places(names: Sequence[str]) -> list[int | None]:
    """Return the places of user, item and rating: the first known name, else the first with a qualifier."""
    plain, last = [_plain(name) for name in names], [_last_word(name) for name in names]
    return [
        next((place for words in (plain, last) for place, word in enumerate(words) if _means(word, known)), None)
        for known in COLUMN_NAMES
    ]


def _means(name: str, known: Sequence[str]) -> bool:
    return name in known or any(name.endswith(label) and name[: -len(label)] in known for label in LABELS)


def _last_word(name: str) -> str:
    """Return the last word of a name that is no label: what it names, as in my_rating or bookRating.

    With a number behind it, it is one of many: a user rather than the column of users.

    >>> _last_word("my_rating"), _last_word("the movieTitle"), _last_word("r"), _last_word("user7")
    ('rating', 'movie', '', '')
    """
    if name.rstrip()[-1:].isdigit():
        return ""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    while len(words) > 1 and words[-1] in LABELS:
        words.pop()
    return words[-1] if len(words) > 1 or (words and len(words[0]) > 1) else ""


def _plain(name: str) -> str:
    return "".join(mark for mark in name.lower() if mark.isalnum())


def is_number(field: str) -> bool:
    """Whether a field is a finite number, without the underscores that Python takes between digits."""
    try:
        return "_" not in field and math.isfinite(float(field))
    except ValueError:
        return False


def as_names(argument: str, values: Any) -> Array:
    """Return identifiers as nonnegative 64-bit integers, or as strings (larger integers too).

    >>> as_names("users", [1.0, 2.0]), as_names("users", ["ann", "bob"])
    (array([1, 2]), array(['ann', 'bob'], dtype='<U3'))
    """
    names = np.asarray(values)
    if names.dtype.kind == "f" and isinstance(values, (list, tuple)):
        names = np.array(values, dtype=object)  # NumPy turns lists with 64-bit integers into floats
    if names.ndim != 1:
        raise InvalidInput(argument, "a list of identifiers", f"shape {names.shape}")
    if names.dtype.kind == "O":
        names = _homogenize(argument, names)
    if names.dtype.kind in "US":
        return names.astype(np.str_)
    if names.dtype.kind not in "iuf":
        raise InvalidInput(argument, "integers or strings", f"dtype {names.dtype}")
    if names.dtype.kind == "f":
        names = _to_integers(argument, names)
    if names.size and names.min() < 0:
        raise InvalidInput(argument, "nonnegative identifiers", str(names.min()))
    return names.astype(np.str_ if names.size and names.max() > LARGEST_ID else np.int64, copy=False)


def _to_integers(argument: str, names: Array) -> Array:
    """Return floats as integers."""
    missing = np.isnan(names)
    if missing.any():
        raise InvalidInput(argument, "a name for every rating", f"none at position {int(missing.argmax())}")
    if np.any(np.abs(names) > LARGEST_ID // 2) or np.any(names != np.floor(names)):
        raise InvalidInput(argument, "integers or strings", "numbers that are not integers, or too large for floats")
    return names.astype(np.int64)


def _homogenize(argument: str, names: Array) -> Array:
    """Return an array of Python objects as strings, integers or floats, never a mixture; large integers as strings."""
    values: list[Any] = names.tolist()
    missing = [position for position, name in enumerate(values) if _is_missing(name)]
    if missing:
        raise InvalidInput(argument, "a name for every rating", f"none at position {missing[0]}")
    if all(isinstance(name, str) for name in values):
        return names.astype(np.str_)
    if all(isinstance(name, Real) and not isinstance(name, bool) for name in values):
        if not all(isinstance(name, Integral) for name in values):
            return names.astype(np.float64)
        large = max(values) > LARGEST_ID or min(values) < -LARGEST_ID
        return np.array([str(name) for name in values]) if large else names.astype(np.int64)
    found = ", ".join(sorted({type(name).__name__ for name in values}))
    raise InvalidInput(argument, "integers or strings, not both", found)


def _is_missing(name: Any) -> bool:
    """Whether a name is None, NaN, NaT or pandas.NA, which is not even equal to itself."""
    return name is None or type(name).__name__ in ("NAType", "NaTType") or bool(name != name)


_SEPARATORS = ("::", "\t", ";", ",", "|")
_SAMPLE = 1000
"""Number of lines from which the layout is detected."""
_MISSING = ("nan", "na", "none", "null")
_MARKET = "%%matrixmarket"
"""Beginning of a Matrix Market file, whose second line of numbers has the sizes."""
_TITLES_GROWTH = 32.0
"""Bytes of the strings and lists of titles per byte of their text."""
_REMEDY = "rename or choose them (columns, --columns)"
_PARQUET_ROWS, _ROW_BYTES = 1 << 16, 200
"""Rows of a parquet file read at a time, and bytes of a row of strings as objects."""


@dataclass(frozen=True)
class RatingsLayout:
    """Layout of a file of ratings."""

    separator: str | None
    """Separator of fields; None for any white space."""
    header: bool
    """Whether the first line has names."""
    columns: tuple[int, ...]
    """Places of user, item and rating."""
    texts: tuple[bool, bool]
    """Whether users, and items, are texts."""


def detect_layout(path: Path, stream: Iterable[str], names: Mapping[str, str] | None = None) -> RatingsLayout:
    """Detect the layout from the first nonblank lines; ``names`` are those of the columns, where they are given."""
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
    header = bool(names) or match_column_names(fields) is not None or not any(is_number(field) for field in fields)
    columns = find_columns(fields, names) if names else choose_columns(fields) if header else (0, 1, 2)
    if columns is None:
        expected = ", ".join(names.values()) if names else "user, item and rating"
        raise FileFormatError(str(path), f"columns {expected} expected, got {first[:60]!r}", 1)
    if header and not names:
        warn_of_positions(fields, columns, _REMEDY)
    rows = [_split(line, separator) for line in lines[int(header) :]]
    users, items = ([row[place].strip() for row in rows if place < len(row)] for place in columns[:2])
    return RatingsLayout(separator, header, columns, (_are_texts(users), _are_texts(items)))


def _are_texts(fields: list[str]) -> bool:
    """Whether identifiers are texts: the first one is, or two are, or one begins with a needless zero.

    A single text among numbers is an error, reported with its line.
    """
    texts = [_is_text(field) for field in fields]
    return texts[:1] == [True] or sum(texts) >= 2 or any(re.match(r"0\d", field) for field in fields)


def _is_text(field: str) -> bool:
    return bool(field) and not is_number(field) and field.lower() not in _MISSING


def parse_numbers(stream: Iterable[str], layout: RatingsLayout) -> tuple[Array, Array, FloatArray] | None:
    """Return users, items and ratings of lines whose identifiers are all integers; None if anything is wrong."""
    if any(layout.texts):
        return None
    separator = "\t" if layout.separator == "::" else layout.separator
    kinds: Any = [("user", np.int64), ("item", np.int64), ("rating", np.float64)]
    how: Any = {"delimiter": separator, "usecols": layout.columns, "comments": None, "ndmin": 1}
    lines: Iterator[str] = (line for line in stream if line.strip())
    if layout.separator == "::":
        lines = (line.replace("::", "\t") for line in lines)
    if layout.header:
        next(lines, None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about no lines at all
            warnings.simplefilter("error", DeprecationWarning)  # NumPy before 2.0 would round 10.5 to an integer
            table: Any = np.loadtxt(lines, kinds, **how)
    except (ValueError, OverflowError, DeprecationWarning):
        return None
    users, items, ratings = (np.ascontiguousarray(table[name]) for name in ("user", "item", "rating"))
    fine = not users.size or (users.min() >= 0 and items.min() >= 0 and np.isfinite(ratings).all())
    return (users, items, ratings) if fine else None


def _read_lines(path: Path, stream: Iterable[str], layout: RatingsLayout) -> tuple[Array, Array, FloatArray]:
    """Read line by line: identifiers may be texts, and errors name the line."""
    users, items, ratings = list[Any](), list[Any](), list[float]()
    skip = layout.header
    for number, fields in _rows(stream, layout.separator):
        if skip:
            skip = False
            continue
        if len(fields) <= max(layout.columns):
            _refuse(path, number, f"{max(layout.columns) + 1} fields expected (user, item, rating)", ", ".join(fields))
        user, item, rating = (fields[place].strip() for place in layout.columns)
        users.append(_identifier(path, number, "user", user, layout.texts[0]))
        items.append(_identifier(path, number, "item", item, layout.texts[1]))
        if not is_number(rating):
            _refuse(path, number, "the rating must be a number", rating)
        ratings.append(float(rating))
    if not ratings:
        raise FileFormatError(str(path), "no ratings")
    return _identifier_array(path, users), _identifier_array(path, items), np.array(ratings, np.float64)


def _identifier_array(path: Path, values: list[Any]) -> Array:
    """Return texts, or integers; integers of more than 64 bits are texts too."""
    if isinstance(values[0], int) and max(values) > LARGEST_ID:
        values = [str(value) for value in values]
    if isinstance(values[0], str):
        longest = max(map(len, values))
        require_room(str(path), 4.0 * longest * len(values), f"an identifier of {longest} characters")
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
    if not is_number(field) or not float(field).is_integer():
        _refuse(path, number, f"the {name} must be an integer not below 0", field)
    try:
        value = int(field)
    except ValueError:
        value = int(float(field))
    if value < 0:
        _refuse(path, number, f"the {name} must not be negative", field)
    return value


def _refuse(path: Path, number: int, problem: str, got: Any) -> NoReturn:
    raise FileFormatError(str(path), f"{problem}, got {str(got)[:60]!r}", number)


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None or separator == "::":
        return line.strip().split(separator)
    return next(csv.reader([line], delimiter=separator))


@contextmanager
def open_lines(source: Source, limits: Limits | None = None, *, is_checked: bool = False) -> Generator[Iterable[str]]:
    """Open the lines of a text file; ``is_checked`` where the limits of a compressed file have been checked before."""
    with open_bounded(source, limits, LINE_LIMIT, is_checked=is_checked) as (stream, _):
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def _read_text(path: Path, names: Mapping[str, str] | None, limits: Limits | None) -> tuple[Array, Array, FloatArray]:
    """Read a text file: all at once where it has numbers alone, else line by line."""
    text: bytes | None = None
    if path.is_fifo() or path.is_char_device():  # can be read only once
        text = read_bounded(path, limits, line_limit=LINE_LIMIT)

    def source() -> Source:
        return path if text is None else io.BytesIO(text)

    with open_lines(source(), limits) as lines:
        layout = detect_layout(path, lines, names)
    with open_lines(source(), limits, is_checked=True) as lines:
        numbers = parse_numbers(lines, layout)
    if numbers is not None and numbers[0].size:
        return numbers
    with open_lines(source(), limits, is_checked=True) as lines:
        return _read_lines(path, lines, layout)


@dataclass(frozen=True)
class Ratings:
    """Ratings as three arrays of one length.

    Parameters
    ----------
    users
        Who rated: integers or texts.
    items
        What was rated: integers or texts.
    values
        The ratings.

    See Also
    --------
    read_ratings, unipd.apps.completion.as_ratings

    Examples
    --------
    >>> len(Ratings(np.array([1, 1]), np.array([7, 8]), np.array([3.0, 5.0])))
    2
    """

    users: Array
    items: Array
    values: FloatArray

    def __len__(self) -> int:
        return int(self.values.size)

    def where(self, chosen: Array) -> Ratings:
        """Return the ratings at the places (or of the mask) chosen."""
        return Ratings(self.users[chosen], self.items[chosen], self.values[chosen])


@dataclass(frozen=True)
class Shard(Ratings):
    """The ratings on one rank: all those of its users, a contiguous range of the sorted names."""

    all_users: Array
    """Names of the users on all ranks, sorted."""
    all_items: Array
    """Names of the items on all ranks, sorted."""


def read_ratings(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, *, limits: Limits | None = None
) -> Ratings:
    r"""Read a file of ratings; a malformed line raises :class:`~unipd.errors.FileFormatError` with its number.

    Text files have one rating per line: user, item, rating and whatever follows, separated by tabs, commas,
    semicolons, ``::`` or spaces (found from the first line), with or without a line of column names. Names such as
    ``userId``, ``movie_title`` or ``my_rating`` choose the columns, or ``columns`` does: {"user": name, "item": name,
    "rating": name}. Otherwise they are the first three, and a warning says so where there are names. Identifiers are
    integers not below 0, or texts: when the first one is no number, when of the first thousand lines two have such ones
    or one begins with a needless zero (as ISBN do), and when one has more than 64 bits. Files compressed with gzip are
    decompressed, and .parquet files are read with pyarrow. ``limits`` (:class:`~unipd.io.Limits`) are those beyond
    which a file is refused.

    Parameters
    ----------
    path
        Path of the file, compressed with gzip or not.
    columns
        Names of the columns of users, items and ratings where they are not recognised.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    Ratings

    Raises
    ------
    FileFormatError
        If a line is malformed; the message has its number.
    InvalidInput
        If ``columns`` are not three names of the file.

    See Also
    --------
    Ratings, read_titles, unipd.MatrixCompletion

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
    if columns is not None and set(columns) != set(ROLES):
        raise InvalidInput("columns", "names for user, item and rating", ", ".join(columns) or "none")
    if target.suffix.lower() in (".parquet", ".pq"):
        return Ratings(*_read_parquet(target, columns))
    try:
        return Ratings(*_read_text(target, columns, limits))
    except UnicodeDecodeError as error:
        raise FileFormatError(str(path), "not a text file (UTF-8)") from error
    except csv.Error as error:
        raise FileFormatError(str(path), f"not a table ({error}); is a quotation mark never closed?") from error


def _read_parquet(path: Path, given: Mapping[str, str] | None) -> tuple[Array, Array, FloatArray]:
    parquet = import_extra("pyarrow.parquet", "data", "a parquet file")
    with open(path, "rb") as stream:
        try:
            table = _read_table(parquet.ParquetFile(stream, pre_buffer=False), str(path))
            names = [str(name) for name in table.column_names]
            places = (find_columns(names, given) if given else choose_columns(names)) or ()
            columns = [np.asarray(table.column(place).to_numpy()) for place in places]
        except UnipdError:
            raise
        except Exception as error:  # pyarrow has many kinds of its own
            reason = clean_line(str(error).partition("\n")[0])
            raise FileFormatError(str(path), f"not a parquet file ({reason})") from error
    if not columns:
        wanted = ", ".join(given.values()) if given else "user, item, rating"
        raise FileFormatError(str(path), f"no columns named like {wanted}, but {', '.join(names)}")
    if not given:
        warn_of_positions(names, places, _REMEDY)
    return check_columns(str(path), *columns)


def _read_table(file: Any, name: str) -> Any:
    """Return the table of a parquet file, read in parts: a short file may hold very many rows."""
    import pyarrow

    parts: list[Any] = []
    held = 0
    for part in file.iter_batches(_PARQUET_ROWS, use_threads=False):
        parts.append(part)
        held += part.nbytes + _ROW_BYTES * part.num_rows
        require_room(name, held)
    return pyarrow.Table.from_batches(parts, schema=file.schema_arrow)


def check_columns(source: str, users: Array, items: Array, values: Array) -> tuple[Array, Array, FloatArray]:
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
    try:
        return as_names("users", users), as_names("items", items), numbers
    except InvalidInput as error:
        raise FileFormatError(source, str(error)) from error


def read_pairs(
    path: str | os.PathLike[str], is_known: Callable[[list[str]], bool] = lambda pair: False
) -> tuple[Array, Array]:
    r"""Read pairs (user, item), one per line: the columns of these names, or the first two; others are ignored.

    A first line without numbers is a header, unless ``is_known`` says that it is a pair; where the names in it say
    nothing, there is a warning.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "pairs.csv")
    ...     _ = file.write_text("item,user\n10,ann\n12,bob\n")
    ...     read_pairs(file)
    (array(['ann', 'bob'], dtype='<U3'), array([10, 12]))
    """
    target = Path(path)
    try:
        with open_lines(target) as stream:
            first = next((line.strip("\r\n") for line in stream if line.strip()), "")
        separator = next((mark for mark in _SEPARATORS if len(_split(first, mark)) >= 2), None)
        names = _split(first, separator)
        named = match_column_names([*names, "rating"])
        columns = (0, 1) if named is None else named[:2]
        has_header = named is not None or not any(is_number(name) for name in names)
        if has_header and len(names) >= len(columns):
            has_header = not is_known([names[place].strip() for place in columns])
            if has_header and named is None:
                warn_of_positions(names, columns)
        with open_lines(target, is_checked=True) as stream:
            rows = [(number, fields) for number, fields in _rows(stream, separator)][int(has_header) :]
    except UnicodeDecodeError as error:
        raise FileFormatError(str(path), "not a text file (UTF-8)") from error
    except csv.Error as error:
        raise FileFormatError(str(path), f"not a table ({error})") from error
    if not rows:
        raise FileFormatError(str(path), "no pairs")
    for number, fields in rows:
        if len(fields) <= max(columns):
            _refuse(target, number, "a user and an item expected", ", ".join(fields))
    found: list[Array] = []
    for role, place in zip(ROLES, columns, strict=False):
        values = [fields[place].strip() for _, fields in rows]
        is_text = _are_texts(values)
        numbered = zip(rows, values, strict=True)
        names = [_identifier(target, row[0], role, name, is_text) for row, name in numbered]
        found.append(_identifier_array(target, names))
    return found[0], found[1]


def read_titles(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Return the titles by item, as strings; fields after the second are ignored.

    Of an item that occurs twice the first title counts. Texts are UTF-8, or else Latin-1 as in u.item.

    Parameters
    ----------
    path
        Path of the file.

    Raises
    ------
    FileFormatError
        If a line has fewer than two fields, or is not part of a table.

    See Also
    --------
    read_ratings

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "u.item")
    ...     _ = file.write_bytes("1|Toy Story (1995)|01-Jan-1995\n2|Les Misérables (1995)|\n".encode("latin-1"))
    ...     read_titles(file)
    {'1': 'Toy Story (1995)', '2': 'Les Misérables (1995)'}
    """
    lines = re.split(r"\r\n|\r|\n", _decode(Path(path)))  # Latin-1 has other ends of lines, which titles may contain
    first = next((line for line in lines if line.strip()), "")
    separator = min((mark for mark in _SEPARATORS if mark in first), key=first.index, default=None)
    if separator is None:
        raise FileFormatError(str(path), f"an item and its title expected, got {first[:60]!r}", 1)
    titles: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = _split(line, separator)
        except csv.Error as error:
            raise FileFormatError(str(path), f"not a table ({error})", number) from error
        if len(fields) < 2:
            raise FileFormatError(str(path), f"an item and its title expected, got {line[:60]!r}", number)
        is_header = line == first and match_column_names(["user", fields[0], "rating"]) is not None
        if not is_header:
            titles.setdefault(fields[0].strip(), fields[1].strip())
    return titles


def _decode(path: Path) -> str:
    content = read_bounded(path, growth=_TITLES_GROWTH)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
