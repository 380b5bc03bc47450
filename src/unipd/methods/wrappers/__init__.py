"""Methods around a method.

Read base (what wrappers share), restarts (restarts and continuation in eps), fallback (two alternating methods) and
rescaling (equilibrated rows).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
