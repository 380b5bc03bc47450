"""The fully corrective (proximal bundle) method.

It collects atoms of X in a bundle, which models the dual function g from below, and alternates:

1. master: the best point over the atoms, and its multiplier lam, near the dual centre;
2. pricing: the oracle at lam gives a new atom, the dual value G(lam) and a bound;
3. a serious step moves the centre to lam, a null step keeps it; the prox parameter M is updated;
4. the bundle is pruned to its memory, and the new atoms enter.

Read corrective (the method), model (the bundle), master (Newton steps on the weights),
dual_master (the master of many blocks, by semismooth Newton steps on lam), linear_master (linear programs with many
rows, exactly).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.corrective.corrective import Corrective, CorrectiveState, MemoryBound, price_vertices
    from unipd.methods.corrective.dual_master import (
        DualMaster,
        block_averages,
        minimize_dual,
        project_simplex,
        project_simplices,
    )
    from unipd.methods.corrective.linear_master import LinearModel
    from unipd.methods.corrective.master import Master, minimize_quadratic, solve_master
    from unipd.methods.corrective.model import Bundle, Columns, has_blocks

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "corrective": ("Corrective", "CorrectiveState", "MemoryBound", "price_vertices"),
        "dual_master": ("DualMaster", "block_averages", "minimize_dual", "project_simplex", "project_simplices"),
        "linear_master": ("LinearModel",),
        "master": ("Master", "minimize_quadratic", "solve_master"),
        "model": ("Bundle", "Columns", "has_blocks"),
    },
)

__all__ = [
    "Bundle",
    "Columns",
    "Corrective",
    "CorrectiveState",
    "DualMaster",
    "LinearModel",
    "Master",
    "MemoryBound",
    "block_averages",
    "has_blocks",
    "minimize_dual",
    "minimize_quadratic",
    "price_vertices",
    "project_simplex",
    "project_simplices",
    "solve_master",
]
