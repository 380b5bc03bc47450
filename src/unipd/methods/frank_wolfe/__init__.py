"""Frank-Wolfe methods for smooth losses: an iteration calls a linear minimization oracle (LMO) at most once.

At x the gradient is lam = grad phi(A x - b). The oracle's vertex v minimises the linear model there; the slope towards
it is the Frank-Wolfe gap <lam, A (x - v)> + f(x) - f(v), and the same call gives the dual bound -G(lam).

Read frank_wolfe (steps towards the vertex), then active_set: x as a convex combination of vertices, the iteration that
moves weight between them, and the methods that choose these vertices: away-step and pairwise Frank-Wolfe, which
converge linearly over polytopes, and blended pairwise steps within the active set, which may do without the oracle.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
