"""Names of a package that are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


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
