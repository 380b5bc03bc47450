"""Learning problems as estimators and functions.

Regression (sparse recovery, norm constraints), svm with kernel_svm, imputer (missing values), submodular (minimisation)
and clustering. Modules are imported on first use: regression, svm and imputer need scikit-learn, the others do not.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.apps.learning.clustering import communities, kmeans, solve_partition
    from unipd.apps.learning.imputer import LowRankImputer
    from unipd.apps.learning.regression import NormConstrainedRegressor, NormConstrainedRegressorCV, basis_pursuit
    from unipd.apps.learning.submodular import CutFunction
    from unipd.apps.learning.svm import SupportVectorClassifier

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "clustering": ("communities", "kmeans", "solve_partition"),
        "imputer": ("LowRankImputer",),
        "regression": ("NormConstrainedRegressor", "NormConstrainedRegressorCV", "basis_pursuit"),
        "submodular": ("CutFunction",),
        "svm": ("SupportVectorClassifier",),
    },
)


__all__ = [
    "CutFunction",
    "LowRankImputer",
    "NormConstrainedRegressor",
    "NormConstrainedRegressorCV",
    "SupportVectorClassifier",
    "basis_pursuit",
    "communities",
    "kmeans",
    "solve_partition",
]
