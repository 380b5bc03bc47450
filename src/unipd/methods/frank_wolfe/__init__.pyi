from unipd.methods.frank_wolfe.active_set import AwayStepFrankWolfe as AwayStepFrankWolfe
from unipd.methods.frank_wolfe.active_set import BlendedPairwise as BlendedPairwise
from unipd.methods.frank_wolfe.active_set import PairwiseFrankWolfe as PairwiseFrankWolfe
<<<<<<< HEAD
from unipd.methods.frank_wolfe.active_set import Vertex as Vertex
=======
from unipd.methods.frank_wolfe.blended import BlendedPairwise as BlendedPairwise
>>>>>>> c018a47 (Packages export what users and other packages need; names that only a package itself uses are no longer exported)
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe as FrankWolfe
from unipd.methods.frank_wolfe.active_set import ActiveSet
from unipd.methods.frank_wolfe.active_set import ActiveSetState
from unipd.methods.frank_wolfe.active_set import Vertex
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfeState
