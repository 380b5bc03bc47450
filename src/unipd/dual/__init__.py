"""The dual function as pure functions: g, its gradient, and the bound -G that certifies.

With the Lagrangian of the template (paper, (5)-(7)):

    g(lam) = max over x in X of { <-A^* lam, x> - f(x) } + <lam, b>,   grad g(lam) = b - A x^*(lam),
    h(lam) = sup over r in K of <lam, r>,   G = g + h,   -G(lam) <= f^* for every lam.

In the slack split of a loss, phi^*(lam) joins g, r^*(lam) joins the gradient, and h = 0.
"""

from unipd.dual.bound import LowerBound, lower_bound
from unipd.dual.failures import blame, oracle_errors
from unipd.dual.point import (
    DualPoint,
    DualValue,
    attach,
    evaluate,
    evaluate_along,
    moved,
    proximal_step,
    stretched,
    value_only,
)

__all__ = [
    "DualPoint",
    "DualValue",
    "LowerBound",
    "attach",
    "blame",
    "evaluate",
    "evaluate_along",
    "lower_bound",
    "moved",
    "oracle_errors",
    "proximal_step",
    "stretched",
    "value_only",
]
