"""Methods: an initial state and a step each; the loop of :mod:`unipd.run` does the rest.

Read base (state, certificate, what a method is), universal/ (the paper's Algorithms 1 and 2), frank_wolfe/,
corrective/, coordinate/ and factored/, norm_barrier (the least nuclear norm of small matrices), wrappers/ (methods
around a method), and auto (which method a problem gets). step_size holds the steps along a segment that several of
them take.
"""

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
from unipd.methods.coordinate.coordinate import CoordinateDescent
from unipd.methods.corrective.corrective import Corrective
from unipd.methods.factored.factored import Factored
from unipd.methods.frank_wolfe import AwayStepFrankWolfe, PairwiseFrankWolfe
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe
from unipd.methods.norm_barrier import NormBarrier
from unipd.methods.universal.accunipdgrad import AccUniPDGrad
from unipd.methods.universal.quasi_newton import QuasiNewton
from unipd.methods.universal.unipdgrad import UniPDGrad
from unipd.methods.wrappers.rescaling import Rescaling
from unipd.methods.wrappers.restarts import Restarts

__all__ = [
    "METHODS",
    "AccUniPDGrad",
    "AwayStepFrankWolfe",
    "Certificate",
    "CoordinateDescent",
    "Corrective",
    "Counts",
    "Factored",
    "FrankWolfe",
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
    "keep_incumbent",
    "merit",
    "method_options",
]
