"""Learning problems: regression (sparse recovery, norm constraints), svm, submodular (minimisation), clustering.

Modules are imported on first use: regression and svm need scikit-learn, the others do not.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.apps.learning.clustering import communities, kmeans, partition_program
    from unipd.apps.learning.regression import NormConstrainedRegressor, basis_pursuit
    from unipd.apps.learning.submodular import CutFunction
    from unipd.apps.learning.svm import SupportVectorClassifier

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "clustering": ("communities", "kmeans", "partition_program"),
        "regression": ("NormConstrainedRegressor", "basis_pursuit"),
        "submodular": ("CutFunction",),
        "svm": ("SupportVectorClassifier",),
    },
)


__all__ = [
    "CutFunction",
    "NormConstrainedRegressor",
    "SupportVectorClassifier",
    "basis_pursuit",
    "communities",
    "kmeans",
    "partition_program",
]
