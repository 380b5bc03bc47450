"""Methods: an initial state and a step each; the loop of :mod:`unipd.run` does the rest.

Read base (state, certificate, what a method is), universal/ (the paper's Algorithms 1 and 2), frank_wolfe/,
corrective/, coordinate/ and factored/, norm_barrier (the least nuclear norm of small matrices), cgal, wrappers/
(methods around a method), and auto (which method a problem gets). step_size holds the steps along a segment that
several of them take.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports
from unipd.methods.auto import METHODS, as_method
from unipd.methods.base import (
    Certificate,
    Counts,
    Method,
    State,
    common_fields,
    fast_replace,
    keep_incumbent,
    merit,
    method_options,
)

if TYPE_CHECKING:
    from unipd.methods.cgal import CGAL
    from unipd.methods.coordinate.coordinate import CoordinateDescent
    from unipd.methods.corrective.corrective import Corrective, MemoryBound
    from unipd.methods.factored.factored import Factored
    from unipd.methods.frank_wolfe import AwayStepFrankWolfe, BlendedPairwise, PairwiseFrankWolfe
    from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe
    from unipd.methods.norm_barrier import NormBarrier, has_norm_barrier
    from unipd.methods.universal.accunipdgrad import AccUniPDGrad
    from unipd.methods.universal.quasi_newton import QuasiNewton
    from unipd.methods.universal.unipdgrad import UniPDGrad
    from unipd.methods.wrappers.rescaling import Rescaling
    from unipd.methods.wrappers.restarts import Restarts

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "cgal": ("CGAL",),
        "coordinate.coordinate": ("CoordinateDescent",),
        "corrective.corrective": ("Corrective", "MemoryBound"),
        "factored.factored": ("Factored",),
        "frank_wolfe": ("AwayStepFrankWolfe", "BlendedPairwise", "PairwiseFrankWolfe"),
        "frank_wolfe.frank_wolfe": ("FrankWolfe",),
        "norm_barrier": ("NormBarrier", "has_norm_barrier"),
        "universal.accunipdgrad": ("AccUniPDGrad",),
        "universal.quasi_newton": ("QuasiNewton",),
        "universal.unipdgrad": ("UniPDGrad",),
        "wrappers.rescaling": ("Rescaling",),
        "wrappers.restarts": ("Restarts",),
    },
)

__all__ = [
    "CGAL",
    "METHODS",
    "AccUniPDGrad",
    "AwayStepFrankWolfe",
    "BlendedPairwise",
    "Certificate",
    "CoordinateDescent",
    "Corrective",
    "Counts",
    "Factored",
    "FrankWolfe",
    "MemoryBound",
    "Method",
    "NormBarrier",
    "PairwiseFrankWolfe",
    "QuasiNewton",
    "Rescaling",
    "Restarts",
    "State",
    "UniPDGrad",
    "as_method",
    "common_fields",
    "fast_replace",
    "has_norm_barrier",
    "keep_incumbent",
    "merit",
    "method_options",
]
