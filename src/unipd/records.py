"""Frozen dataclasses made quickly: an iteration makes a dozen of them."""

from __future__ import annotations

from typing import Any, TypeVar

R = TypeVar("R")
_set = object.__setattr__


def made(kind: type[R], /, **fields: Any) -> R:
    """Return a frozen dataclass with these fields, all of which must be given: its constructor without the cost.

    Nothing is checked, neither names nor values. For classes without ``__post_init__`` and ``__slots__``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float
    >>> made(Point, x=1.0, y=2.0)
    Point(x=1.0, y=2.0)
    """
    new = object.__new__(kind)
    _set(new, "__dict__", fields)
    return new


def changed(record: R, /, **changes: Any) -> R:
    """Return a copy of a frozen dataclass with other values of some fields: ``dataclasses.replace`` without its cost.

    Nothing is checked, as in :func:`made`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float
    >>> changed(Point(1.0, 2.0), y=5.0)
    Point(x=1.0, y=5.0)
    """
    new = object.__new__(type(record))
    _set(new, "__dict__", record.__dict__ | changes)
    return new


def adopted(kind: type[R], fields: dict[str, Any]) -> R:
    """Return a frozen dataclass whose fields are a dictionary's, all of them: what :func:`made` does without a copy."""
    new = object.__new__(kind)
    _set(new, "__dict__", fields)
    return new
