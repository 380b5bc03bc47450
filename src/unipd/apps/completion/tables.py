"""Ratings and pairs in DataFrames: one a row, or users by items as from ``pivot``."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.io.ratings_columns import chosen_columns, known_columns, none_known

_EXPECTED = (
    "a table with columns user, item and rating, or users as its index and items as its columns "
    "(set_index, or read_csv with index_col=0), numbers with NaN between"
)


def table_columns(table: Any) -> tuple[Array, Array, Array]:
    """Return users, items and ratings of a table."""
    if _is_wide(table):
        return _unfolded(table)
    names = [str(name) for name in table.columns]
    places = chosen_columns(names)
    if places is None or (known_columns(names) is None and _have_gaps(table, places)):
        raise InvalidInput("X", _EXPECTED, f"columns {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")
    users, items, values = (np.asarray(table.iloc[:, place]) for place in places)
    return users, items, values


def pair_columns(table: Any) -> tuple[int, int]:
    """Return the places of the user and the item in a table of pairs."""
    names = [str(name) for name in table.columns]
    places = known_columns([*names, "rating"])
    if places is not None:
        return places[0], places[1]
    if len(names) < 2:
        raise InvalidInput("X", "a table with columns user and item", f"columns {', '.join(names)}")
    return 0, 1


def _is_wide(table: Any) -> bool:
    """Whether the columns are items.

    They have a name together and are not called user, item and rating; or they are numbers with NaN, none of which is
    called one of these, and which cannot be identifiers and ratings.
    """
    names = [str(name) for name in table.columns]
    if known_columns(names) is not None:
        return False
    if table.columns.name is not None:
        return True
    places = chosen_columns(names)
    if not none_known(names) or not all(kind.kind in "iuf" for kind in table.dtypes):
        return False
    gaps = table.isna().to_numpy()
    if not gaps.any():
        return False
    numbered = len(names) > 3 and all(isinstance(name, (int, np.integer)) for name in table.columns)
    return numbered or places is None or gaps[:, :2].any() or (len(names) > 3 and gaps[:, 2].any())


def _have_gaps(table: Any, places: tuple[int, ...]) -> bool:
    """Whether one of the columns has reals with NaN."""
    columns = [table.iloc[:, place] for place in places]
    return any(getattr(column.dtype, "kind", "O") == "f" and column.isna().any() for column in columns)


def _unfolded(table: Any) -> tuple[Array, Array, Array]:
    try:
        matrix = table.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidInput("X", "numbers in a table with items as columns", str(error)) from error
    rows, columns = np.nonzero(~np.isnan(matrix))
    return np.asarray(table.index)[rows], np.asarray(table.columns)[columns], matrix[rows, columns]
