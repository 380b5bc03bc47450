"""Matrix completion: from ratings to predictions (paper, section 5.2).

:class:`MatrixCompletion` is the estimator; :func:`ball_problem` and :func:`norm_problem` are the paper's two
formulations as problems for :func:`unipd.solve`. In reading order: ``estimator`` (documentation and scikit-learn),
``model`` (parameters, fit), ``ratings`` (input), ``problem`` and ``side_information`` (formulation (a) and its
preconditioner), ``solver``, ``minimum_norm`` (formulation (b)), ``radius_search``, ``fitted_model`` (predictions and
metrics), ``saved_model`` (files and pickles), ``fold_in`` (new users and items), ``implicit``
(:class:`ImplicitCompletion`: views, purchases, plays).
"""

from unipd._util.lazy import lazy_exports
from unipd.apps.completion.minimum_norm import BalancedNuclearNormSquared as BalancedNuclearNormSquared
from unipd.apps.completion.minimum_norm import factored_norm_method as factored_norm_method
from unipd.apps.completion.minimum_norm import norm_problem as norm_problem
from unipd.apps.completion.model import CompletionModel as CompletionModel
from unipd.apps.completion.problem import CompletionProblem as CompletionProblem
from unipd.apps.completion.problem import ModelSettings as ModelSettings
from unipd.apps.completion.problem import WarmStart as WarmStart
from unipd.apps.completion.problem import ball_formulation as ball_formulation
from unipd.apps.completion.problem import ball_problem as ball_problem
from unipd.apps.completion.problem import fit_biases as fit_biases
from unipd.apps.completion.radius_search import RadiusChoice as RadiusChoice
from unipd.apps.completion.radius_search import choose_radius as choose_radius
from unipd.apps.completion.radius_search import initial_radius as initial_radius
from unipd.apps.completion.ratings import Index as Index
from unipd.apps.completion.ratings import as_pairs as as_pairs
from unipd.apps.completion.ratings import as_ratings as as_ratings
from unipd.apps.completion.ratings import index_ratings as index_ratings
from unipd.apps.completion.saved_model import LoadedModel as LoadedModel
from unipd.apps.completion.saved_model import load_model as load_model
from unipd.apps.completion.side_information import SideCurvature as SideCurvature
from unipd.apps.completion.side_information import SideFactor as SideFactor
from unipd.apps.completion.side_information import align_features as align_features
from unipd.apps.completion.solver import SolverOptions as SolverOptions
from unipd.apps.completion.solver import merge_results as merge_results
from unipd.apps.completion.solver import solve_completion as solve_completion

__getattr__, __dir__, __all__ = lazy_exports(__name__)
