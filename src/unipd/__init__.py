"""unipd: universal primal-dual convex optimisation with linear minimization oracles.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when the only affordable access to (f, X) is its sharp
operator, a generalised linear minimization oracle (LMO): a top eigenvector, a sort, a shortest path.

Names are imported on first use, so that ``import unipd`` costs next to nothing. Methods of the lower layers that draw,
save or convert, such as ``Result.plot``, reach the upper ones through this namespace, by ``import unipd`` inside the
method.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unipd._version import __version__

if TYPE_CHECKING:
    from unipd import couplings, cvxpy, doctor, errors, interop, maps, memory, report, sharp, theory
    from unipd.apps.completion import ImplicitCompletion, MatrixCompletion
    from unipd.apps.files import load
    from unipd.apps.graphs.maxcut import MaxCut
    from unipd.apps.learning import LowRankImputer
    from unipd.apps.process_tomography import ProcessTomography
    from unipd.apps.sdp import SDP, certify
    from unipd.apps.tomography import PauliTomography
    from unipd.io.results import save
    from unipd.methods import (
        CGAL,
        AccUniPDGrad,
        AwayStepFrankWolfe,
        BlendedPairwise,
        CoordinateDescent,
        Corrective,
        Factored,
        FrankWolfe,
        PairwiseFrankWolfe,
        QuasiNewton,
        Rescaling,
        Restarts,
        UniPDGrad,
    )
    from unipd.problem import Problem
    from unipd.run import (
        Accuracy,
        Checkpoint,
        MaxCpuSeconds,
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
    "CGAL",
    "SDP",
    "AccUniPDGrad",
    "Accuracy",
    "AwayStepFrankWolfe",
    "BlendedPairwise",
    "Checkpoint",
    "CoordinateDescent",
    "Corrective",
    "Factored",
    "FrankWolfe",
    "ImplicitCompletion",
    "LowRankImputer",
    "MatrixCompletion",
    "MaxCpuSeconds",
    "MaxCut",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "PairwiseFrankWolfe",
    "PauliTomography",
    "Problem",
    "ProcessTomography",
    "QuasiNewton",
    "Rescaling",
    "Restarts",
    "Result",
    "Stall",
    "Status",
    "UniPDGrad",
    "__version__",
    "certify",
    "compare",
    "couplings",
    "cvxpy",
    "doctor",
    "errors",
    "interop",
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
        *("couplings", "cvxpy", "doctor", "errors", "maps", "memory", "report", "sharp", "theory"),
        *(
            "apps",
            "atoms",
            "cluster",
            "dual",
            "interop",
            "io",
            "methods",
            "protocols",
            "reproduce",
            "run",
            "spectral",
            "status",
            "trackers",
        ),
    ),
    "unipd.apps.completion": ("ImplicitCompletion", "MatrixCompletion"),
    "unipd.apps.files": ("load",),
    "unipd.apps.graphs.maxcut": ("MaxCut",),
    "unipd.apps.learning": ("LowRankImputer",),
    "unipd.apps.sdp": ("SDP", "certify"),
    "unipd.apps.process_tomography": ("ProcessTomography",),
    "unipd.apps.tomography": ("PauliTomography",),
    "unipd.io.results": ("save",),
    "unipd.methods": (
        *("AccUniPDGrad", "UniPDGrad", "QuasiNewton", "Restarts", "Rescaling"),
        *("CGAL", "CoordinateDescent", "Corrective", "Factored"),
        *("AwayStepFrankWolfe", "BlendedPairwise", "FrankWolfe", "PairwiseFrankWolfe"),
    ),
    "unipd.problem": ("Problem",),
    "unipd.run": (
        *("Accuracy", "MaxIterations", "MaxOracleCalls", "MaxSeconds", "MaxCpuSeconds", "Stall"),
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
