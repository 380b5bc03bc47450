"""The factored (Burer-Monteiro) method for spectral sets: descent on factors of X, certified by the oracle.

In the order to read it: :mod:`unipd.sharp.spectral.factors` (a set in terms of its factors R),
``augmented_lagrangian`` (the objective over R, the state, the multipliers), ``lbfgs`` (the inner descent), ``factored``
(the method: descent, certificate, escape by a rank-one atom), ``least_norm`` (no set bounds the factors). For diagonal
constraints, as in MaxCut: ``fixed_diagonal`` (factors for which they hold by construction) and ``trust_region`` (Newton
steps over them).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.factored.augmented_lagrangian import AugmentedLagrangian, FactoredState, stationarity
    from unipd.methods.factored.factored import Factored, factors_of, is_factorable
    from unipd.methods.factored.fixed_diagonal import RowFactors, find_groups, fixed_diagonal_factors
    from unipd.methods.factored.lbfgs import Memory
    from unipd.methods.factored.trust_region import newton_steps

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "augmented_lagrangian": ("AugmentedLagrangian", "FactoredState", "stationarity"),
        "factored": ("Factored", "factors_of", "is_factorable"),
        "fixed_diagonal": ("RowFactors", "find_groups", "fixed_diagonal_factors"),
        "lbfgs": ("Memory",),
        "trust_region": ("newton_steps",),
    },
)

__all__ = [
    "AugmentedLagrangian",
    "Factored",
    "FactoredState",
    "Memory",
    "RowFactors",
    "factors_of",
    "find_groups",
    "fixed_diagonal_factors",
    "is_factorable",
    "newton_steps",
    "stationarity",
]
