"""Ratings in their places: users and items as rows and columns, each member of a team with its own part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import FloatArray, IntArray
from unipd.apps.completion.indexing import Index
from unipd.io.ratings import Ratings, Shard
from unipd.team import team


@dataclass(frozen=True, eq=False)
class Data:
    """Ratings with their places: one rating for a pair, sorted by user and item."""

    users: Index
    items: Index
    rows: IntArray
    columns: IntArray
    values: FloatArray
    order: IntArray | None = None
    """Place of every rating among those given, of all members of a team; None where only parts were given."""

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return len(self.users), len(self.items)

    def ratings(self) -> Ratings:
        """Return the ratings with their names."""
        return Ratings(self.users.names[self.rows], self.items.names[self.columns], self.values)


def placed(ratings: Ratings, users: Index | None = None, items: Index | None = None) -> Data:
    """Return ratings with their places; of several ratings of one pair the last one counts.

    >>> data = placed(Ratings(np.array([7, 7]), np.array([3, 3]), np.array([1.0, 5.0])))
    >>> data.values
    array([5.])
    """
    users = Index(ratings.users) if users is None else users
    items = Index(ratings.items) if items is None else items
    rows, columns = users.places(ratings.users), items.places(ratings.items)
    pairs = rows * np.int64(len(items)) + columns
    _, last = np.unique(pairs[::-1], return_index=True)
    kept = pairs.size - 1 - last
    order = np.empty(kept.size, np.int64)
    order[np.argsort(kept)] = np.arange(kept.size)
    return Data(users, items, rows[kept], columns[kept], ratings.values[kept], order)


def placed_in_team(ratings: Ratings) -> Data:
    """Return placed ratings; in a team those of this member, from a shard or from ratings that every member has."""
    if isinstance(ratings, Shard):
        return replace(placed(ratings, Index(ratings.all_users), Index(ratings.all_items)), order=None)
    data, group = placed(ratings), team()
    if group.size == 1:
        return data
    cuts = np.arange(group.size + 1) * data.rows.size // group.size
    edges = np.append(np.searchsorted(data.rows, data.rows[cuts[:-1]]), data.rows.size)
    own = slice(int(edges[group.rank]), int(edges[group.rank + 1]))
    order = None if data.order is None else data.order[own]
    return replace(data, rows=data.rows[own], columns=data.columns[own], values=data.values[own], order=order)
