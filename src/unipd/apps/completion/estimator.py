"""The estimator: matrix completion with scikit-learn's interface, and its base class where that is installed."""

from __future__ import annotations

import inspect
from typing import Any

from unipd.apps.completion.model import CompletionModel
from unipd.errors import InvalidInput


class PlainEstimator:
    """get_params and set_params with scikit-learn's interface."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters by name and return the estimator."""
        unknown = set(parameters) - set(self._names())
        if unknown:
            raise InvalidInput("parameters", f"names among {', '.join(self._names())}", ", ".join(sorted(unknown)))
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if repr(v) != repr(defaults[n].default)]
        return f"{type(self).__name__}({', '.join(changed)})"


try:
    from sklearn.base import BaseEstimator

    EstimatorBase: Any = BaseEstimator
except ImportError:
    EstimatorBase = PlainEstimator


class MatrixCompletion(CompletionModel, EstimatorBase):
    """Predict ratings: r_ui ~ mean + b_u + c_i + X_ui with biases and a matrix X of low rank, fitted jointly.

    The model is convex: 1/2 sum (r - mean - b - c - X)^2 + (user_ridge/2) ||b||^2 + (item_ridge/2) ||c||^2 over the
    ball ||D_r^(1/2) X D_c^(1/2)||_* <= radius, D = (count / mean count)^weight_power. How close the fit is to the
    optimum is certified (``gap_``). With ``side_information=True``, X = L_u Z L_v^T with ||Z||_* <= radius and
    L L^T = D^(-1) + g^2 S S^T, where S is the rating pattern with unit rows: as in SVD++, but convex and on both sides,
    the choice of rated items informs the prediction.

    Parameters
    ----------
    radius
        Radius of the ball, or "auto": chosen by validation on held-out ratings along a warm-started path. None is
        allowed only with ``residual``, which needs no radius.
    residual
        Minimise ||X||_*^2 subject to this root mean squared residual instead, with biases fitted beforehand (0 for an
        exact fit). None for the ball.
    side_information
        Use the rating pattern (or features passed to :meth:`fit`) as side information: slower, more accurate.
    user_ridge, item_ridge
        Ridges of the biases; item_ridge is 5 by default, 12 with side information.
    weight_power
        Power of the counts in the weights; 0.5 by default, 0.35 with side information.
    user_strength, item_strength
        g on the two sides, with side information.
    clip
        Range of predictions: True for that of the training ratings, False for no clipping, or (smallest, largest).
    duplicates
        What counts of several ratings of one pair: "last", "mean", or an "error" is raised. None: the last one, with a
        warning. Duplicate entries of a SciPy matrix are added.
    method
        "factored" (the same as "auto"), or another method of :func:`unipd.solve`.
    accuracy
        Requested duality gap, relative to the loss of the mean alone; 1e-3 by default, 0.15 for more than a million
        ratings, where predictions hardly improve beyond it.
    rank
        Initial number of columns of the factors, 64 by default, 48 with side information and 16 for more than a million
        ratings. It grows as needed and does not limit the rank of X.
    validation_fraction, random_state
        Share of the ratings held out for "auto", and the random seed (or a NumPy generator; None for 0).
    max_seconds
        Time limit of :meth:`fit`. The search for a radius gets three quarters of it; if that is not enough, the best
        radius so far (or an estimate) is used and the status is "time_limit" even if the final fit converges. The
        final fit does at least one iteration.
    callback, verbose
        As in :func:`unipd.solve`.

    Attributes
    ----------
    mean_, user_bias_, item_bias_
        Mean of the training ratings and the biases b and c.
    user_factors_, singular_values_, item_factors_
        U, s and V of X = U diag(s) V^T: U has a row for each user and V one for each item, with orthonormal columns; s
        is sorted, largest first.
    rank_
        Number of singular values that are not negligible.
    users_, items_
        Names of the users and items, in the order of the rows and columns.
    range_
        Smallest and largest prediction; None without clipping.
    radius_, path_
        Radius of the ball, and the radii tried with their validation errors.
    objective_, dual_bound_, gap_, n_iter_
        The objective of the final fit, its certified lower bound, their relative distance, and iterations.
    result_
        The result of the solver with status, counts and history; ``search`` has the work of the radius search.

    See Also
    --------
    ImplicitCompletion, LowRankImputer, unipd.apps.completion.load_model

    Notes
    -----
    Pairs with a user or an item unknown from training are predicted from the known biases. X is not debiased: its
    shrinkage is part of the model.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> taste = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 20))
    >>> known = rng.random((30, 20)) < 0.6
    >>> model = MatrixCompletion().fit(np.where(known, taste, np.nan))
    >>> model.result_.status.value, model.rmse(np.where(known, np.nan, taste)) < 0.8
    ('solved', True)
    >>> items, scores = model.recommend(user=3, n=2)
    >>> len(items)
    2
    """

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a regressor whose samples are pairs of identifiers, not a feature matrix."""
        from sklearn.utils import RegressorTags

        tags: Any = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
