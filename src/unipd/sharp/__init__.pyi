from unipd.sharp.base import Sharp as Sharp
from unipd.sharp.base import SharpFunction as SharpFunction
from unipd.sharp.base import SharpSet as SharpSet
from unipd.sharp.base_polytope import BasePolytope as BasePolytope
from unipd.sharp.birkhoff import Birkhoff as Birkhoff
from unipd.sharp.box import Box as Box
from unipd.sharp.simplex import CappedSimplex as CappedSimplex
from unipd.sharp.convex_hull import ConvexHull as ConvexHull
from unipd.sharp.coordinates import Coordinates as Coordinates
from unipd.sharp.entropy import Entropy as Entropy
from unipd.sharp.flow_polytope import FlowPolytope as FlowPolytope
from unipd.sharp.callable_sharp import from_callable as from_callable
from unipd.sharp.group_ball import GroupBall as GroupBall
from unipd.sharp.k_sparse import KSparsePolytope as KSparsePolytope
from unipd.sharp.k_sparse import KSupportBall as KSupportBall
from unipd.sharp.linear import Linear as Linear
from unipd.sharp.norm_ball import L1Ball as L1Ball
from unipd.sharp.norm_ball import L2Ball as L2Ball
from unipd.sharp.norm_ball import LInfBall as LInfBall
from unipd.sharp.norm_ball import LpBall as LpBall
from unipd.sharp.norm_ball import NormBall as NormBall
from unipd.sharp.norms import L1NormOnBall as L1NormOnBall
from unipd.sharp.norms import NormOnBall as NormOnBall
from unipd.sharp.owl_ball import OWLBall as OWLBall
from unipd.sharp.norms import EuclideanPower as EuclideanPower
from unipd.sharp.norms import L1NormSquared as L1NormSquared
from unipd.sharp.norms import L2NormSquared as L2NormSquared
from unipd.sharp.norms import LInfNormSquared as LInfNormSquared
from unipd.sharp.norms import NormSquared as NormSquared
from unipd.sharp.norms import PowerNorm as PowerNorm
from unipd.sharp.norms import SeparablePower as SeparablePower
from unipd.sharp.product import Product as Product
from unipd.sharp.product import sum_answers as sum_answers
from unipd.sharp.box import QuadraticBox as QuadraticBox
from unipd.sharp.simplex import Simplex as Simplex
from unipd.sharp.simplex import UnitSimplex as UnitSimplex
from unipd.sharp.spectral.factors import Factors as Factors
from unipd.sharp.spectral.factors import ProductFactors as ProductFactors
from unipd.sharp.spectral.factors import QuadraticFactors as QuadraticFactors
from unipd.sharp.spectral.factors import SpectralFactors as SpectralFactors
from unipd.sharp.spectral.spectrahedron import Fantope as Fantope
from unipd.sharp.spectral.nuclear import GroupNuclearBall as GroupNuclearBall
from unipd.sharp.spectral.nuclear import NuclearBall as NuclearBall
from unipd.sharp.spectral.nuclear import NuclearNormOnBall as NuclearNormOnBall
from unipd.sharp.spectral.nuclear import NuclearNormSquared as NuclearNormSquared
from unipd.sharp.spectral.spectrahedron import Spectrahedron as Spectrahedron
from unipd.sharp.spectral.spectrahedron import TraceBall as TraceBall
from unipd.sharp.spectral.spectral_ball import SchattenSquared as SchattenSquared
from unipd.sharp.spectral.spectral_ball import SpectralBall as SpectralBall
from unipd.sharp.spectral.nuclear import WeightedNuclearBall as WeightedNuclearBall
from unipd.sharp.base import Counted as Counted
from unipd.sharp.base_polytope import nearest_point
from unipd.sharp.norm_ball import euclidean
from unipd.sharp.norm_ball import largest
from unipd.sharp.norm_ball import scatter_point
from unipd.sharp.norm_ball import unit
from unipd.sharp.product import runs_of
