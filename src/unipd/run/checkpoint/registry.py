"""The classes that a checkpoint may hold, by name and version: nothing else is ever made from a file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import Any, TypeVar

from unipd.errors import InvalidInput

Fields = dict[str, Any]
Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class Recipe:
    """How objects of one class are taken apart and put together again."""

    kind: type
    name: str
    version: int
    take: Callable[[Any], Fields]
    """From an object to its fields."""
    make: Callable[[Fields], Any]
    """From the fields to an equal object."""
    spare: tuple[str, ...] = ()
    """Fields that a run which has ended no longer needs; ``make`` then does without them."""


_LIBRARY = ("unipd.methods.", "unipd.primal.", "unipd.dual", "unipd.atoms")
"""Modules whose dataclasses are known without being registered one by one."""
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
    """Let checkpoints hold objects of a class; a decorator for the states and trackers of a method of your own.

    A dataclass is taken apart into its fields. For another class give ``take``, a function from an object to a
    dictionary of what checkpoints can hold (numbers, strings, arrays, atoms, registered objects, and tuples, lists
    and dictionaries of them), and ``make``, its inverse.

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
    recipe = Recipe(
        kind,
        name or kind.__name__,
        version,
        take or _fields_of,
        make or (lambda content: kind(**content)),
        spare,
    )
    _BY_CLASS[kind] = recipe
    _BY_NAME[recipe.name] = recipe
    return kind


def _fields_of(value: Any) -> Fields:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def recipe_of(value: Any) -> Recipe:
    """Return the recipe of an object's class, or raise."""
    kind = type(value)
    if kind not in _BY_CLASS and kind.__module__.startswith(_LIBRARY) and is_dataclass(kind):
        register(kind, f"{kind.__module__}.{kind.__name__}")
    recipe = _BY_CLASS.get(kind)
    if recipe is None:
        expected = "states and trackers of the library, or classes registered by unipd.run.checkpoint.register"
        raise InvalidInput("checkpoint", expected, type(value).__name__)
    return recipe


def recipe_named(name: str, version: int) -> Recipe:
    """Return the recipe of this name and version, or raise."""
    if name not in _BY_NAME:
        _look_up(name)
    recipe = _BY_NAME.get(name)
    if recipe is None:
        raise ValueError(f"it holds a {name!r}, which is not known here")
    if recipe.version != version:
        raise ValueError(f"it holds version {version} of {name!r}, this is version {recipe.version}")
    return recipe


def _look_up(name: str) -> None:
    """Register a dataclass of the library, known by its full name or by one from which it has moved."""
    module, _, short = name.rpartition(".")
    if not module.startswith(_LIBRARY):
        return
    with contextlib.suppress(ImportError):
        kind = getattr(import_module(module), short, None)
        if isinstance(kind, type) and kind.__module__.startswith(_LIBRARY) and is_dataclass(kind):
            if kind not in _BY_CLASS:
                register(kind, f"{kind.__module__}.{kind.__name__}")
            _BY_NAME[name] = _BY_CLASS[kind]


def attributes(kind: type) -> Mapping[str, Any]:
    """Return ``take`` and ``make`` for a plain class whose attributes are all there is to it."""

    def make(content: Fields) -> Any:
        made = object.__new__(kind)
        made.__dict__.update(content)
        return made

    return {"take": lambda value: dict(vars(value)), "make": make}
