"""Whether what a file holds can be the fields of a class: the checksum is right in a file that was edited too."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from unipd._typing import IntArray

_NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.integer, np.floating),
    int: (int, np.integer),
    complex: (int, float, complex, np.number),
    bool: (bool, np.bool_),
}


def require_fitting(kind: type, content: Mapping[str, Any]) -> None:
    """Raise unless the values are of the types that a dataclass declares for its fields.

    >>> from unipd.methods import Counts
    >>> require_fitting(Counts, {"oracle_calls": 3})
    >>> require_fitting(Counts, {"oracle_calls": "x"})
    Traceback (most recent call last):
    ...
    ValueError: oracle_calls of Counts cannot be 'x'
    """
    for name, declared in _declared(kind).items():
        if name in content and not fits(content[name], declared):
            raise ValueError(f"{name} of {kind.__name__} cannot be {_shortened(content[name])}")


def fits(value: Any, declared: Any) -> bool:
    """Whether a value is of a declared type; what cannot be told from the type alone passes.

    >>> fits(1, float), fits(True, int), fits(None, float | None), fits((1, "x"), tuple[int, ...])
    (True, False, True, False)
    """
    origin, inside = get_origin(declared) or declared, get_args(declared)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inside)
    if origin in _NUMBERS:
        return isinstance(value, _NUMBERS[origin]) and (origin is bool or not isinstance(value, bool))
    if getattr(origin, "_is_protocol", False):
        known = {*dir(type(value)), *getattr(value, "__dict__", ())}  # asking for a property may fail
        return all(name in known for name in vars(origin) if not name.startswith("_"))
    if origin is Any or not isinstance(origin, type):
        return True
    if not isinstance(value, origin):
        return False
    if declared == IntArray:
        return value.dtype.kind in "iu"
    return origin is not tuple or _parts_fit(value, inside)


def _parts_fit(value: tuple[Any, ...], inside: tuple[Any, ...]) -> bool:
    if len(inside) == 2 and inside[1] is Ellipsis:
        return all(fits(part, inside[0]) for part in value)
    return not inside or (
        len(value) == len(inside) and all(fits(part, one) for part, one in zip(value, inside, strict=True))
    )


@functools.cache
def _declared(kind: Any) -> Mapping[str, Any]:
    """Return the types of a dataclass's fields; none of another class, or where names are known to checkers only."""
    try:
        hints = get_type_hints(kind) if is_dataclass(kind) else {}
    except NameError:
        return {}
    return {field.name: hints[field.name] for field in fields(kind)} if hints else {}


def _shortened(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)[:40]
