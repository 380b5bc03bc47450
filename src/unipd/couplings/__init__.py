"""Sets K and losses phi that couple A x - b, one per file with its prox, derivative and rescaling.

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

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.couplings.absolute import Absolute
    from unipd.couplings.affine_image import Scaled, Translated
    from unipd.couplings.base import BoundedSlackLoss, ConvexLoss, ConvexSet, CouplingBase, Rescaling
    from unipd.couplings.box import Box
    from unipd.couplings.equality import Equality
    from unipd.couplings.half_space import HalfSpace
    from unipd.couplings.huber import Huber
    from unipd.couplings.l1_ball import L1Ball
    from unipd.couplings.l2_ball import L2Ball
    from unipd.couplings.least_squares import LeastSquares, WeightedLeastSquares
    from unipd.couplings.likelihood import MultinomialLikelihood, PoissonLikelihood
    from unipd.couplings.linf_ball import LInfBall
    from unipd.couplings.logistic import Logistic
    from unipd.couplings.matrix_balls import NuclearBall, SpectralBall
    from unipd.couplings.orthant import AtLeast, AtMost
    from unipd.couplings.product import Product
    from unipd.couplings.psd_cone import PSDCone
    from unipd.couplings.second_order_cone import SecondOrderCone

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "absolute": ("Absolute",),
        "affine_image": ("Scaled", "Translated"),
        "base": ("BoundedSlackLoss", "ConvexLoss", "ConvexSet", "CouplingBase", "Rescaling"),
        "box": ("Box",),
        "equality": ("Equality",),
        "half_space": ("HalfSpace",),
        "huber": ("Huber",),
        "l1_ball": ("L1Ball",),
        "l2_ball": ("L2Ball",),
        "least_squares": ("LeastSquares", "WeightedLeastSquares"),
        "likelihood": ("MultinomialLikelihood", "PoissonLikelihood"),
        "linf_ball": ("LInfBall",),
        "logistic": ("Logistic",),
        "matrix_balls": ("NuclearBall", "SpectralBall"),
        "orthant": ("AtLeast", "AtMost"),
        "product": ("Product",),
        "psd_cone": ("PSDCone",),
        "second_order_cone": ("SecondOrderCone",),
    },
)

__all__ = [
    "Absolute",
    "AtLeast",
    "AtMost",
    "BoundedSlackLoss",
    "Box",
    "ConvexLoss",
    "ConvexSet",
    "CouplingBase",
    "Equality",
    "HalfSpace",
    "Huber",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LeastSquares",
    "Logistic",
    "MultinomialLikelihood",
    "NuclearBall",
    "PSDCone",
    "PoissonLikelihood",
    "Product",
    "Rescaling",
    "Scaled",
    "SecondOrderCone",
    "SpectralBall",
    "Translated",
    "WeightedLeastSquares",
]
