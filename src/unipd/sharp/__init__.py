"""Sharp oracles: sets X and objectives f known through [y]^# = argmax over x in X of <y, x> - f(x), a family per file.

With f = 0 the sharp operator is the linear minimization oracle (LMO) of X, at -y. Every oracle returns the maximiser as
a structured atom, its value (the conjugate of f on X at y), f at it, and a certified error.

- Vectors: :class:`Simplex`, :class:`UnitSimplex`, :class:`CappedSimplex`, :class:`Box`; norm balls :class:`L1Ball`,
  :class:`L2Ball`, :class:`LInfBall`, :class:`LpBall`, :class:`GroupBall`, :class:`KSupportBall`, :class:`OWLBall`;
  polytopes :class:`KSparsePolytope`, :class:`ConvexHull`, :class:`Birkhoff`, :class:`FlowPolytope`,
  :class:`BasePolytope` of a submodular function.
- Matrices (:mod:`unipd.sharp.spectral`): :class:`NuclearBall`, :class:`WeightedNuclearBall`, :class:`GroupNuclearBall`,
  :class:`Spectrahedron`, :class:`TraceBall`, :class:`Fantope`, :class:`SpectralBall`.
- Objectives: :class:`Linear` adds <c, x> to any oracle; powers of norms on the whole space (:class:`L2NormSquared`,
  :class:`NuclearNormSquared`, ...), norms on balls (:class:`NormOnBall`), :class:`Entropy`, :class:`QuadraticBox`.
- Composition: :class:`Product` for several blocks; :class:`Counted` counts calls.

A user-supplied oracle is a function (:func:`from_callable`) or derives from :class:`Sharp` (a set) or
:class:`SharpFunction` (an objective); start with :mod:`unipd.sharp.base`.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
