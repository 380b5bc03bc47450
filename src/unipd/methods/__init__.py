"""Methods: one a file, each an initial state and a step."""

from unipd.methods.accunipdgrad import AccUniPDGrad
from unipd.methods.away_step import AwayStepFrankWolfe
from unipd.methods.base import Certificate, Counts, Method, State
from unipd.methods.choose import METHODS, as_method
from unipd.methods.continued import Continued
from unipd.methods.corrective import Corrective
from unipd.methods.factored import Factored
from unipd.methods.frank_wolfe import FrankWolfe
from unipd.methods.pairwise import PairwiseFrankWolfe
from unipd.methods.rescaled import Rescaled
from unipd.methods.unipdgrad import UniPDGrad

__all__ = [
    "METHODS",
    "AccUniPDGrad",
    "AwayStepFrankWolfe",
    "Certificate",
    "Continued",
    "Corrective",
    "Counts",
    "Factored",
    "FrankWolfe",
    "Method",
    "PairwiseFrankWolfe",
    "Rescaled",
    "State",
    "UniPDGrad",
    "as_method",
]
