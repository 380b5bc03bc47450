"""NumPy archives without pickle: read named arrays, and pack values as JSON and arrays."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import Blocks, LowRank, SparsePoint
from unipd.errors import InvalidInput, UnipdError
from unipd.io.limits import Limits, check_archive


class DamagedArchive(ValueError):
    """The file is not a readable archive."""


def read_arrays(path: str | os.PathLike[str], limits: Limits | None = None) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` file by name.

    A missing or unreadable file raises OSError; a file that is not an archive, damaged or pickled raises
    :class:`DamagedArchive`; content beyond the limits raises the error of :func:`~unipd.io.limits.check_archive`.
    """
    with open(path, "rb") as stream:
        try:
            check_archive(os.fspath(path), stream, limits)
            with np.load(stream, allow_pickle=False) as archive:
                arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
            for name, part in arrays.items():
                _check_member(name, part)
            return arrays
        except UnipdError:
            raise
        except Exception as error:  # NumPy and zipfile have many kinds
            raise DamagedArchive(str(error) or type(error).__name__) from error


def _check_member(name: str, part: Any) -> None:
    """Raise for a member that is no array, and for texts with characters that do not exist."""
    if not isinstance(part, np.ndarray):
        raise ValueError(f"the member {name!r} is not an array")
    if part.dtype.kind == "U" and part.size and part.dtype.itemsize:
        codes = np.ascontiguousarray(part).reshape(-1).view(np.dtype(np.uint32).newbyteorder(part.dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise ValueError(f"the member {name!r} is not text")


_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def pack(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    """Return ``value`` as JSON, its arrays moved to ``arrays`` under names that begin with ``name``.

    Numbers, strings, lists, tuples, dictionaries with string keys, arrays and the atoms of :mod:`unipd.atoms`
    can be packed; anything else raises :class:`~unipd.errors.InvalidInput`.

    >>> arrays = {}
    >>> pack("x", {"rank": 2, "values": np.ones(2)}, arrays)
    {'rank': 2, 'values': {'$array': 'x.values'}}
    >>> arrays
    {'x.values': array([1., 1.])}
    """
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (np.ndarray, complex)):
        return _store(name, np.asarray(value), arrays)
    return _pack_container(name, value, arrays)


def unpack(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Return the value that :func:`pack` turned into ``value`` and ``arrays``.

    >>> unpack({"$tuple": [1, {"$float": "inf"}]}, {})
    (1, inf)
    """
    if isinstance(value, list):
        return [unpack(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, content), *_ = value.items()
        if key in _READERS:
            return _READERS[key](content, arrays)
    return {key: unpack(part, arrays) for key, part in value.items()}


def _store(name: str, array: Array, arrays: dict[str, Array]) -> Any:
    if array.dtype.kind not in "biufcUS":
        raise InvalidInput(name, "an array of numbers or strings", f"dtype {array.dtype}")
    unique, copies = name, 1
    while unique in arrays:
        copies += 1
        unique = f"{name}~{copies}"
    arrays[unique] = array
    return {"$array": unique}


def _pack_container(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    if isinstance(value, LowRank):
        parts = {"left": value.left, "weights": value.weights}
        if not value.hermitian:
            parts["right"] = value.right
        return {"$low_rank": _pack_mapping(name, parts, arrays)}
    if isinstance(value, SparsePoint):
        parts = {"shape": list(value.shape), "indices": value.indices, "values": value.values}
        return {"$sparse": _pack_mapping(name, parts, arrays)}
    if isinstance(value, Blocks):
        return {"$blocks": _pack_sequence(name, value.parts, arrays)}
    if isinstance(value, tuple):
        return {"$tuple": _pack_sequence(name, value, arrays)}
    if isinstance(value, list):
        return _pack_sequence(name, value, arrays)
    if isinstance(value, Mapping):
        return _pack_mapping(name, value, arrays)
    raise InvalidInput(name, "numbers, strings, arrays, atoms, or lists and dictionaries of them", type(value).__name__)


def _pack_sequence(name: str, values: Any, arrays: dict[str, Array]) -> list[Any]:
    return [pack(f"{name}.{index}", part, arrays) for index, part in enumerate(values)]


def _pack_mapping(name: str, values: Mapping[Any, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    for key in values:
        if not isinstance(key, str) or key.startswith("$"):
            raise InvalidInput(name, "keys that are strings and do not start with $", repr(key))
    return {key: pack(f"{name}.{key}", part, arrays) for key, part in values.items()}


def _read_low_rank(content: Any, arrays: Mapping[str, Array]) -> LowRank:
    parts = {key: unpack(part, arrays) for key, part in content.items()}
    return LowRank(parts["left"], parts.get("right", parts["left"]), parts["weights"])


def _read_sparse(content: Any, arrays: Mapping[str, Array]) -> SparsePoint:
    indices, values = unpack(content["indices"], arrays), unpack(content["values"], arrays)
    return SparsePoint(tuple(content["shape"]), indices, values)


_READERS = {
    "$array": lambda content, arrays: arrays[content],
    "$float": lambda content, _: _NONFINITE[content],
    "$tuple": lambda content, arrays: tuple(unpack(part, arrays) for part in content),
    "$blocks": lambda content, arrays: Blocks(tuple(unpack(part, arrays) for part in content)),
    "$low_rank": _read_low_rank,
    "$sparse": _read_sparse,
}
