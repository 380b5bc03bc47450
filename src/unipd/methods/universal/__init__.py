"""The paper's universal primal-dual methods.

Read unipdgrad (Algorithm 1), accunipdgrad (Algorithm 2) and quasi_newton (smooth duals), then common (settings, start,
averaging) and line_search (the choice of M). The vectors of Algorithms 1 and 2 live in a
:class:`~unipd.dual.DualSpace`, whatever the length.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.universal.accunipdgrad import AccUniPDGrad, AccUniPDGradState, next_t
    from unipd.methods.universal.common import WEIGHTS, UniversalMethod, UniversalState, greedy_gamma
    from unipd.methods.universal.line_search import analytic_smoothness, has_analytic_step
    from unipd.methods.universal.quasi_newton import QuasiNewton, QuasiNewtonState, has_sign_cone
    from unipd.methods.universal.unipdgrad import UniPDGrad, UniPDGradState

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "accunipdgrad": ("AccUniPDGrad", "AccUniPDGradState", "next_t"),
        "common": ("WEIGHTS", "UniversalMethod", "UniversalState", "greedy_gamma"),
        "line_search": ("analytic_smoothness", "has_analytic_step"),
        "quasi_newton": ("QuasiNewton", "QuasiNewtonState", "has_sign_cone"),
        "unipdgrad": ("UniPDGrad", "UniPDGradState"),
    },
)

__all__ = [
    "WEIGHTS",
    "AccUniPDGrad",
    "AccUniPDGradState",
    "QuasiNewton",
    "QuasiNewtonState",
    "UniPDGrad",
    "UniPDGradState",
    "UniversalMethod",
    "UniversalState",
    "analytic_smoothness",
    "greedy_gamma",
    "has_analytic_step",
    "has_sign_cone",
    "next_t",
]
