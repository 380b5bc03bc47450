"""Matrix completion: from ratings to predictions (paper, section 5.2).

:class:`MatrixCompletion` is the estimator; :func:`ball_problem` and :func:`norm_problem` are the paper's two
formulations as problems for :func:`unipd.solve`. In reading order: ``estimator`` (documentation and scikit-learn),
``model`` (parameters, fit), ``ratings`` (input), ``problem`` and ``side_information`` (formulation (a) and its
preconditioner), ``solver``, ``minimum_norm`` (formulation (b)), ``radius_search``, ``fitted_model`` (predictions and
metrics), ``saved_model`` (files and pickles), ``fold_in`` (new users and items), ``implicit``
(:class:`ImplicitCompletion`: views, purchases, plays).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports
from unipd.apps.completion.minimum_norm import BalancedNuclearNormSquared, factored_norm_method, norm_problem
from unipd.apps.completion.model import CompletionModel
from unipd.apps.completion.problem import (
    CompletionProblem,
    ModelSettings,
    WarmStart,
    ball_formulation,
    ball_problem,
    fit_biases,
)
from unipd.apps.completion.radius_search import RadiusChoice, choose_radius, initial_radius
from unipd.apps.completion.ratings import Index, as_pairs, as_ratings, index_ratings
from unipd.apps.completion.saved_model import LoadedModel, load_model
from unipd.apps.completion.side_information import SideCurvature, SideFactor, align_features
from unipd.apps.completion.solver import SolverOptions, merge_results, solve_completion

if TYPE_CHECKING:
    from unipd.apps.completion.estimator import MatrixCompletion
    from unipd.apps.completion.implicit import ImplicitCompletion

__getattr__, __dir__ = lazy_exports(__name__, {"estimator": ("MatrixCompletion",), "implicit": ("ImplicitCompletion",)})


__all__ = [
    "BalancedNuclearNormSquared",
    "CompletionModel",
    "CompletionProblem",
    "ImplicitCompletion",
    "Index",
    "LoadedModel",
    "MatrixCompletion",
    "ModelSettings",
    "RadiusChoice",
    "SideCurvature",
    "SideFactor",
    "SolverOptions",
    "WarmStart",
    "align_features",
    "as_pairs",
    "as_ratings",
    "ball_formulation",
    "ball_problem",
    "choose_radius",
    "factored_norm_method",
    "fit_biases",
    "index_ratings",
    "initial_radius",
    "load_model",
    "merge_results",
    "norm_problem",
    "solve_completion",
]
