from unipd.methods.auto import METHODS as METHODS
from unipd.methods.auto import as_method as as_method
from unipd.methods.base import Certificate as Certificate
from unipd.methods.base import Counts as Counts
from unipd.methods.base import Method as Method
from unipd.methods.base import State as State
from unipd.methods.base import common_fields as common_fields
from unipd.methods.base import fast_replace as fast_replace
from unipd.methods.base import keep_incumbent as keep_incumbent
from unipd.methods.base import merit as merit
from unipd.methods.base import method_options as method_options
from unipd.methods.cgal import CGAL as CGAL
from unipd.methods.coordinate.coordinate import CoordinateDescent as CoordinateDescent
from unipd.methods.corrective.corrective import Corrective as Corrective
from unipd.methods.corrective.corrective import MemoryBound as MemoryBound
from unipd.methods.factored.factored import Factored as Factored
from unipd.methods.frank_wolfe import AwayStepFrankWolfe as AwayStepFrankWolfe
from unipd.methods.frank_wolfe import BlendedPairwise as BlendedPairwise
from unipd.methods.frank_wolfe import PairwiseFrankWolfe as PairwiseFrankWolfe
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe as FrankWolfe
from unipd.methods.norm_barrier import NormBarrier as NormBarrier
from unipd.methods.norm_barrier import has_norm_barrier as has_norm_barrier
from unipd.methods.universal.accunipdgrad import AccUniPDGrad as AccUniPDGrad
from unipd.methods.universal.quasi_newton import QuasiNewton as QuasiNewton
from unipd.methods.universal.unipdgrad import UniPDGrad as UniPDGrad
from unipd.methods.wrappers.rescaling import Rescaling as Rescaling
from unipd.methods.wrappers.restarts import Restarts as Restarts
from unipd.methods.cgal import CGALState
from unipd.methods.descent import LBFGSMemory
from unipd.methods.norm_barrier import Centring
from unipd.methods.norm_barrier import NormBarrierState
from unipd.methods.descent import direction_between
from unipd.methods.descent import exact_step
from unipd.methods.descent import loss_gradient
from unipd.methods.descent import step_along
