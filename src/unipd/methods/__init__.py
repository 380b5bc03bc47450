"""Methods: an initial state and a step each; the loop of :mod:`unipd.run` does the rest.

Read base (state, certificate, what a method is), universal/ (the paper's Algorithms 1 and 2), frank_wolfe/,
corrective/, coordinate/ and factored/, norm_barrier (the least nuclear norm of small matrices), cgal, wrappers/
(methods around a method), and auto (which method a problem gets). descent holds the steps along a segment and the
quasi-Newton memory that several of them use.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
