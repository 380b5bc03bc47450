"""The factored (Burer-Monteiro) method for spectral sets: descent on factors of X, certified by the oracle.

In the order to read it: :mod:`unipd.sharp.spectral.factors` (a set in terms of its factors R),
``augmented_lagrangian`` (the objective over R, the state, quasi-Newton steps, the multipliers), ``factored`` (the
method: descent, certificate, escape by a rank-one atom; at its end what changes where no set bounds the factors). For
diagonal constraints, as in MaxCut, ``fixed_diagonal`` has factors for which they hold by construction, and Newton steps
over them.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
