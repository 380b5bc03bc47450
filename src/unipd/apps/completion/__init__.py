"""Matrix completion: from ratings to predictions (paper, section 5.2).

:class:`MatrixCompletion` is the estimator; :func:`ball_problem` and :func:`norm_problem` are the paper's two
formulations as problems for :func:`unipd.solve`. In reading order: ``estimator`` (documentation and scikit-learn),
``model`` (parameters, fit), ``ratings`` (input), ``problem`` (both formulations, side information, preconditioners),
``solver`` (a fit, the choice of the radius), ``fitted_model`` (predictions, metrics, new users and items),
``saved_model`` (files and pickles), ``implicit`` (:class:`ImplicitCompletion`: views, purchases, plays).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
