"""Sharp oracles: sets X and objectives f known through [y]^# = argmax over x in X of <y, x> - f(x), one per file.

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

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports
from unipd.sharp.from_callable import from_callable

if TYPE_CHECKING:
    from unipd.sharp.base import Sharp, SharpFunction, SharpSet
    from unipd.sharp.base_polytope import BasePolytope
    from unipd.sharp.birkhoff import Birkhoff
    from unipd.sharp.box import Box
    from unipd.sharp.capped_simplex import CappedSimplex
    from unipd.sharp.convex_hull import ConvexHull
    from unipd.sharp.coordinates import Coordinates
    from unipd.sharp.entropy import Entropy
    from unipd.sharp.flow_polytope import FlowPolytope
    from unipd.sharp.group_ball import GroupBall
    from unipd.sharp.k_sparse import KSparsePolytope
    from unipd.sharp.k_support_ball import KSupportBall
    from unipd.sharp.l1_ball import L1Ball
    from unipd.sharp.l2_ball import L2Ball
    from unipd.sharp.linear import Linear
    from unipd.sharp.linf_ball import LInfBall
    from unipd.sharp.lp_ball import LpBall
    from unipd.sharp.norm_ball import NormBall
    from unipd.sharp.norm_on_ball import L1NormOnBall, NormOnBall
    from unipd.sharp.owl_ball import OWLBall
    from unipd.sharp.power_norm import (
        EuclideanPower,
        L1NormSquared,
        L2NormSquared,
        LInfNormSquared,
        NormSquared,
        PowerNorm,
        SeparablePower,
    )
    from unipd.sharp.product import Product, sum_answers
    from unipd.sharp.quadratic_box import QuadraticBox
    from unipd.sharp.simplex import Simplex, UnitSimplex
    from unipd.sharp.spectral.factors import Factors, ProductFactors, QuadraticFactors, SpectralFactors
    from unipd.sharp.spectral.fantope import Fantope
    from unipd.sharp.spectral.group_nuclear import GroupNuclearBall
    from unipd.sharp.spectral.nuclear import NuclearBall, NuclearNormSquared
    from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall
    from unipd.sharp.spectral.spectral_ball import SpectralBall
    from unipd.sharp.spectral.weighted_nuclear import WeightedNuclearBall
    from unipd.sharp.wrapper import Counted

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base": ("Sharp", "SharpFunction", "SharpSet"),
        "base_polytope": ("BasePolytope",),
        "birkhoff": ("Birkhoff",),
        "box": ("Box",),
        "capped_simplex": ("CappedSimplex",),
        "convex_hull": ("ConvexHull",),
        "coordinates": ("Coordinates",),
        "entropy": ("Entropy",),
        "flow_polytope": ("FlowPolytope",),
        "group_ball": ("GroupBall",),
        "k_sparse": ("KSparsePolytope",),
        "k_support_ball": ("KSupportBall",),
        "l1_ball": ("L1Ball",),
        "l2_ball": ("L2Ball",),
        "linear": ("Linear",),
        "linf_ball": ("LInfBall",),
        "lp_ball": ("LpBall",),
        "norm_ball": ("NormBall",),
        "norm_on_ball": ("L1NormOnBall", "NormOnBall"),
        "owl_ball": ("OWLBall",),
        "power_norm": (
            "EuclideanPower",
            "L1NormSquared",
            "L2NormSquared",
            "LInfNormSquared",
            "NormSquared",
            "PowerNorm",
            "SeparablePower",
        ),
        "product": ("Product", "sum_answers"),
        "quadratic_box": ("QuadraticBox",),
        "simplex": ("Simplex", "UnitSimplex"),
        "spectral.factors": ("Factors", "ProductFactors", "QuadraticFactors", "SpectralFactors"),
        "spectral.fantope": ("Fantope",),
        "spectral.group_nuclear": ("GroupNuclearBall",),
        "spectral.nuclear": ("NuclearBall", "NuclearNormSquared"),
        "spectral.spectrahedron": ("Spectrahedron", "TraceBall"),
        "spectral.spectral_ball": ("SpectralBall",),
        "spectral.weighted_nuclear": ("WeightedNuclearBall",),
        "wrapper": ("Counted",),
    },
)

__all__ = [
    "BasePolytope",
    "Birkhoff",
    "Box",
    "CappedSimplex",
    "ConvexHull",
    "Coordinates",
    "Counted",
    "Entropy",
    "EuclideanPower",
    "Factors",
    "Fantope",
    "FlowPolytope",
    "GroupBall",
    "GroupNuclearBall",
    "KSparsePolytope",
    "KSupportBall",
    "L1Ball",
    "L1NormOnBall",
    "L1NormSquared",
    "L2Ball",
    "L2NormSquared",
    "LInfBall",
    "LInfNormSquared",
    "Linear",
    "LpBall",
    "NormBall",
    "NormOnBall",
    "NormSquared",
    "NuclearBall",
    "NuclearNormSquared",
    "OWLBall",
    "PowerNorm",
    "Product",
    "ProductFactors",
    "QuadraticBox",
    "QuadraticFactors",
    "SeparablePower",
    "Sharp",
    "SharpFunction",
    "SharpSet",
    "Simplex",
    "Spectrahedron",
    "SpectralBall",
    "SpectralFactors",
    "TraceBall",
    "UnitSimplex",
    "WeightedNuclearBall",
    "from_callable",
    "sum_answers",
]
