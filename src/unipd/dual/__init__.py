"""The dual function: g, its gradient, the bound -G that certifies, and the space of its vectors.

With the Lagrangian of the template (paper, (5)-(7)):

    g(lam) = max over x in X of { <-A^* lam, x> - f(x) } + <lam, b>,   grad g(lam) = b - A x^*(lam),
    h(lam) = sup over r in K of <lam, r>,   G = g + h,   -G(lam) <= f^* for every lam.

In the slack split of a loss, phi^*(lam) joins g, r^*(lam) joins the gradient, and h = 0.

Read function: oracle calls, the passes of an iteration in NumPy, the bound. long_vectors has the same passes in
compiled loops.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
