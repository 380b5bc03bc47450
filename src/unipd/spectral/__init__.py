"""Top eigenpairs and singular triples of operators known by their products, with certified upper bounds.

Linear minimization oracles over sets of matrices need the top of a spectrum. Read :mod:`~unipd.spectral.engine`
(which solver, how a run starts), :mod:`~unipd.spectral.krylov` (thick-restart Krylov runs for eigenpairs and singular
triples, and when they may stop), then :mod:`~unipd.spectral.certify`: Krylov runs give lower bounds, and upper bounds
with a certificate come from there. :mod:`~unipd.spectral.symmetric` has sparse symmetric matrices with bounds of their
own. :mod:`~unipd.spectral.operators` has matrices known by their products, and the kinds of bounds; the compiled
kernels of single-vector runs are in ``kernels``.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
