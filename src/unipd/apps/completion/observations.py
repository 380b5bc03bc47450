"""What users have, as ratings: sparse matrices, triples, tables and arrays with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.apps.completion.indexing import as_names
from unipd.apps.completion.tables import pair_columns, table_columns
from unipd.errors import InvalidInput
from unipd.io.ratings import Ratings

_FORMS = "a sparse matrix, (users, items, ratings), triples, a table, an array with NaN, or pairs with ratings y"

LARGEST_RATING = 1e100
"""Squares of larger numbers, and sums of these, may not be finite."""


def as_ratings(X: Any, y: Any = None) -> Ratings:
    """Return the ratings in ``X``, in the order given.

    - with ``y``: ``X`` holds pairs (user, item), one a row, and ``y`` their ratings;
    - a SciPy sparse matrix: the entries stored, explicit zeros included; SciPy adds up duplicates;
    - a tuple (users, items, ratings), or :class:`~unipd.io.ratings.Ratings`;
    - triples (user, item, rating), one a row: a list of tuples, or an array with three columns, no NaN, and integers
      from 0 in the first two;
    - a DataFrame with columns named like user, item and rating, or with these as its first three;
    - a DataFrame as from ``pivot``: users in its index, items in its columns, NaN for what is not known;
    - a matrix as an array: NaN, or what is masked, is not known. Two columns of integers without NaN are taken for
      pairs whose ``y`` was forgotten, and refused.

    >>> as_ratings(np.array([[1.0, np.nan], [np.nan, 4.0]])).items
    array([0, 1])
    """
    if y is not None:
        users, items = as_pairs(X)
        return _checked(users, items, y)
    if isinstance(X, Ratings):
        return _checked(X.users, X.items, X.values)
    if sp.issparse(X):
        matrix: Any = X.tocsr(copy=True)
        matrix.sum_duplicates()
        entries = matrix.tocoo()
        return _checked(entries.row, entries.col, entries.data)
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return _checked(*table_columns(X))
    if _is_three_columns(X):
        return _checked(*X)
    if isinstance(X, list) and X and all(isinstance(row, tuple) and len(row) == 3 for row in X):
        return _checked(*(list(column) for column in zip(*X, strict=True)))
    return _from_array(X)


def _is_three_columns(X: Any) -> bool:
    """Whether X is (users, items, ratings); a list of three arrays only when the first two are no reals."""
    if not isinstance(X, (tuple, list)) or len(X) != 3 or any(np.ndim(part) != 1 for part in X):
        return False
    return isinstance(X, tuple) or all(hasattr(part, "dtype") and np.asarray(part).dtype.kind != "f" for part in X[:2])


def as_pairs(X: Any) -> tuple[Array, Array]:
    """Return (users, items) of pairs: rows of an array, a DataFrame, a list of pairs or two arrays.

    >>> as_pairs([(1, 5), (2, 5)])
    (array([1, 2]), array([5, 5]))
    """
    if isinstance(X, Ratings):
        return as_names("users", X.users), as_names("items", X.items)
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        users, items = (np.asarray(X.iloc[:, place]) for place in pair_columns(X))
    elif isinstance(X, tuple) and len(X) == 2 and all(np.ndim(part) == 1 for part in X):
        users, items = (np.asarray(part) for part in X)
    else:
        table = X if isinstance(X, np.ndarray) else _table(X)
        table = table.reshape(0, 2) if table.size == 0 else table
        if table.ndim != 2 or table.shape[1] != 2:
            raise InvalidInput("X", "pairs (user, item), one a row", f"shape {table.shape}")
        users, items = table[:, 0], table[:, 1]
    if users.shape != items.shape:
        raise InvalidInput("X", "as many items as users", f"{users.size} users and {items.size} items")
    return as_names("users", users), as_names("items", items)


def _table(X: Any) -> Array:
    """Return rows of pairs as an array; users and items of different kinds stay what they are."""
    try:
        table = np.asarray(X)
    except ValueError as error:
        raise InvalidInput("X", "pairs (user, item), one a row", str(error)) from error
    if table.dtype.kind not in "US":
        return table
    return np.array([tuple(row) for row in X], dtype=object)


def _checked(users: Any, items: Any, values: Any) -> Ratings:
    who, what = as_names("users", users), as_names("items", items)
    ratings = validate.real_array("ratings", _numbers(values), ndim=1).astype(np.float64)
    if not who.size == what.size == ratings.size:
        sizes = f"{who.size} users, {what.size} items, {ratings.size} ratings"
        raise InvalidInput("ratings", "a user and an item for every rating", sizes)
    if ratings.size == 0:
        raise InvalidInput("ratings", "at least one rating", "none")
    if np.abs(ratings).max() > LARGEST_RATING:
        raise InvalidInput("ratings", f"numbers up to {LARGEST_RATING:g}", f"{ratings[np.abs(ratings).argmax()]:g}")
    return Ratings(who, what, ratings)


def _numbers(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind != "O":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("ratings", "numbers", str(error)) from error


def _from_array(X: Any) -> Ratings:
    try:
        matrix: FloatArray = np.ma.filled(np.ma.asarray(X, dtype=np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidInput("X", _FORMS, type(X).__name__) from error
    if matrix.ndim != 2:
        raise InvalidInput("X", _FORMS, f"shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise InvalidInput("X", "finite numbers, NaN for what is not known", "inf")
    if matrix.shape[1] == 2 and np.asarray(X).dtype.kind in "iu" and not np.isnan(matrix).any():
        expected = "ratings y beside pairs (user, item), or a matrix of reals (X.astype(float)) with a column an item"
        raise InvalidInput("X", expected, f"{len(matrix)} rows of two integers without y")
    if matrix.shape[1] == 3 and _has_names(matrix):
        users, items, _ = np.asarray(X).T
        return _checked(users, items, matrix[:, 2])
    rows, columns = np.nonzero(~np.isnan(matrix))
    return _checked(rows, columns, matrix[rows, columns])


def _has_names(matrix: FloatArray) -> bool:
    """Whether nothing is missing and the first two columns may be identifiers."""
    names = matrix[:, :2]
    return not np.isnan(matrix).any() and bool(np.all((names >= 0) & (names == np.floor(names))))
