"""unipd: universal primal-dual convex optimisation with sharp operators.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when all that is affordable is the sharp
operator of (f, X): a top eigenvector, a sort, a shortest path.
"""

from unipd import couplings, errors, maps, sharp, theory
from unipd._version import __version__
from unipd.methods import (
    AccUniPDGrad,
    AwayStepFrankWolfe,
    Corrective,
    Factored,
    FrankWolfe,
    PairwiseFrankWolfe,
    UniPDGrad,
)
from unipd.problem import Problem
from unipd.run import (
    Accuracy,
    MaxIterations,
    MaxOracleCalls,
    MaxSeconds,
    Result,
    Stall,
    iterate,
    solve,
)
from unipd.status import Status

__all__ = [
    "AccUniPDGrad",
    "Accuracy",
    "AwayStepFrankWolfe",
    "Corrective",
    "Factored",
    "FrankWolfe",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "PairwiseFrankWolfe",
    "Problem",
    "Result",
    "Stall",
    "Status",
    "UniPDGrad",
    "__version__",
    "couplings",
    "errors",
    "iterate",
    "maps",
    "sharp",
    "solve",
    "theory",
]
