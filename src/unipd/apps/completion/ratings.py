"""Ratings as users pass them (sparse matrices, triples, tables, arrays with NaN), indexed by row and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import distinct
from unipd._util.context import current_communicator
from unipd.errors import InvalidInput
from unipd.io.ratings import (
    LARGEST_ID,
    Ratings,
    Shard,
    as_names,
    choose_columns,
    has_no_column_name,
    match_column_names,
    warn_of_positions,
)

_ROWS = "rows of numbers, all of one length"

_EXPECTED_TABLE = (
    "a table with columns user, item and rating, or users as its index and items as its columns "
    "(set_index, or read_csv with index_col=0), numbers with NaN between"
)
_FORMS = "a sparse matrix, (users, items, ratings), triples, a table, an array with NaN, or pairs with ratings y"


class Index:
    """Sorted distinct names and their positions; -1 for an unknown name.

    Parameters
    ----------
    names
        The names, in any order, repeated or not.

    See Also
    --------
    index_ratings

    Examples
    --------
    >>> index = Index(np.array([30, 10, 30]))
    >>> index.names, index.positions([10, 20, 30])
    (array([10, 30]), array([ 0, -1,  1]))
    """

    def __init__(self, names: Any) -> None:
        self.names: Array = distinct(np.asarray(names))

    def __len__(self) -> int:
        return int(self.names.size)

    def positions(self, names: Any) -> IntArray:
        """Return the position of every name, -1 for unknown ones."""
        wanted = self._convert_names(np.asarray(names))
        nearest = np.searchsorted(self.names, wanted)
        np.minimum(nearest, self.names.size - 1, out=nearest)
        nearest[self.names[nearest] != wanted] = -1
        return nearest

    def union(self, *others: Any) -> Index:
        """Return the index of these names and of others; None stands for no names."""
        joined = [self.names]
        for names in others:
            more = self._convert_names(np.asarray(names if names is not None else self.names[:0]))
            if more.size and self.names.dtype.kind != "U" and more.min() < 0:
                got = repr(str(np.asarray(names)[more.argmin()]))
                raise InvalidInput("ids", "integers, like the earlier ones", got)
            joined.append(more)
        return Index(np.concatenate(joined))

    def _convert_names(self, names: Array) -> Array:
        """Return names in the type of this index: strings of digits as integers, or everything as strings."""
        if names.dtype.kind == self.names.dtype.kind:
            return names
        if self.names.dtype.kind == "U":
            return names.astype(np.str_)
        plain = as_names("ids", names)
        if plain.dtype.kind != "U":
            return plain
        numbers = (int(name) if name.isdecimal() else -1 for name in plain.tolist())
        return np.array([number if number <= LARGEST_ID else -1 for number in numbers], np.int64)


def table_columns(table: Any) -> tuple[Array, Array, Array]:
    """Return users, items and ratings of a table."""
    names = [str(name) for name in table.columns]
    places, has_names = choose_columns(names), match_column_names(names) is not None
    if not has_names and _is_wide(table, names, places):
        return _unpivot(table)
    if places is None or (not has_names and _have_gaps(table, places)):
        raise InvalidInput("X", _EXPECTED_TABLE, f"columns {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")
    warn_of_positions(names, places)
    users, items, values = (np.asarray(table.iloc[:, place]) for place in places)
    return users, items, values


def pair_columns(table: Any) -> tuple[int, int]:
    """Return the positions of user and item among the columns of a table of pairs."""
    names = [str(name) for name in table.columns]
    places = match_column_names([*names, "rating"])
    if places is not None:
        return places[0], places[1]
    if len(names) < 2:
        raise InvalidInput("X", "a table with columns user and item", f"columns {', '.join(names)}")
    return 0, 1


def _is_wide(table: Any, names: list[str], places: tuple[int, ...] | None) -> bool:
    """Whether columns that are not called user, item and rating are items, as from ``pivot``.

    They are if they have a common name, or if they are numeric with NaN and cannot be identifiers and ratings.
    """
    if table.columns.name is not None:
        return True
    if not has_no_column_name(names) or not all(kind.kind in "iuf" for kind in table.dtypes):
        return False
    gaps = table.isna().to_numpy()
    if not gaps.any():
        return False
    numbered = len(names) > 3 and all(isinstance(name, (int, np.integer)) for name in table.columns)
    return numbered or places is None or gaps[:, :2].any() or (len(names) > 3 and gaps[:, 2].any())


def _have_gaps(table: Any, places: tuple[int, ...]) -> bool:
    """Whether one of the columns has floats with NaN."""
    columns = [table.iloc[:, place] for place in places]
    return any(column.dtype.kind == "f" and column.isna().any() for column in columns)


def _unpivot(table: Any) -> tuple[Array, Array, Array]:
    try:
        matrix = table.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidInput("X", "numbers in a table with items as columns", str(error)) from error
    rows, columns = np.nonzero(~np.isnan(matrix))
    return np.asarray(table.index)[rows], np.asarray(table.columns)[columns], matrix[rows, columns]


def as_ratings(X: Any, y: Any = None) -> Ratings:
    """Return the ratings in ``X``, in the order given.

    - with ``y``: ``X`` holds pairs (user, item), one per row, and ``y`` their ratings;
    - a SciPy sparse matrix: the entries stored, explicit zeros included; SciPy adds up duplicates;
    - a tuple (users, items, ratings), or :class:`~unipd.io.ratings.Ratings`;
    - triples (user, item, rating), one per row: a list of tuples, or an array with three columns, no NaN, and integers
      from 0 in the first two;
    - a DataFrame with columns named like user, item and rating, or with these as its first three;
    - a DataFrame as from ``pivot``: users in its index, items in its columns, NaN for missing ratings;
    - a matrix as an array: NaN and masked entries are missing. Two columns of integers without NaN are refused as
      pairs without ``y``.

    Parameters
    ----------
    X
        The ratings, or pairs (user, item) if ``y`` is given.
    y
        The ratings of these pairs.

    Raises
    ------
    InvalidInput
        If the form is none of these, there is no rating, a rating is not a finite number (of at most 1e100), or a user
        or item is missing, negative, or neither an integer nor a string.

    See Also
    --------
    as_pairs, index_ratings, unipd.io.read_ratings

    Examples
    --------
    >>> as_ratings(np.array([[1.0, np.nan], [np.nan, 4.0]])).items
    array([0, 1])
    """
    if y is not None:
        users, items = as_pairs(X)
        return _build_ratings(users, items, y)
    if isinstance(X, Ratings):
        return _build_ratings(X.users, X.items, X.values)
    if sp.issparse(X):
        matrix: Any = X.tocsr(copy=True)
        matrix.sum_duplicates()
        entries = matrix.tocoo()
        return _build_ratings(entries.row, entries.col, entries.data)
    if hasattr(X, "iloc"):
        return _build_ratings(*table_columns(X))
    if _is_three_columns(X):
        return _build_ratings(*X)
    if _is_incomplete(X):
        raise InvalidInput("X", f"ratings y with pairs; {_FORMS}", f"{len(X)} columns without ratings")
    if isinstance(X, list) and X and all(isinstance(row, tuple) and len(row) == 3 for row in X):
        return _build_ratings(*(list(column) for column in zip(*X, strict=True)))
    return _from_array(X)


def _is_three_columns(X: Any) -> bool:
    """Whether X is (users, items, ratings); a list of three arrays only if the first two are not floats."""
    if not isinstance(X, (tuple, list)) or len(X) != 3 or any(np.ndim(part) != 1 for part in X):
        return False
    return isinstance(X, tuple) or all(hasattr(part, "dtype") and np.asarray(part).dtype.kind != "f" for part in X[:2])


def _is_incomplete(X: Any) -> bool:
    """Whether X is fewer than three columns, some of them identifiers: what slicing (users, items, ratings) leaves."""
    if not isinstance(X, (tuple, list)) or not 1 <= len(X) <= 2 or any(np.ndim(part) != 1 for part in X):
        return False
    are_columns = isinstance(X, tuple) or all(hasattr(part, "dtype") for part in X)
    return are_columns and any(np.asarray(part).dtype.kind != "f" for part in X)


def as_pairs(X: Any) -> tuple[Array, Array]:
    """Return (users, items) of pairs: rows of an array, a DataFrame, a list of pairs or two arrays.

    Parameters
    ----------
    X
        The pairs.

    Raises
    ------
    InvalidInput
        If they are not pairs, or a user or item is missing, negative, or neither an integer nor a string (a mixture of
        both is refused, too).

    See Also
    --------
    as_ratings

    Examples
    --------
    >>> as_pairs([(1, 5), (2, 5)])
    (array([1, 2]), array([5, 5]))
    """
    if isinstance(X, Ratings):
        return as_names("users", X.users), as_names("items", X.items)
    if hasattr(X, "iloc"):
        users, items = (np.asarray(X.iloc[:, place]) for place in pair_columns(X))
    elif isinstance(X, tuple) and len(X) == 2 and all(np.ndim(part) == 1 for part in X):
        users, items = (np.asarray(part) for part in X)
    else:
        table = X if isinstance(X, np.ndarray) else _pair_rows(X)
        table = table.reshape(0, 2) if table.size == 0 else table
        if table.ndim != 2 or table.shape[1] != 2:
            raise InvalidInput("X", "pairs (user, item), one per row", f"shape {table.shape}")
        users, items = table[:, 0], table[:, 1]
    if users.shape != items.shape:
        raise InvalidInput("X", "as many items as users", f"{users.size} users and {items.size} items")
    return as_names("users", users), as_names("items", items)


def _pair_rows(X: Any) -> Array:
    """Return rows of pairs as an array that preserves the types of users and items."""
    try:
        table = np.asarray(X)
    except ValueError as error:
        raise InvalidInput("X", "pairs (user, item), one per row", str(error)) from error
    if table.dtype.kind not in "US":
        return table
    return np.array([tuple(row) for row in X], dtype=object)


def _build_ratings(users: Any, items: Any, values: Any) -> Ratings:
    who, what = as_names("users", users), as_names("items", items)
    values = np.asarray(values)
    values = as_floats("ratings", values, "numbers") if values.dtype.kind == "O" else values
    ratings = validate.real_array("ratings", values, ndim=1).astype(np.float64, copy=False)
    if not who.size == what.size == ratings.size:
        sizes = f"{who.size} users, {what.size} items, {ratings.size} ratings"
        raise InvalidInput("ratings", "a user and an item for every rating", sizes)
    if ratings.size == 0:
        raise InvalidInput("ratings", "at least one rating", "none")
    if np.abs(ratings).max() > validate.LARGEST_ENTRY:
        raise InvalidInput(
            "ratings", f"numbers up to {validate.LARGEST_ENTRY:g}", f"{ratings[np.abs(ratings).argmax()]:g}"
        )
    return Ratings(who, what, ratings)


def as_floats(argument: str, values: Any, expected: str) -> FloatArray:
    """Return values as floating-point numbers, or raise.

    >>> as_floats("ratings", [1, 2], "numbers")
    array([1., 2.])
    """
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(argument, expected, str(error)) from error


def _from_array(X: Any) -> Ratings:
    try:
        matrix: FloatArray = np.ma.filled(np.ma.asarray(X, dtype=np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidInput("X", _FORMS, type(X).__name__) from error
    if matrix.ndim != 2:
        raise InvalidInput("X", _FORMS, f"shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise InvalidInput("X", "finite numbers, NaN for missing ratings", "inf")
    if matrix.shape[1] == 2 and np.asarray(X).dtype.kind in "iu" and not np.isnan(matrix).any():
        expected = "ratings y with pairs (user, item), or a float matrix (X.astype(float)) with one column per item"
        raise InvalidInput("X", expected, f"{len(matrix)} rows of two integers without y")
    if matrix.shape[1] == 3 and _has_names(matrix):
        users, items, _ = np.asarray(X).T
        return _build_ratings(users, items, matrix[:, 2])
    rows, columns = np.nonzero(~np.isnan(matrix))
    return _build_ratings(rows, columns, matrix[rows, columns])


def _has_names(matrix: FloatArray) -> bool:
    """Whether nothing is missing and the first two columns can be identifiers."""
    names = matrix[:, :2]
    return not np.isnan(matrix).any() and bool(np.all((names >= 0) & (names == np.floor(names))))


def join_ratings(first: Ratings, second: Ratings) -> Ratings:
    """Return both; identifiers of different types become strings."""
    users, items = (np.concatenate(pair) for pair in ((first.users, second.users), (first.items, second.items)))
    return Ratings(users, items, np.concatenate([first.values, second.values]))


@dataclass(frozen=True, eq=False)
class IndexedRatings:
    """Ratings with row and column: one per pair, sorted by user and item (under MPI those of this rank)."""

    users: Index
    items: Index
    rows: IntArray
    columns: IntArray
    values: FloatArray
    repeated: int = 0
    """Number of ratings that another rating of the same pair replaced, or was averaged with."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return len(self.users), len(self.items)

    def where(self, chosen: Any) -> IndexedRatings:
        """Return the ratings of a mask or slice."""
        return replace(self, rows=self.rows[chosen], columns=self.columns[chosen], values=self.values[chosen])

    def ratings(self) -> Ratings:
        """Return the ratings with names of users and items."""
        return Ratings(self.users.names[self.rows], self.items.names[self.columns], self.values)


def index_ratings(
    ratings: Ratings, users: Index | None = None, items: Index | None = None, duplicates: str = "last"
) -> IndexedRatings:
    """Index ratings by row and column, one per pair.

    Parameters
    ----------
    ratings
        The ratings.
    users, items
        The names, by default those of the ratings.
    duplicates
        What counts of several ratings of one pair: the "last", their "mean" or "sum", or an "error" is raised.

    Returns
    -------
    IndexedRatings

    Raises
    ------
    InvalidInput
        ``ratings``: expected one rating per pair, or duplicates="last" or "mean".

    See Also
    --------
    Index, as_ratings

    Examples
    --------
    >>> twice = Ratings(np.array([7, 7]), np.array([3, 3]), np.array([1.0, 5.0]))
    >>> index_ratings(twice).values, index_ratings(twice, duplicates="mean").values
    (array([5.]), array([3.]))
    """
    users = Index(ratings.users) if users is None else users
    items = Index(ratings.items) if items is None else items
    rows, columns = (
        index.positions(names).astype(np.int32) for index, names in ((users, ratings.users), (items, ratings.items))
    )
    pairs = rows * np.int64(len(items)) + columns
    order = np.argsort(pairs, kind="stable")  # the last rating of a pair stays the last
    pairs = pairs[order]
    is_last = np.ones(order.size, np.bool_)
    is_last[:-1] = pairs[1:] != pairs[:-1]
    del pairs
    last, repeated = order[is_last], int(np.sum(~is_last))
    if repeated and duplicates == "error":
        k = int(order[np.argmin(is_last)])
        which = f"user {ratings.users[k]}, item {ratings.items[k]}"
        raise InvalidInput("ratings", 'one rating per pair, or duplicates="last" or "mean"', f"several of {which}")
    values = ratings.values[last]
    if repeated and duplicates in ("mean", "sum"):
        ends = np.flatnonzero(is_last)
        counts = np.diff(ends, prepend=-1)
        values = np.add.reduceat(ratings.values[order], ends - counts + 1)
        values = values / counts if duplicates == "mean" else values
    return IndexedRatings(users, items, rows[last], columns[last], values, repeated)


def index_local_ratings(
    ratings: Ratings, duplicates: str = "last", users: Any = None, items: Any = None
) -> IndexedRatings:
    """Index the ratings of this rank, from its shard or from ratings that every rank has.

    ``users`` and ``items`` are further names, which have no ratings.
    """
    group, is_shard = current_communicator(), isinstance(ratings, Shard)
    own = (ratings.all_users, ratings.all_items) if isinstance(ratings, Shard) else (ratings.users, ratings.items)
    data = index_ratings(ratings, Index(own[0]).union(users), Index(own[1]).union(items), duplicates)
    if is_shard:
        return replace(data, repeated=int(group.allreduce(np.array([data.repeated]))[0]))
    if group.size == 1:
        return data
    cuts = np.arange(group.size + 1) * data.rows.size // group.size
    edges = np.append(np.searchsorted(data.rows, data.rows[cuts[:-1]]), data.rows.size)
    return data.where(slice(int(edges[group.rank]), int(edges[group.rank + 1])))


@dataclass(frozen=True, eq=False)
class NamedFeatures:
    """Features read from a file: row k of the matrix, dense or sparse, belongs to the k-th name."""

    names: Array
    matrix: Any


def are_pairs(X: Any) -> bool:
    """Whether X has two columns of identifiers.

    >>> are_pairs([("ann", "alien")]), are_pairs([("ann", "alien", 4.0)])
    (True, False)
    """
    if hasattr(X, "iloc"):
        names = [str(name) for name in X.columns]
        return match_column_names(names) is None and match_column_names([*names, "rating"]) is not None
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.shape[1] == 2 and X.dtype.kind in "iuUSO"
    if isinstance(X, tuple):
        return len(X) == 2 and all(np.ndim(part) == 1 for part in X)
    return isinstance(X, list) and bool(X) and all(isinstance(row, tuple) and len(row) == 2 for row in X)


def align_features(argument: str, features: Any, index: Index, *, complete: bool = True) -> Any:
    """Return the features as a matrix with one row per name of the index; rows of names without features are zero.

    Parameters
    ----------
    argument
        Name of the argument in error messages.
    features
        ``{name: numbers}``, a DataFrame indexed by name, or a matrix (dense or sparse) whose row k belongs to the
        name k.
    index
        The names.
    complete
        Whether a matrix must have a row for every name.

    Raises
    ------
    InvalidInput
        Unless the features are finite numbers in rows of one length, at most one row for every name; if a matrix lacks
        a row (``complete``), or names are strings and the features have none.

    See Also
    --------
    Index, unipd.MatrixCompletion

    Examples
    --------
    >>> align_features("user_features", {7: [1.0, 2.0]}, Index([7, 9]))
    array([[1., 2.],
           [0., 0.]])
    """
    names, matrix = _named_rows(argument, features)
    if not _are_named(features):
        if index.names.dtype.kind == "U":
            raise InvalidInput(argument, "a DataFrame or a dictionary when names are strings", type(features).__name__)
        if complete and len(index) and matrix.shape[0] <= index.names[-1]:
            expected = f"a row for every name from 0 to {index.names[-1]} (a dictionary may leave some out)"
            raise InvalidInput(argument, expected, f"{matrix.shape[0]} rows")
    known = Index(names)
    if len(known) < names.size:
        raise InvalidInput(argument, "one row for every name", f"{names.size} rows for {len(known)} names")
    order = np.argsort(names, kind="stable")
    position = known.positions(index.names)
    rows = order[np.maximum(position, 0)]
    present = (position >= 0).astype(np.float64)
    if sp.issparse(matrix):
        return sp.diags_array(present) @ matrix[rows]
    return present[:, np.newaxis] * matrix[rows].astype(np.float64)


def feature_names(argument: str, features: Any) -> Array | None:
    """Return the names that have features, rated or not; of a matrix those of its nonzero rows.

    >>> feature_names("item_features", np.array([[0.0, 0.0], [1.0, 0.0]]))
    array([1])
    """
    if features is None:
        return None
    names, matrix = _named_rows(argument, features)
    return names if _are_named(features) else names[np.asarray(abs(matrix).sum(axis=1)).ravel() > 0]


def _are_named(features: Any) -> bool:
    return isinstance(features, (Mapping, NamedFeatures)) or hasattr(features, "iloc")


def _named_rows(argument: str, features: Any) -> tuple[Array, Any]:
    """Return the names and the rows of features."""
    matrix: Any
    if isinstance(features, Mapping):
        names, matrix = as_names(argument, list(features)), as_floats(argument, list(features.values()), _ROWS)
    elif isinstance(features, NamedFeatures):
        names, matrix = as_names(argument, features.names), features.matrix
    elif hasattr(features, "iloc"):
        names, matrix = as_names(argument, features.index), as_floats(argument, features.to_numpy(), _ROWS)
    else:
        matrix = sp.csr_array(features) if sp.issparse(features) else np.asarray(features)
        names = np.arange(matrix.shape[0] if matrix.ndim == 2 else 0)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInput(argument, "a row of numbers for every name", f"shape {matrix.shape}")
    validate.real_array(argument, matrix.data if sp.issparse(matrix) else matrix)
    return names, matrix
