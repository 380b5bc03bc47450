"""Matrix completion: ratings to predictions (paper, section 5.2).

:class:`MatrixCompletion` is the estimator; :func:`ball_problem` and :func:`norm_problem` are the paper's two
formulations as problems of :func:`unipd.solve`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unipd.apps.completion.design import Design, Settings
from unipd.apps.completion.fitted import Fitted
from unipd.apps.completion.formulations import ball_design, ball_problem, factored_norm_method, norm_problem
from unipd.apps.completion.loaded import LoadedModel, load_fitted
from unipd.apps.completion.model import CompletionModel
from unipd.apps.completion.solving import Plan, solve_design

if TYPE_CHECKING:
    from unipd.apps.completion.estimator import MatrixCompletion


def __getattr__(name: str) -> Any:
    if name != "MatrixCompletion":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("unipd.apps.completion.estimator").MatrixCompletion


__all__ = [
    "CompletionModel",
    "Design",
    "Fitted",
    "LoadedModel",
    "MatrixCompletion",
    "Plan",
    "Settings",
    "ball_design",
    "ball_problem",
    "factored_norm_method",
    "load_fitted",
    "norm_problem",
    "solve_design",
]
