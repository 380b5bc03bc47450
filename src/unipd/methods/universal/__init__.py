"""The paper's universal primal-dual methods.

Read unipdgrad (Algorithm 1), accunipdgrad (Algorithm 2) and quasi_newton (smooth duals), then common (settings, start,
the choice of M, averaging). The vectors of Algorithms 1 and 2 live in a :class:`~unipd.dual.DualSpace`, whatever the
length.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
