"""Sets K and losses phi that couple A x - b, one family per file with its prox, derivative and rescaling.

Sets, for A x - b in K, with the support function h(lam) = sup over K of <lam, r>:

- :class:`Equality`, :class:`AtLeast`, :class:`AtMost`, :class:`Box`, :class:`HalfSpace`: linear constraints;
- :class:`L1Ball`, :class:`L2Ball`, :class:`LInfBall`, :class:`NuclearBall`, :class:`SpectralBall`: norm balls;
- :class:`SecondOrderCone`, :class:`PSDCone`: cones;
- :class:`Product`, :class:`Translated`, :class:`Scaled`: sets made of sets.

Losses, for f(x) + phi(A x - b): :class:`LeastSquares`, :class:`WeightedLeastSquares`, :class:`Huber`,
:class:`Logistic`, :class:`Absolute`; for counts :class:`MultinomialLikelihood`, :class:`PoissonLikelihood`.

A user-supplied set derives from :class:`ConvexSet` (a projection and a support function), a loss from
:class:`ConvexLoss` (value, gradient, curvature, conjugate, prox; ``slack`` as well for the paper's slack split) or, if
separable, from :class:`BoundedSlackLoss`. Optional methods with documented defaults make solves faster:
``prox_jacobian`` and ``prox_curvature`` for Newton steps, ``rescale`` for row equilibration.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
