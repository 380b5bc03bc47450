"""From the names of users and items to rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput


class Index:
    """Sorted distinct names; every name has a place, an unknown one -1.

    >>> index = Index(np.array([30, 10, 30]))
    >>> index.names, index.places([10, 20, 30])
    (array([10, 30]), array([ 0, -1,  1]))
    """

    def __init__(self, names: Any) -> None:
        self.names: Array = np.unique(np.asarray(names))

    def __len__(self) -> int:
        return int(self.names.size)

    def places(self, names: Any) -> IntArray:
        """Return the place of every name, -1 for those that are not there."""
        asked = np.asarray(names)
        if asked.dtype.kind != self.names.dtype.kind:
            asked = self._converted(asked)
        found = np.minimum(np.searchsorted(self.names, asked), self.names.size - 1)
        return np.where(self.names[found] == asked, found, -1)

    def joined(self, names: Any) -> Index:
        """Return the index with more names."""
        more = np.asarray(names)
        if more.dtype.kind != self.names.dtype.kind:
            more = self._converted(more)
        if more.size and self.names.dtype.kind != "U" and more.min() < 0:
            raise InvalidInput("ids", "integers, as those before are", repr(str(np.asarray(names)[more.argmin()])))
        return Index(np.concatenate([self.names, more]))

    def _converted(self, names: Array) -> Array:
        """Return names in the form of those kept: texts of digits as integers, or everything as text."""
        if self.names.dtype.kind == "U":
            return names.astype(np.str_)
        plain = as_names("ids", names)
        if plain.dtype.kind != "U":
            return plain
        return np.array([int(name) if name.isdecimal() and len(name) < 19 else -1 for name in plain.tolist()], np.int64)


def as_names(argument: str, values: Any) -> Array:
    """Return identifiers as 64-bit integers not below 0, or as texts.

    >>> as_names("users", [1.0, 2.0]), as_names("users", ["ann", "bob"])
    (array([1, 2]), array(['ann', 'bob'], dtype='<U3'))
    """
    names = np.asarray(values)
    if names.ndim != 1:
        raise InvalidInput(argument, "a list of identifiers", f"shape {names.shape}")
    if names.dtype.kind == "O":
        names = _plain(argument, names)
    if names.dtype.kind in "US":
        return names.astype(np.str_)
    if names.dtype.kind not in "iuf":
        raise InvalidInput(argument, "integers or texts", f"dtype {names.dtype}")
    numbers = names.astype(np.int64) if np.isfinite(names).all() else None
    if numbers is None or (names.dtype.kind == "f" and (numbers != names).any()):
        raise InvalidInput(argument, "integers or texts", "numbers that are not integers")
    if numbers.size and numbers.min() < 0:
        raise InvalidInput(argument, "identifiers not below 0", str(numbers.min()))
    return numbers


def _plain(argument: str, names: Array) -> Array:
    """Return an array of Python objects as texts or integers, never a mixture."""
    missing = [place for place, name in enumerate(names.tolist()) if name is None or name != name]
    if missing:
        raise InvalidInput(argument, "a name for every rating", f"none at place {missing[0]}")
    kinds = {type(name) for name in names.tolist()}
    if kinds <= {str}:
        return names.astype(np.str_)
    if kinds <= {int, float}:
        return names.astype(np.float64 if float in kinds else np.int64)
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InvalidInput(argument, "integers or texts, not both", found)
