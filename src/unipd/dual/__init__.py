"""The dual function as pure functions: g, its gradient, and the bound -G that certifies.

With the Lagrangian of the template (paper, (5)-(7)):

    g(lam) = max over x in X of { <-A^* lam, x> - f(x) } + <lam, b>,   grad g(lam) = b - A x^*(lam),
    h(lam) = sup over r in K of <lam, r>,   G = g + h,   -G(lam) <= f^* for every lam.

In the slack split of a loss, phi^*(lam) joins g, r^*(lam) joins the gradient, and h = 0.
"""

from unipd.dual.asking import asked, asked_along, evaluate, pictured, value_only, valued
from unipd.dual.bound import LowerBound, bound_and_stretch, lower_bound
from unipd.dual.descent import Slope, Way, loss_slope, moved_along, residual_slope, way_between
from unipd.dual.failures import oracle_errors
from unipd.dual.joining import attach, moved, proximal_step, stretched
from unipd.dual.passes import between, difference_along, distance, folded_in, mixed, stepped, stepped_twice
from unipd.dual.point import DualPoint, DualValue

__all__ = [
    "DualPoint",
    "DualValue",
    "LowerBound",
    "Slope",
    "Way",
    "asked",
    "asked_along",
    "attach",
    "between",
    "bound_and_stretch",
    "difference_along",
    "distance",
    "evaluate",
    "folded_in",
    "loss_slope",
    "lower_bound",
    "mixed",
    "moved",
    "moved_along",
    "oracle_errors",
    "pictured",
    "proximal_step",
    "residual_slope",
    "stepped",
    "stepped_twice",
    "stretched",
    "value_only",
    "valued",
    "way_between",
]
