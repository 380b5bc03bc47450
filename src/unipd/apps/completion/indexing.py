"""From the names of users and items to rows and columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput

LARGEST = int(np.iinfo(np.int64).max)
"""Integers above are texts."""


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
        numbers = (int(name) if name.isdecimal() else -1 for name in plain.tolist())
        return np.array([number if number <= LARGEST else -1 for number in numbers], np.int64)


def as_names(argument: str, values: Any) -> Array:
    """Return identifiers as 64-bit integers not below 0, or as texts (as which larger integers are kept).

    >>> as_names("users", [1.0, 2.0]), as_names("users", ["ann", "bob"])
    (array([1, 2]), array(['ann', 'bob'], dtype='<U3'))
    """
    names = np.asarray(values)
    if names.dtype.kind == "f" and isinstance(values, (list, tuple)):
        names = np.array(values, dtype=object)  # NumPy turns lists with integers of 64 bits into reals
    if names.ndim != 1:
        raise InvalidInput(argument, "a list of identifiers", f"shape {names.shape}")
    if names.dtype.kind == "O":
        names = _plain(argument, names)
    if names.dtype.kind in "US":
        return names.astype(np.str_)
    if names.dtype.kind not in "iuf":
        raise InvalidInput(argument, "integers or texts", f"dtype {names.dtype}")
    if names.dtype.kind == "f":
        names = _whole(argument, names)
    if names.size and names.min() < 0:
        raise InvalidInput(argument, "identifiers not below 0", str(names.min()))
    return names.astype(np.str_ if names.size and names.max() > LARGEST else np.int64)


def _whole(argument: str, names: Array) -> Array:
    """Return reals as integers."""
    missing = np.isnan(names)
    if missing.any():
        raise InvalidInput(argument, "a name for every rating", f"none at place {int(missing.argmax())}")
    if np.any(np.abs(names) > LARGEST // 2) or np.any(names != np.floor(names)):
        raise InvalidInput(argument, "integers or texts", "numbers that are not integers, or too large for reals")
    return names.astype(np.int64)


def _plain(argument: str, names: Array) -> Array:
    """Return an array of Python objects as texts, integers or reals, never a mixture; large integers as texts."""
    values: list[Any] = names.tolist()
    missing = [place for place, name in enumerate(values) if _is_missing(name)]
    if missing:
        raise InvalidInput(argument, "a name for every rating", f"none at place {missing[0]}")
    if all(isinstance(name, str) for name in values):
        return names.astype(np.str_)
    if all(isinstance(name, Real) and not isinstance(name, bool) for name in values):
        if not all(isinstance(name, Integral) for name in values):
            return names.astype(np.float64)
        large = max(values) > LARGEST or min(values) < -LARGEST
        return np.array([str(name) for name in values]) if large else names.astype(np.int64)
    found = ", ".join(sorted({type(name).__name__ for name in values}))
    raise InvalidInput(argument, "integers or texts, not both", found)


def _is_missing(name: Any) -> bool:
    """Whether a name is None, NaN, NaT or pandas.NA, which is not even equal to itself."""
    return name is None or type(name).__name__ in ("NAType", "NaTType") or bool(name != name)
