"""Certified upper bounds on top eigenvalues and singular values.

Read :mod:`~unipd.spectral.certify.probabilistic` (a Lanczos run from a random vector, with its proof), then
:mod:`~unipd.spectral.certify.rigorous` (norm bounds, factorisations, the Gram matrix), then
:mod:`~unipd.spectral.certify.vectors` (both, around vectors already computed: an answer becomes a certificate).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
