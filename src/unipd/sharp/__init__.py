"""Sharp oracles: sets X, objectives f and pairs of them (one a file)."""

from unipd.sharp.base import Sharp, SharpFunction, SharpSet
from unipd.sharp.base_polytope import BasePolytope
from unipd.sharp.birkhoff import Birkhoff
from unipd.sharp.box import Box
from unipd.sharp.capped_simplex import CappedSimplex
from unipd.sharp.convex_hull import ConvexHull
from unipd.sharp.counted import Counted
from unipd.sharp.entropy import Entropy
from unipd.sharp.flow_polytope import FlowPolytope
from unipd.sharp.from_callable import from_callable
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
from unipd.sharp.norm_squared import L1NormSquared, L2NormSquared, LInfNormSquared, NormSquared
from unipd.sharp.owl_ball import OWLBall
from unipd.sharp.power_norm import EuclideanPower, PowerNorm, SeparablePower
from unipd.sharp.product import Product
from unipd.sharp.quadratic_box import QuadraticBox
from unipd.sharp.simplex import Simplex, UnitSimplex
from unipd.sharp.spectral_ball import SpectralBall
from unipd.sharp.spectral_fantope import Fantope
from unipd.sharp.spectral_group import GroupNuclearBall
from unipd.sharp.spectral_nuclear import NuclearBall, NuclearNormSquared
from unipd.sharp.spectral_trace import Spectrahedron, TraceBall
from unipd.sharp.spectral_weighted import WeightedNuclearBall

__all__ = [
    "BasePolytope",
    "Birkhoff",
    "Box",
    "CappedSimplex",
    "ConvexHull",
    "Counted",
    "Entropy",
    "EuclideanPower",
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
    "QuadraticBox",
    "SeparablePower",
    "Sharp",
    "SharpFunction",
    "SharpSet",
    "Simplex",
    "Spectrahedron",
    "SpectralBall",
    "TraceBall",
    "UnitSimplex",
    "WeightedNuclearBall",
    "from_callable",
]
