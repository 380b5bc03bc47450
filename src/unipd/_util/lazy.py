"""Names that are imported, and functions that are compiled, on first use: ``import unipd`` stays cheap."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
REORDER: Any = {"reassoc", "contract", "nsz"}
"""Numba's ``fastmath``: sums may be reordered (the same way on every call); NaN and infinity keep their meaning."""


SMALL = 1 << 13
"""Entries of the largest array up to which kernels with a NumPy version use it: NumPy is 3 to 8 microseconds slower
there in a call, and Numba takes as long as 20,000 such calls to import and to load a few kernels."""


@cache
def can_compile() -> bool:
    """Whether Numba is installed and ``NUMBA_DISABLE_JIT`` is not set; kernels run as Python or NumPy code otherwise.

    >>> isinstance(can_compile(), bool)
    True
    """
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and find_spec("numba") is not None


def is_small(*arguments: Any) -> bool:
    """Whether all arrays among the arguments are so small that NumPy does, without Numba."""
    return all(getattr(each, "size", 0) <= SMALL for each in arguments)


def compile_lazily(
    *, reorder: bool = False, plain: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function with Numba when it is first called, without Python's global lock; ``reorder`` its sums.

    For kernels beside the code that calls them. Those that call each other live in a module that imports Numba, which
    is itself imported on first use. ``plain`` is the same in NumPy: it replaces the kernel where all arrays are small,
    so that small problems need no Numba, and where nothing can be compiled.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @cache
        def kernel() -> Any:
            if not can_compile():
                return function
            from unipd._util.compiler import njit

            return njit(cache=True, nogil=True, fastmath=REORDER if reorder else False)(function)

        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            if plain is not None and (is_small(*arguments) or not can_compile()):
                import numpy as np

                with np.errstate(all="ignore"):  # compiled code does not warn of overflow either
                    return plain(*arguments, **named)
            return kernel()(*arguments, **named)

        return call

    return decorate


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub, the one list of its names.

    The stub ``__init__.pyi``, which type checkers read, consists of lines ``from module import Name as Name``.

    >>> find, list_names, names = lazy_exports("unipd.sharp")
    >>> find("Box").__name__, "Box" in names
    ('Box', True)
    """
    module: Any = sys.modules[package]
    stub = module.__loader__.get_data(os.path.join(os.path.dirname(module.__file__), "__init__.pyi")).decode()
    place: dict[str, str] = {}
    for statement in stub.replace("(", "").replace(")", "").split("from ")[1:]:
        home, _, names = statement.partition(" import ")
        place |= {each.partition(" as ")[0].strip(): home for each in names.split(",") if each.strip()}

    def find(name: str) -> Any:
        if name not in place:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if place[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(place[name]), name)

    def list_names() -> list[str]:
        return sorted({*vars(module), *place})

    return find, list_names, sorted(place)
