"""Names that are imported, and functions that are compiled, on first use: ``import unipd`` stays cheap."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from unipd.errors import MissingExtra

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
    from importlib.util import find_spec

    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and find_spec("numba") is not None


def is_small(*arguments: Any) -> bool:
    """Whether all arrays among the arguments are so small that NumPy does, without Numba."""
    return all(getattr(each, "size", 0) <= SMALL for each in arguments)


if TYPE_CHECKING:
    from numba import njit
else:

    def njit(*functions, **options):
        """Return ``numba.njit`` of the function, or with these options; Numba is imported here, with the first kernel.

        The first compilation of a process is logged.
        """
        import numba

        _announce_compilation()
        return numba.njit(*functions, **options)


COMPILATION = "compiling kernels, once on this machine (unipd doctor --compile compiles all of them ahead)"


@cache
def _announce_compilation() -> None:
    """Log the first compilation of this process when it begins."""
    from numba.core import event

    class Announcement(event.Listener):
        def on_start(self, event: Any) -> None:
            log_once()

        def on_end(self, event: Any) -> None:
            pass

    log_once = cache(lambda: logging.getLogger(__name__).info(COMPILATION))
    event.register("numba:compile", Announcement())


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


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Return an optional module, or name the extra of unipd that installs it.

    >>> import_extra("no_such_package", "plot", "a picture")
    Traceback (most recent call last):
    unipd.errors.MissingExtra: a picture needs no_such_package: pip install "unipd[plot]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.split(".")[0], extra, purpose) from error


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package: the names in its stub, imported on first use.

    The stub ``__init__.pyi`` beside the package's ``__init__.py`` has a line ``from module import name as name`` for
    each of them, and type checkers and editors read the same file. A module of the package is imported from it. As in
    any stub, a name without ``as`` is not exported: tests may import it from the package, and nothing else does.

    >>> import unipd.trackers
    >>> find, names, exported = lazy_exports("unipd.trackers")
    >>> find("Dense").__name__, "Dense" in names(), "Dense" in exported
    ('Dense', True, True)
    """
    module: Any = sys.modules[package]
    loader, origin = module.__spec__.loader, module.__spec__.origin  # also inside a zip archive
    lines = [line.split() for line in loader.get_data(f"{origin}i").decode().splitlines()]
    homes = {words[3]: words[1] for words in lines}
    exported = [words[3] for words in lines if "as" in words]

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return find, lambda: sorted(exported), exported
