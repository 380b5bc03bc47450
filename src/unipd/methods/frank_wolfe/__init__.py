"""Frank-Wolfe methods for smooth losses: baselines that call a linear minimization oracle (LMO) once per iteration.

At x the gradient is lam = grad phi(A x - b). The oracle's vertex v minimises the linear model there; the slope towards
it is the Frank-Wolfe gap <lam, A (x - v)> + f(x) - f(v), and the same call gives the dual bound -G(lam).

Read frank_wolfe (steps towards the vertex), then active_set: x as a convex combination of vertices, the iteration that
moves weight between them, and the two methods that choose these vertices, away-step and pairwise Frank-Wolfe, which
converge linearly over polytopes.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.frank_wolfe.active_set import (
        ActiveSet,
        ActiveSetState,
        AwayStepFrankWolfe,
        PairwiseFrankWolfe,
        Vertex,
    )
    from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe, FrankWolfeState

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "active_set": ("ActiveSet", "ActiveSetState", "AwayStepFrankWolfe", "PairwiseFrankWolfe", "Vertex"),
        "frank_wolfe": ("FrankWolfe", "FrankWolfeState"),
    },
)

__all__ = [
    "ActiveSet",
    "ActiveSetState",
    "AwayStepFrankWolfe",
    "FrankWolfe",
    "FrankWolfeState",
    "PairwiseFrankWolfe",
    "Vertex",
]
