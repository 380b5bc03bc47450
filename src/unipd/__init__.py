"""unipd: universal primal-dual convex optimisation with sharp operators.

Solves ``minimise f(x) over x in X subject to A x - b in K`` when all that is affordable is the sharp
operator of (f, X): a top eigenvector, a sort, a shortest path.
"""

from importlib import import_module
from typing import Any

from unipd import couplings, errors, maps, sharp, theory
from unipd._version import __version__
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

_LATER = {
    "MatrixCompletion": "unipd.apps.completion",
    "MaxCut": "unipd.apps.maxcut",
    "PauliTomography": "unipd.apps.tomography",
    "SDP": "unipd.apps.sdp",
    "load": "unipd.io.results",
    "save": "unipd.io.results",
}
"""Names whose modules are imported when they are first used, so that ``import unipd`` stays quick."""

_MODULES = ("doctor", "memory", "report")
"""Modules that are imported when they are first used."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"unipd.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'unipd' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, *_MODULES})


__all__ = [
    "AccUniPDGrad",
    "Accuracy",
    "AwayStepFrankWolfe",
    "Checkpoint",
    "Continued",
    "Corrective",
    "Factored",
    "FrankWolfe",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "PairwiseFrankWolfe",
    "Problem",
    "Rescaled",
    "Result",
    "Stall",
    "Status",
    "UniPDGrad",
    "__version__",
    "compare",
    "couplings",
    "errors",
    "iterate",
    "maps",
    "polish",
    "sharp",
    "solve",
    "theory",
]
