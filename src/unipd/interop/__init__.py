"""Bridges to other packages, which are imported only when a bridge is used."""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
