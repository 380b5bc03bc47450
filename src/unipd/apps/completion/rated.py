"""Which items every user has rated, in a form for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unipd._typing import IntArray
from unipd.apps.completion.placing import Data
from unipd.team import team


@dataclass(frozen=True, eq=False)
class Rated:
    """The columns of the ratings of one user after the other, and where each user's begin.

    >>> Rated(np.array([0, 1, 3]), np.array([5, 0, 2])).by(1)
    array([0, 2])
    """

    NAMES: ClassVar = ("rated_starts", "rated_columns")

    starts: IntArray
    columns: IntArray

    @classmethod
    def of(cls, data: Data) -> Rated:
        """Return what the users of all members of a team have rated."""
        counts = team().total(np.bincount(data.rows, minlength=len(data.users)))
        columns = team().joined(data.columns).astype(np.int32)
        return cls(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), columns)

    @classmethod
    def taken_from(cls, content: Mapping[str, Any]) -> Rated:
        """Return what a file says, nothing rated where it does not."""
        empty = np.zeros(1, np.int64), np.zeros(0, np.int32)
        return cls(*(np.asarray(content.get(name, none)) for name, none in zip(cls.NAMES, empty, strict=True)))

    def arrays(self) -> dict[str, Any]:
        """Return everything by name, for a file."""
        return dict(zip(self.NAMES, (self.starts, self.columns), strict=True))

    def fits(self, users: int, items: int) -> bool:
        """Whether these are columns of a model of so many users and items (or nothing at all)."""
        plain = all(part.ndim == 1 and part.dtype.kind in "iu" for part in (self.starts, self.columns))
        fits = plain and self.starts.size in (1, users + 1) and int(self.starts[-1]) == self.columns.size
        in_order = fits and int(self.starts[0]) == 0 and bool(np.all(np.diff(self.starts) >= 0))
        return in_order and bool(np.all((self.columns >= 0) & (self.columns < items)))

    def by(self, place: int) -> IntArray:
        """Return the columns of one user."""
        return self.columns[self.starts[place] : self.starts[place + 1]] if self.starts.size > 1 else self.columns
