"""The paper's universal primal-dual methods.

Read unipdgrad (Algorithm 1) and accunipdgrad (Algorithm 2), then common (settings, start, averaging) and line_search
(the choice of M). Their vectors live in a :class:`~unipd.dual.DualSpace`, whatever the length.
"""

from unipd.methods.universal.accunipdgrad import AccUniPDGrad, AccUniPDGradState, next_t
from unipd.methods.universal.common import WEIGHTS, UniversalMethod, UniversalState, greedy_gamma
from unipd.methods.universal.line_search import analytic_smoothness, has_analytic_step
from unipd.methods.universal.unipdgrad import UniPDGrad, UniPDGradState

__all__ = [
    "WEIGHTS",
    "AccUniPDGrad",
    "AccUniPDGradState",
    "UniPDGrad",
    "UniPDGradState",
    "UniversalMethod",
    "UniversalState",
    "analytic_smoothness",
    "greedy_gamma",
    "has_analytic_step",
    "next_t",
]
