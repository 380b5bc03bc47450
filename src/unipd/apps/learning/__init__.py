"""Learning problems as estimators and functions.

Regression (sparse recovery, norm constraints), svm with reduced_hulls, imputer (missing values), submodular
(minimisation) and clustering. Modules are imported on first use: regression, svm and imputer need scikit-learn, the
others do not.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
