"""Coordinate descent over working sets: for balls of l1 and group norms, simplices and boxes.

In the order to read it: :mod:`unipd.sharp.coordinates` (such a set by its coordinates), ``coordinate`` (the method:
solve over a working set, price the other coordinates with the oracle), ``restricted`` (the problem over a working set:
coordinate passes and Newton steps on the support), ``kernels`` (the compiled passes).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
