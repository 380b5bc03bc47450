from unipd.couplings.absolute import Absolute as Absolute
from unipd.couplings.affine_image import Scaled as Scaled
from unipd.couplings.affine_image import Translated as Translated
from unipd.couplings.base import BoundedSlackLoss as BoundedSlackLoss
from unipd.couplings.base import ConvexLoss as ConvexLoss
from unipd.couplings.base import ConvexSet as ConvexSet
from unipd.couplings.base import CouplingBase as CouplingBase
from unipd.couplings.base import RowScaling as RowScaling
from unipd.couplings.relations import Box as Box
from unipd.couplings.half_space import HalfSpace as HalfSpace
from unipd.couplings.huber import Huber as Huber
from unipd.couplings.least_squares import LeastSquares as LeastSquares
from unipd.couplings.least_squares import WeightedLeastSquares as WeightedLeastSquares
from unipd.couplings.likelihood import MultinomialLikelihood as MultinomialLikelihood
from unipd.couplings.likelihood import PoissonLikelihood as PoissonLikelihood
from unipd.couplings.logistic import Logistic as Logistic
from unipd.couplings.lp_ball import L1Ball as L1Ball
from unipd.couplings.lp_ball import L2Ball as L2Ball
from unipd.couplings.lp_ball import LInfBall as LInfBall
from unipd.couplings.spectral import NuclearBall as NuclearBall
from unipd.couplings.spectral import SpectralBall as SpectralBall
from unipd.couplings.product import Product as Product
from unipd.couplings.spectral import PSDCone as PSDCone
from unipd.couplings.relations import AtLeast as AtLeast
from unipd.couplings.relations import AtMost as AtMost
from unipd.couplings.relations import Equality as Equality
from unipd.couplings.second_order_cone import SecondOrderCone as SecondOrderCone
from unipd.couplings.base import domain_rounding
from unipd.couplings.base import finite_differences
from unipd.couplings.logistic import logistic_prox
from unipd.couplings.lp_ball import Ellipsoid
