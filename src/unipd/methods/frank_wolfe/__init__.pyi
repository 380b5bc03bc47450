from unipd.methods.frank_wolfe.active_set import AwayStepFrankWolfe as AwayStepFrankWolfe
from unipd.methods.frank_wolfe.active_set import BlendedPairwise as BlendedPairwise
from unipd.methods.frank_wolfe.active_set import PairwiseFrankWolfe as PairwiseFrankWolfe
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe as FrankWolfe
from unipd.methods.frank_wolfe.active_set import ActiveSet
from unipd.methods.frank_wolfe.active_set import ActiveSetState
from unipd.methods.frank_wolfe.active_set import Vertex
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfeState
