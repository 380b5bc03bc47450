"""unipd: universal primal-dual convex optimisation with linear minimization oracles.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when the only affordable access to (f, X) is its sharp
operator, a generalised linear minimization oracle (LMO): a top eigenvector, a sort, a shortest path.

Names are imported on first use, so that ``import unipd`` costs next to nothing. Methods of the lower layers that draw,
save or convert, such as ``Result.plot``, reach the upper ones through this namespace, by ``import unipd`` inside the
method.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
