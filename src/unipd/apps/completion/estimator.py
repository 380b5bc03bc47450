"""The estimator: matrix completion in the style of scikit-learn."""

from __future__ import annotations

from typing import Any

from unipd.apps.completion.model import CompletionModel
from unipd.apps.estimators import estimator_base

_Base: Any = estimator_base()


class MatrixCompletion(CompletionModel, _Base):
    """Predict ratings: r_ui ~ mean + b_u + c_i + X_ui with biases and a matrix X of low rank, fitted jointly.

    The model is convex: 1/2 sum (r - mean - b - c - X)^2 + (user_ridge/2) ||b||^2 + (item_ridge/2) ||c||^2 over the
    ball ||D_r^(1/2) X D_c^(1/2)||_* <= radius, D = (count / mean count)^weight_power. How close the fit is to the
    optimum is certified (``gap_``). With ``side=True`` it is X = L_u Z L_v^T with ||Z||_* <= radius and
    L L^T = D^(-1) + g^2 S S^T, S the mask of the ratings with unit rows: who has rated what then tells about tastes,
    as in SVD++ but convex and on both sides.

    Parameters
    ----------
    radius
        Radius of the ball, or "auto": chosen by validation on ratings held out, along a warm-started path. None
        only together with ``residual``, which needs no radius.
    residual
        Formulation without a radius: the least ||X||_*^2 whose root mean squared residual is at most this, with biases
        fitted beforehand (0 for an exact fit). None for the ball.
    side
        Whether rows follow what was rated (or features given to :meth:`fit`).
    user_ridge, item_ridge
        Ridges of the biases; item_ridge is 5 by default, 12 with ``side``.
    weight_power
        Power of the counts in the weights; 0.5 by default, 0.35 with ``side``.
    user_strength, item_strength
        g on the two sides, with ``side``.
    clip
        Range of predictions: True for that of the training ratings, False for none, or (least, largest).
    method
        "factored" (the same as "auto"), or another method of :func:`unipd.solve`.
    accuracy
        Certified gap asked for, relative to the loss of the mean alone.
    rank
        Columns of the factors to begin with, 64 by default and 48 with ``side``; they grow when needed. This does not
        limit the rank of X.
    validation_fraction, random_state
        Share of the ratings held out for "auto", and the seed of the choice (or a generator of NumPy; None for 0).
    max_seconds
        Time limit of everything that :meth:`fit` does. The choice of the radius has three quarters of it; when these
        are over, the best radius so far (or a guess) is used, and the status is "time_limit" whatever the final fit
        reaches in the rest. That does one iteration in any case.
    callback, verbose
        As in :func:`unipd.solve`.

    Attributes
    ----------
    mean_, user_bias_, item_bias_
        The mean of the training ratings and the biases b and c.
    user_factors_, singular_values_, item_factors_
        U, s and V of X = U diag(s) V^T: U has a row for each user and V one for each item, with orthonormal columns; s
        is sorted, largest first.
    rank_
        Singular values that are not negligible.
    users_, items_
        Names of the users and items, in the order of the rows and columns.
    range_
        Least and largest prediction, None when nothing is clipped.
    radius_, path_
        Radius of the ball, and the radii tried with their validation errors.
    objective_, dual_bound_, gap_, n_iter_
        The objective of the final fit, its certified lower bound, their relative distance, and iterations.
    result_
        The result of the solver with status, counts and history; what the choice of the radius took is ``search``.

    Notes
    -----
    Of several ratings of one pair the last one counts (duplicate entries of a SciPy matrix are added). Pairs with a
    user or an item that was not in training are predicted from the biases that are known. Nothing is debiased: the
    shrinkage of X is part of the model.

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
        """Return scikit-learn's tags: pairs of identifiers are no feature matrix."""
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
