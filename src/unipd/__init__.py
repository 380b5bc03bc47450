"""unipd: universal primal-dual convex optimisation with sharp operators.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when all that is affordable is the sharp
operator of (f, X): a top eigenvector, a sort, a shortest path.
"""

from unipd import couplings, maps, sharp
from unipd._version import __version__
from unipd.problem import Problem
from unipd.status import Status

__all__ = ["Problem", "Status", "__version__", "couplings", "maps", "sharp"]
