from unipd.apps.completion.estimator import MatrixCompletion as MatrixCompletion
from unipd.apps.completion.implicit import ImplicitCompletion as ImplicitCompletion
from unipd.apps.completion.problem import CompletionProblem as CompletionProblem
from unipd.apps.completion.problem import ball_formulation as ball_formulation
from unipd.apps.completion.problem import ball_problem as ball_problem
from unipd.apps.completion.problem import norm_problem as norm_problem
from unipd.apps.completion.ratings import Index as Index
from unipd.apps.completion.ratings import align_features as align_features
from unipd.apps.completion.ratings import as_pairs as as_pairs
from unipd.apps.completion.ratings import as_ratings as as_ratings
from unipd.apps.completion.ratings import index_ratings as index_ratings
from unipd.apps.completion.saved_model import LoadedModel as LoadedModel
from unipd.apps.completion.saved_model import load_model as load_model
from unipd.apps.completion.solver import RadiusChoice as RadiusChoice
from unipd.apps.completion.solver import SolverOptions as SolverOptions
from unipd.apps.completion.solver import choose_radius as choose_radius
from unipd.apps.completion.solver import initial_radius as initial_radius
from unipd.apps.completion.solver import solve_completion as solve_completion
from unipd.apps.completion.estimator import PlainEstimator
from unipd.apps.completion.implicit import index_interactions
from unipd.apps.completion.model import CompletionModel
from unipd.apps.completion.model import SEARCH_CUT
from unipd.apps.completion.model import check_parameters
from unipd.apps.completion.problem import ModelSettings
from unipd.apps.completion.problem import SideCurvature
from unipd.apps.completion.problem import SideFactor
from unipd.apps.completion.problem import fit_biases
from unipd.apps.completion.solver import Deadline
from unipd.apps.completion.solver import MOST_TRIALS
from unipd.apps.completion.solver import StagedState
from unipd.apps.completion.solver import factored_norm_method
from unipd.apps.completion.solver import least_of_parabola
from unipd.apps.completion.solver import predict_at
