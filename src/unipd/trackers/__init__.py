"""Trackers: what is kept of the primal average xbar.

dense (an array, one tracker per block, one fixed point, or nothing), atoms (a list, or a combination with weights of a
method's own), lowrank and sketch. A further one is :class:`~unipd.methods.frank_wolfe.ActiveSet`.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
