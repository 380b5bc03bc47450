"""Columns of a table of ratings: which is the user, the item, the rating, and the identifiers in them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput

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

    >>> _last_word("my_rating"), _last_word("the movieTitle"), _last_word("r")
    ('rating', 'movie', '')
    """
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
