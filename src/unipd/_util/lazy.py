"""Names that are imported, and functions that are compiled, on first use: ``import unipd`` stays cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
REORDER: Any = {"reassoc", "contract", "nsz"}
"""Numba's ``fastmath``: sums may be reordered (the same way on every call); NaN and infinity keep their meaning."""


def compile_lazily(*, reorder: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function with Numba when it is first called, without Python's global lock; ``reorder`` its sums.

    For kernels beside the code that calls them. Those that call each other live in a module that imports Numba, which
    is itself imported on first use.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @cache
        def kernel() -> Any:
            from numba import njit

            return njit(cache=True, nogil=True, fastmath=REORDER if reorder else False)(function)

        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            return kernel()(*arguments, **named)

        return call

    return decorate


def lazy_exports(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose modules export these names.

    >>> lazy_exports("unipd", {"errors": ["InvalidInput"]})("InvalidInput").__name__
    'InvalidInput'
    """
    place = {name: module for module, names in places.items() for name in names}

    def find(name: str) -> Any:
        if name not in place:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{place[name]}"), name)

    return find
