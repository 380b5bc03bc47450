"""The factored (Burer-Monteiro) method for spectral sets: descent on factors of X, certified by the oracle.

In the order to read it: :mod:`unipd.sharp.spectral.factors` (a set in terms of its factors R),
``augmented_lagrangian`` (the objective over R, the state, the multipliers), ``lbfgs`` (the inner descent), ``factored``
(the method: descent, certificate, escape by a rank-one atom), ``least_norm`` (no set bounds the factors). For diagonal
constraints, as in MaxCut: ``fixed_diagonal`` (factors for which they hold by construction) and ``trust_region`` (Newton
steps over them).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
