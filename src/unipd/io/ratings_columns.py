"""Which columns of a table are the user, the item and the rating."""

from __future__ import annotations

from collections.abc import Sequence

COLUMN_NAMES = (
    ("user", "customer", "reviewer", "visitor", "member", "account", "person", "uid", "u"),
    (
        *("item", "movie", "film", "product", "book", "isbn", "asin", "iid", "i"),
        *("track", "song", "artist", "album", "game", "anime", "joke", "article", "business", "restaurant"),
    ),
    ("rating", "ratings", "bookrating", "value", "score", "stars", "overall", "r", "plays", "playcount", "weight"),
)
"""Names of the user, item and rating columns, without case, marks and an "id" at the end."""
_NUMBERING = ("", "unnamed0")
"""Names of a first column that only numbers the rows."""


def known_columns(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of user, item and rating by their names, None unless all three are there.

    >>> known_columns(["movieId", "user_id", "Rating", "timestamp"])
    (1, 0, 2)
    """
    found = tuple(place for place in _places(names) if place is not None)
    return found if len(found) == len(COLUMN_NAMES) else None


def chosen_columns(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of user, item and rating: by name, or the first three where no name speaks against that.

    None when there are fewer columns, or when the names known stand elsewhere. A first column that numbers the rows is
    passed over.

    >>> chosen_columns(["who", "what", "how much"]), chosen_columns(["time", "user", "what"])
    ((0, 1, 2), None)
    """
    named = known_columns(names)
    if named is not None:
        return named
    first = int(len(names) > len(COLUMN_NAMES) and _plain(names[0]) in _NUMBERING)
    usual = tuple(range(first, first + len(COLUMN_NAMES)))
    fits = all(place in (None, own) for place, own in zip(_places(names), usual, strict=True))
    return usual if fits and usual[-1] < len(names) else None


def none_known(names: Sequence[str]) -> bool:
    """Whether no name is one of a user, item or rating column, or of a column that numbers the rows.

    >>> none_known(["7", "9"]), none_known(["user", "7"])
    (True, False)
    """
    return all(place is None for place in _places(names)) and not any(_plain(name) in _NUMBERING for name in names[:1])


def _places(names: Sequence[str]) -> list[int | None]:
    plain = [_plain(name) for name in names]
    return [next((place for place, name in enumerate(plain) if _means(name, known)), None) for known in COLUMN_NAMES]


def _means(name: str, known: Sequence[str]) -> bool:
    return name in known or (name.endswith("id") and name[:-2] in known)


def _plain(name: str) -> str:
    return "".join(mark for mark in name.lower() if mark.isalnum())
