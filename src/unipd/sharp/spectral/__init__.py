"""Sharp oracles over sets of matrices: the top of the spectrum of a direction known by its products.

Read :mod:`~unipd.sharp.spectral.base` (directions, certified errors, oracles that need one top pair), then a family of
sets per file: nuclear (balls, also weighted and of groups, squares), spectrahedron (trace given, bounded or squared;
Fantope), spectral_ball (with Schatten norms).
:mod:`~unipd.sharp.spectral.sdp` is the cost of a semidefinite program over a trace given or bounded, with its own
certificates; :mod:`~unipd.sharp.spectral.factors` has the sets in factored form.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
