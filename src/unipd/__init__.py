"""unipd: universal primal-dual convex optimisation with sharp operators.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when all that is affordable is the sharp
operator of (f, X): a top eigenvector, a sort, a shortest path.

What stands here is imported when it is first used, so that ``import unipd`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unipd._version import __version__

if TYPE_CHECKING:
    from unipd import couplings, doctor, errors, maps, memory, report, sharp, theory
    from unipd.apps.completion import MatrixCompletion
    from unipd.apps.maxcut import MaxCut
    from unipd.apps.sdp import SDP
    from unipd.apps.tomography import PauliTomography
    from unipd.io.results import load, save
    from unipd.methods import (
        AccUniPDGrad,
        AwayStepFrankWolfe,
        Continued,
        Corrective,
        Factored,
        FrankWolfe,
        PairwiseFrankWolfe,
        Rescaled,
        UniPDGrad,
    )
    from unipd.problem import Problem
    from unipd.run import (
        Accuracy,
        Checkpoint,
        MaxIterations,
        MaxOracleCalls,
        MaxSeconds,
        Result,
        Stall,
        compare,
        iterate,
        polish,
        solve,
    )
    from unipd.status import Status

__all__ = [
    "SDP",
    "AccUniPDGrad",
    "Accuracy",
    "AwayStepFrankWolfe",
    "Checkpoint",
    "Continued",
    "Corrective",
    "Factored",
    "FrankWolfe",
    "MatrixCompletion",
    "MaxCut",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "PairwiseFrankWolfe",
    "PauliTomography",
    "Problem",
    "Rescaled",
    "Result",
    "Stall",
    "Status",
    "UniPDGrad",
    "__version__",
    "compare",
    "couplings",
    "doctor",
    "errors",
    "iterate",
    "load",
    "maps",
    "memory",
    "polish",
    "report",
    "save",
    "sharp",
    "solve",
    "theory",
]

_HOMES = {
    "unipd": (
        *("couplings", "doctor", "errors", "maps", "memory", "report", "sharp", "theory"),
        *(
            "apps",
            "atoms",
            "cluster",
            "dual",
            "interop",
            "io",
            "methods",
            "primal",
            "protocols",
            "run",
            "spectral",
            "status",
        ),
    ),
    "unipd.apps.completion": ("MatrixCompletion",),
    "unipd.apps.maxcut": ("MaxCut",),
    "unipd.apps.sdp": ("SDP",),
    "unipd.apps.tomography": ("PauliTomography",),
    "unipd.io.results": ("load", "save"),
    "unipd.methods": (
        *("AccUniPDGrad", "UniPDGrad", "Continued", "Corrective", "Factored", "Rescaled"),
        *("AwayStepFrankWolfe", "FrankWolfe", "PairwiseFrankWolfe"),
    ),
    "unipd.problem": ("Problem",),
    "unipd.run": (
        *("Accuracy", "MaxIterations", "MaxOracleCalls", "MaxSeconds", "Stall"),
        *("Checkpoint", "Result", "compare", "iterate", "polish", "solve"),
    ),
    "unipd.status": ("Status",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unipd' has no attribute {name!r}")
    if _HOME[name] == "unipd":
        return import_module(f"unipd.{name}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
