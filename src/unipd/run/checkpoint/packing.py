"""Values to JSON and a list of arrays and back, bit for bit and without pickle.

Beyond the values this keeps what decides how a computation rounds: the precision of NumPy scalars, the memory layout of
arrays, and which arrays are one and the same (``right is left`` makes a matrix Hermitian).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.protocols import Tracker
from unipd.run.checkpoint.fitting import fits, require_fitting
from unipd.run.checkpoint.registry import recipe_named, recipe_of
from unipd.status import Status

_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Packer:
    """Turns values into JSON; their arrays are collected in ``arrays``, each object once.

    Parameters
    ----------
    given
        Objects that the reader will have: only their names are stored.
    ended
        Whether the run has ended, so that what it would need to go on can be left out.

    Examples
    --------
    >>> packer = Packer()
    >>> packer.pack((1, math.inf, np.ones(2)))
    {'$tuple': [1, {'$float': 'inf'}, {'$array': 0}]}
    """

    def __init__(self, given: Mapping[str, Any] | None = None, *, ended: bool = False) -> None:
        self.arrays: list[Array] = []
        self.given = {id(value): name for name, value in (given or {}).items()}
        self._kept = given  # ids stay those of these objects
        self._ended = ended
        self._places: dict[int, int] = {}

    def pack(self, value: Any) -> Any:
        """Return ``value`` as JSON."""
        if id(value) in self.given:
            return {"$given": self.given[id(value)]}
        if isinstance(value, Status):
            return {"$status": value.value}
        if isinstance(value, np.ndarray):
            return {"$array": self._place(value)}
        if isinstance(value, np.generic):
            return {"$scalar": self._place(np.asarray(value))}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(value)}
        return self._container(value)

    def _container(self, value: Any) -> Any:
        if isinstance(value, complex):
            return {"$complex": [self.pack(value.real), self.pack(value.imag)]}
        if isinstance(value, bytes):
            return {"$bytes": value.hex()}
        if isinstance(value, np.dtype):
            return {"$dtype": value.str}
        if type(value) is tuple:
            return {"$tuple": [self.pack(part) for part in value]}
        if type(value) is list:
            return [self.pack(part) for part in value]
        if type(value) is dict:
            return {"$dict": [[self.pack(key), self.pack(part)] for key, part in value.items()]}
        recipe = recipe_of(value)
        content = recipe.take(value)
        kept = {name: part for name, part in content.items() if not (self._ended and name in recipe.spare)}
        packed = {name: self.pack(part) for name, part in kept.items()}
        return {"$object": [recipe.name, recipe.version, packed]}

    def _place(self, array: Array) -> int:
        if array.dtype.kind not in "biufcUS":
            raise InvalidInput("checkpoint", "arrays of numbers or strings", f"dtype {array.dtype}")
        place = self._places.get(id(array))
        if place is None:
            place = self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return place


def unpack(value: Any, arrays: Sequence[Array], given: Mapping[str, Any] | None = None) -> Any:
    """Return the value that a :class:`Packer` turned into ``value`` and ``arrays``.

    >>> packer = Packer()
    >>> unpack(packer.pack({"x": np.float32(2)}), packer.arrays)
    {'x': np.float32(2.0)}
    """
    known = given or {}

    def read(part: Any) -> Any:
        if isinstance(part, list):
            return [read(piece) for piece in part]
        if not isinstance(part, dict):
            return part
        ((tag, content),) = part.items()
        return readers[tag](content)

    def read_object(content: Any) -> Any:
        name, version, packed = content
        recipe, fields = recipe_named(name, version), {field: read(part) for field, part in packed.items()}
        require_fitting(recipe.kind, fields)
        made = recipe.make(fields)
        if fits(made, Tracker):
            made.point()  # which fails where what it is made of does not hold together
        return made

    readers: dict[str, Callable[[Any], Any]] = {
        "$given": lambda name: known[name],
        "$status": Status,
        "$array": lambda place: arrays[place],
        "$scalar": lambda place: arrays[place][()],
        "$float": lambda text: _NONFINITE[text],
        "$complex": lambda pair: complex(read(pair[0]), read(pair[1])),
        "$bytes": bytes.fromhex,
        "$dtype": np.dtype,
        "$tuple": lambda parts: tuple(read(piece) for piece in parts),
        "$dict": lambda pairs: {read(key): read(piece) for key, piece in pairs},
        "$object": read_object,
    }
    return read(value)
