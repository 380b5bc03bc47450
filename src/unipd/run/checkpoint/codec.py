"""Values to JSON and arrays and back, bit for bit, without pickle; only registered classes are made from a file.

The packer of checkpoints and of result files (:mod:`unipd.io.results`).

Beyond the values this keeps what decides how a computation rounds: the precision of NumPy scalars, the memory layout
of arrays, and which arrays are the same object (``right is left`` makes a matrix Hermitian).
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from unipd._typing import Array
from unipd.atoms import Blocks, LowRank, SparsePoint
from unipd.errors import InvalidInput
from unipd.memory import AdaptedTracker
from unipd.methods import Certificate, Counts, State
from unipd.methods.descent import LBFGSMemory
from unipd.protocols import SharpAnswer
from unipd.status import Status
from unipd.trackers import AtomList, SketchTracker

Fields = dict[str, Any]
Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class Recipe:
    """How objects of one class are taken apart and put together again."""

    name: str
    version: int
    take: Callable[[Any], Fields]
    """From an object to its fields."""
    make: Callable[[Fields], Any]
    """From the fields to an equal object."""
    spare: tuple[str, ...] = ()
    """Fields that the result of a finished run does not need; ``make`` then does without them."""


_LIBRARY = ("unipd.methods.", "unipd.trackers.", "unipd.dual", "unipd.atoms", "unipd.apps.")
"""Modules whose dataclasses need no registration."""
_BY_CLASS: dict[type, Recipe] = {}
_BY_NAME: dict[str, Recipe] = {}


def register(
    kind: Class,
    name: str | None = None,
    version: int = 1,
    *,
    take: Callable[[Any], Fields] | None = None,
    make: Callable[[Fields], Any] | None = None,
    spare: tuple[str, ...] = (),
) -> Class:
    """Let checkpoints hold objects of a class; a decorator for the states and trackers of a user-supplied method.

    A dataclass is taken apart into its fields. For another class give ``take``, a function from an object to a
    dictionary of values that checkpoints can hold (numbers, strings, arrays, atoms, registered objects, and tuples,
    lists and dictionaries of them), and ``make``, its inverse.

    Parameters
    ----------
    kind
        The class.
    name
        Name of the class in files; its own by default.
    version
        Number of the layout; files with another one are refused.
    take
        From an object to its fields.
    make
        From the fields to an equal object.
    spare
        Fields that the result of a finished run does not need.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    InvalidInput
        ``kind``: expected a dataclass, or functions take and make.

    See Also
    --------
    unipd.Checkpoint, read_checkpoint

    Examples
    --------
    >>> @register
    ... @dataclass(frozen=True)
    ... class Step:
    ...     length: float
    >>> recipe_of(Step(0.5)).take(Step(0.5))
    {'length': 0.5}
    """
    plain: Any = kind
    if (take is None or make is None) and not is_dataclass(plain):
        raise InvalidInput("kind", "a dataclass, or functions take and make", kind.__name__)
    make = make or functools.partial(_make_dataclass, plain)
    recipe = Recipe(name or kind.__name__, version, take or _fields_of, make, spare)
    _BY_CLASS[kind] = _BY_NAME[recipe.name] = recipe
    return kind


_PLAIN: dict[str, Any] = {
    "int": (int, np.integer),
    "float": (int, float, np.number),
    "bool": (bool, np.bool_),
    "str": str,
    "dict[str, Any]": dict,
    "Array": np.ndarray,
    "FloatArray": np.ndarray,
    "Status": Status,
    "Atom": (np.ndarray, SparsePoint, LowRank, Blocks),
    "Certificate": Certificate,
    "Counts": Counts,
    "State": State,
}
"""Annotations of fields that are checked when a file is read: an edited file may hold anything."""


def _fields_of(value: Any) -> Fields:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def check_types(kind: Any, content: Fields) -> None:
    """Raise ValueError for a plain field of a dataclass that holds a value of another type."""
    for field in fields(kind):
        annotation = str(field.type).removesuffix(" | None")
        value, may_be_none = content.get(field.name), field.name not in content or annotation != field.type
        if not (isinstance(value, _PLAIN.get(annotation, object)) or (value is None and may_be_none)):
            raise ValueError(f"{field.name} of {kind.__name__} is of type {type(value).__name__}")


def _make_dataclass(kind: Any, content: Fields) -> Any:
    check_types(kind, content)
    return kind(**content)


def recipe_of(value: Any, name: str | None = None) -> Recipe:
    """Return the recipe of the class of an object, which is stored under ``name``, or raise."""
    kind = type(value)
    if kind not in _BY_CLASS:
        _register_library_class(kind)
    recipe = _BY_CLASS.get(kind)
    if recipe is None:
        expected = "states and trackers of the library, or classes registered with unipd.run.checkpoint.register"
        if name is not None:
            expected = "numbers, strings, arrays, atoms, or lists and dictionaries of them"
        raise InvalidInput(name or "checkpoint", expected, kind.__name__)
    return recipe


def recipe_named(name: str, version: int) -> Recipe:
    """Return the recipe of this name and version, or raise."""
    module, _, short = name.rpartition(".")
    if name not in _BY_NAME and module.startswith(_LIBRARY):
        with contextlib.suppress(ImportError):
            _register_library_class(vars(import_module(module)).get(short))
    recipe = _BY_NAME.get(name)
    if recipe is None:
        raise ValueError(f"it holds a {name!r}, which this process has not registered")
    if recipe.version != version:
        raise ValueError(f"it holds version {version} of {name!r}; version {recipe.version} is registered")
    return recipe


def _register_library_class(kind: Any) -> None:
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__.startswith(_LIBRARY):
        register(kind, f"{kind.__module__}.{kind.__name__}")


_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Packer:
    """Turns values into JSON; their arrays are collected in ``arrays``, each object once.

    Values packed under a name (those of result files) have arrays called after their place, for readers without unipd,
    and numbers that are plain; otherwise arrays are numbered and NumPy's scalars keep their precision.

    Parameters
    ----------
    shared
        Objects that the reader will have: only their names are stored.
    for_result
        Whether to leave out what only further iterations need.

    Examples
    --------
    >>> packer = Packer()
    >>> packer.pack((1, math.inf, np.ones(2)))
    {'$tuple': [1, {'$float': 'inf'}, {'$array': 0}]}
    >>> packer.pack({"rank": 2, "values": np.ones(2)}, "x")
    {'rank': 2, 'values': {'$array': 'x.values'}}
    """

    def __init__(self, shared: Mapping[str, Any] | None = None, *, for_result: bool = False) -> None:
        self.arrays: dict[int | str, Array] = {}
        self._shared = dict(shared or {})  # keeps the objects alive, so that no other one gets their id
        self._names = {id(value): name for name, value in self._shared.items()}
        self._for_result = for_result
        self._places: dict[int, int | str] = {}

    def pack(self, value: Any, name: str | None = None) -> Any:
        """Return ``value`` as JSON."""
        if id(value) in self._names:
            return {"$shared": self._names[id(value)]}
        if isinstance(value, Status):
            return {"$status": value.value}
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, np.ndarray):
            return {"$array": self._place(value, name)}
        if isinstance(value, np.generic):
            if name is None:
                return {"$scalar": self._place(np.asarray(value), name)}
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, complex):
            return {"$complex": [self.pack(value.real), self.pack(value.imag)]}
        if isinstance(value, bytes):
            return {"$bytes": value.hex()}
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, np.dtype):
            return {"$dtype": value.str}
        return self._pack_container(value, name)

    def _pack_container(self, value: Any, name: str | None) -> Any:
        if type(value) in (tuple, list):
            parts = self._pack_parts(enumerate(value), name)
            return {"$tuple": parts} if type(value) is tuple else parts
        if isinstance(value, Mapping):
            if all(isinstance(key, str) and not key.startswith("$") for key in value):
                return dict(zip(value, self._pack_parts(value.items(), name), strict=True))
            return {"$dict": [[self.pack(key), self.pack(part, name)] for key, part in value.items()]}
        recipe = recipe_of(value, name)
        spare = recipe.spare if self._for_result else ()
        content = {field: part for field, part in recipe.take(value).items() if field not in spare}
        packed = dict(zip(content, self._pack_parts(content.items(), name), strict=True))
        return {"$object": [recipe.name, recipe.version, packed]}

    def _pack_parts(self, parts: Iterable[tuple[Any, Any]], name: str | None) -> list[Any]:
        return [self.pack(part, None if name is None else f"{name}.{key}") for key, part in parts]

    def _place(self, array: Array, name: str | None) -> int | str:
        if array.dtype.kind not in "biufcUS":
            raise InvalidInput(name or "checkpoint", "arrays of numbers or strings", f"dtype {array.dtype}")
        place = self._places.get(id(array))
        if place is None:
            place = len(self.arrays) if name is None else name
            copies = itertools.count(2)
            while place in self.arrays:
                place = f"{name}~{next(copies)}"
            self._places[id(array)] = place
            self.arrays[place] = array
        return place


def unpack(
    value: Any,
    arrays: Sequence[Array] | Mapping[Any, Array],
    shared: Mapping[str, Any] | None = None,
    atom_shapes: Container[Any] | None = None,
) -> Any:
    """Return the value that a :class:`Packer` turned into ``value`` and ``arrays``.

    Atoms of a shape that is not among ``atom_shapes`` are refused, if these are given.

    >>> packer = Packer()
    >>> unpack(packer.pack({"x": np.float32(2)}), packer.arrays)
    {'x': np.float32(2.0)}
    """
    known, places = shared or {}, cast("Mapping[Any, Array]", arrays)

    def read(part: Any) -> Any:
        if isinstance(part, list):
            return [read(piece) for piece in part]
        if not isinstance(part, dict):
            return part
        tag = next(iter(part), "")
        return readers[tag](part[tag]) if tag.startswith("$") else {key: read(piece) for key, piece in part.items()}

    def read_object(content: Any) -> Any:
        name, version, packed = content
        made = recipe_named(name, version).make({field: read(part) for field, part in packed.items()})
        if atom_shapes is not None and isinstance(made, (SparsePoint, LowRank)) and made.shape not in atom_shapes:
            raise ValueError(f"an atom of shape {made.shape}, which is not that of the problem")
        return made

    readers: dict[str, Callable[[Any], Any]] = {
        "$shared": lambda name: known[name],
        "$status": Status,
        "$array": lambda place: places[place],
        "$scalar": lambda place: places[place][()],
        "$float": lambda text: _NONFINITE[text],
        "$complex": lambda pair: complex(read(pair[0]), read(pair[1])),
        "$bytes": bytes.fromhex,
        "$dtype": np.dtype,
        "$tuple": lambda parts: tuple(read(piece) for piece in parts),
        "$dict": lambda pairs: {read(key): read(piece) for key, piece in pairs},
        "$object": read_object,
    }
    return read(value)


# The library's classes that are not dataclasses, or are not stored field by field.


def _take_atom_list(tracker: Any) -> Fields:
    """Return the tracker's own part of the lists that trackers of consecutive iterations share."""
    count, raw = vars(tracker)["_count"], vars(tracker)["_raw"]
    return {**vars(tracker), "_atoms": tracker.atoms, "_raw": raw[:count]}


def _make_atom_list(content: Fields) -> AtomList:
    tracker = AtomList()
    vars(tracker).update(content)
    return tracker


_SKETCH = ("_range", "_check", "_corange", "trace", "_empty")
"""What a sketch collects; its Gaussian matrices are drawn again from the seed."""
_ARGUMENTS = ("shape", "rank", "seed", "hermitian", "dtype", "trace_correction")


def _take_sketch(tracker: SketchTracker) -> Fields:
    collected = {name: vars(tracker)[name] for name in _SKETCH}
    return {**{name: getattr(tracker, name) for name in _ARGUMENTS}, "collected": collected}


def _make_sketch(content: Fields) -> SketchTracker:
    collected = content.pop("collected")
    shape, drawn = content["shape"], collected["_range"]
    if not (_is_array(drawn, 2) and len(shape) == 2 and shape[0] == len(drawn) and content["rank"] <= drawn.shape[1]):
        raise ValueError("a sketch whose shape and rank do not match its numbers")
    tracker = SketchTracker(content.pop("shape"), content.pop("rank"), **content)
    vars(tracker).update(collected)
    return tracker


def _make_sparse_point(content: Fields) -> SparsePoint:
    point = SparsePoint(**content)
    if not (_is_array(point.indices, 1) and _is_array(point.values, 1) and point.indices.shape == point.values.shape):
        raise ValueError("a sparse atom whose indices and values do not match")
    return point


def _make_low_rank(content: Fields) -> LowRank:
    point = LowRank(**content)
    factors = _is_array(point.left, 2) and _is_array(point.right, 2) and _is_array(point.weights, 1)
    if not (factors and point.left.shape[1] == point.right.shape[1] == point.weights.size):
        raise ValueError("a low-rank atom whose factors and weights do not match")
    return point


def _is_array(value: Any, ndim: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == ndim


register(SparsePoint, "unipd.atoms.SparsePoint", make=_make_sparse_point)
register(LowRank, "unipd.atoms.LowRank", make=_make_low_rank)
register(LBFGSMemory, spare=("pairs",))
register(SharpAnswer)
register(SketchTracker, take=_take_sketch, make=_make_sketch)
register(AtomList, take=_take_atom_list, make=_make_atom_list)
register(AdaptedTracker, take=lambda tracker: {"part": tracker.part}, make=lambda content: AdaptedTracker(**content))
