"""Graph problems by semidefinite relaxation: maxcut (bound, rounding, local search), bisection, theta.

The functions ``maxcut`` and ``theta`` have the names of their modules; import them from there
(``from unipd.apps.graphs.maxcut import maxcut``), and everything else from here.
"""

from unipd.apps.graphs.bisection import bisect, bisection_program
from unipd.apps.graphs.maxcut import MaxCut, best_cut, cut_value, hyperplane_cuts, maxcut_program
from unipd.apps.graphs.theta import theta_program

__all__ = [
    "MaxCut",
    "best_cut",
    "bisect",
    "bisection_program",
    "cut_value",
    "hyperplane_cuts",
    "maxcut_program",
    "theta_program",
]
