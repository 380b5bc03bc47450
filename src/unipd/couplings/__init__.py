"""Sets K and losses phi: what couples A x - b (one idea a file).

Sets, for A x - b in K, with the support function h(lam) = sup over K of <lam, r>:

- :class:`Equality`, :class:`AtLeast`, :class:`AtMost`, :class:`Box`, :class:`HalfSpace`: linear constraints;
- :class:`L1Ball`, :class:`L2Ball`, :class:`LInfBall`, :class:`NuclearBall`, :class:`SpectralBall`: norm balls;
- :class:`SecondOrderCone`, :class:`PSDCone`: cones;
- :class:`Product`, :class:`Translated`, :class:`Scaled`: sets made of sets.

Losses, for f(x) + phi(A x - b): :class:`LeastSquares`, :class:`WeightedLeastSquares`, :class:`Huber`,
:class:`Logistic`, :class:`Absolute`.

A set of one's own derives from :class:`ConvexSet` (a projection and a support function), a loss from
:class:`ConvexLoss`.
"""

from unipd.couplings.absolute import Absolute
from unipd.couplings.base import ConvexLoss, ConvexSet
from unipd.couplings.box import Box
from unipd.couplings.equality import Equality
from unipd.couplings.half_space import HalfSpace
from unipd.couplings.huber import Huber
from unipd.couplings.l1_ball import L1Ball
from unipd.couplings.l2_ball import L2Ball
from unipd.couplings.least_squares import LeastSquares, WeightedLeastSquares
from unipd.couplings.linf_ball import LInfBall
from unipd.couplings.logistic import Logistic
from unipd.couplings.matrix_balls import NuclearBall, SpectralBall
from unipd.couplings.orthant import AtLeast, AtMost
from unipd.couplings.product import Product
from unipd.couplings.psd_cone import PSDCone
from unipd.couplings.scaled import Scaled
from unipd.couplings.second_order_cone import SecondOrderCone
from unipd.couplings.translated import Translated

__all__ = [
    "Absolute",
    "AtLeast",
    "AtMost",
    "Box",
    "ConvexLoss",
    "ConvexSet",
    "Equality",
    "HalfSpace",
    "Huber",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LeastSquares",
    "Logistic",
    "NuclearBall",
    "PSDCone",
    "Product",
    "Scaled",
    "SecondOrderCone",
    "SpectralBall",
    "Translated",
    "WeightedLeastSquares",
]
