"""Missing values in a table of numbers: a low-rank matrix of the standardised columns.

The matrix is fitted twice. The first fit estimates how much of every column is noise and how the columns are
correlated; the second one measures every column in units of its noise and favours directions in which the columns vary
together (X = Z L^T with ||Z||_* <= radius and L L^T = I + g^2 C for the correlations C, the side information of
:class:`unipd.MatrixCompletion`). Both are convex. The first radius is chosen by validation; the second one is the norm
of the first matrix in the units of the second fit, which is as good as another search.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.apps.completion import Index, MatrixCompletion, index_ratings
from unipd.apps.completion.fitted_model import FittedModel, fold_in
from unipd.apps.completion.model import check_parameters, fit_data
from unipd.apps.completion.problem import WarmStart
from unipd.atoms import Blocks, LowRank
from unipd.errors import InvalidInput, MissingExtra
from unipd.io.ratings import Ratings
from unipd.run.result import reduce_result

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "an imputer") from error

FIRST_STRENGTH, STRENGTH = 1.0, 2.0
"""g of the two fits: correlations of pairs of columns are less reliable than those after a fit."""
FIRST_ACCURACY, FIRST_DTYPE = 3e-2, np.float32
"""Duality gap and precision of the first fit, from which only noise levels and correlations are taken."""
ROOM = 1.05
"""The second radius, over the norm of the first matrix: its radius was chosen without the held-out values."""
COMMON_NOISE = 0.2
"""Share of the mean noise in that of every column: a column fitted exactly would count without limit."""
ROW_RIDGE = 1e4
"""Ridge of the rows' biases, which is to leave none: columns in different units have no common offset."""
ROUNDING = 1e-12
"""A spread below this share of the mean is rounding: the column is constant."""
MOST_DIRECTIONS = 200
"""Leading eigenvectors of the correlations that are favoured."""


class LowRankImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace missing values (NaN) by those of a low-rank matrix, fitted to the values that are known.

    Columns are standardised first, so their units do not matter. Rows of the training table and new ones are imputed
    in the same way: by the row of the model that fits the row's known values, in closed form.

    Parameters
    ----------
    radius
        Nuclear norm of the matrix in both fits, or "auto": chosen by validation on held-out values.
    accuracy
        Certified duality gap of the fit, relative to the loss of the column means.
    random_state
        Seed of the held-out values.
    max_seconds
        Time limit of :meth:`fit`; half of it is for the first fit.

    Attributes
    ----------
    mean_, scale_
        Means of the columns, and the units in which they enter the model: 0 for a constant column, whose missing values
        are its mean.
    rank_, radius_, gap_
        Rank and radius of the matrix, and the certified duality gap of its fit.
    result_
        The result of the solver.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MatrixCompletion

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6)) + [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> holes = np.where(rng.random(table.shape) < 0.1, np.nan, table)
    >>> filled = LowRankImputer().fit_transform(holes)
    >>> float(np.abs(filled - table).max()) < 0.5, int(np.isnan(filled).sum())
    (True, 0)
    """

    def __init__(
        self,
        radius: float | str = "auto",
        accuracy: float = 1e-3,
        random_state: Any = 0,
        max_seconds: float | None = None,
    ) -> None:
        self.radius = radius
        self.accuracy = accuracy
        self.random_state = random_state
        self.max_seconds = max_seconds

    def fit(self, X: Any, y: Any = None) -> LowRankImputer:
        """Fit the model to the known values of a table, and return the imputer; every column needs one.

        Parameters
        ----------
        X
            The table, samples by features, NaN where a value is missing.
        y
            Ignored; scikit-learn passes it.

        Returns
        -------
        LowRankImputer
            The imputer itself.
        """
        table: Any = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        known = ~np.isnan(table)
        if not known.any(axis=0).all():
            raise InvalidInput("X", "a known value in every column", f"none in column {int(np.argmin(known.any(0)))}")
        self.mean_, spread = _standards(table)
        entries = _standardise(table, self.mean_, spread)
        directions = _directions(_correlate(entries), FIRST_STRENGTH)
        first = self._fit(entries, directions, FIRST_ACCURACY, self.radius, dtype=FIRST_DTYPE)
        rows = known.any(axis=1)
        predicted = first.predict_all(first.users.positions(np.arange(len(table))))
        noise = _noise_levels(entries - predicted)
        completed = np.where(known, entries, predicted) / noise
        directions = _directions(completed.T @ completed / len(table), STRENGTH)
        inner = _least_norm((predicted - first.mean - first.item_bias)[rows] / noise, directions)
        size = float(inner.weights.sum()) or 1.0
        start = WarmStart(
            Blocks((inner, first.user_bias, first.item_bias / noise)),
            first.fold.multiplier * self.radius_ / (size * float(np.mean(noise**2))),
        )
        self.scale_ = noise * spread
        radius = ROOM * size if self.radius == "auto" else self.radius
        fitted = self._fit(entries / noise, directions, self.accuracy, radius, start)
        if not self.result_.status.success:
            warnings.warn(f"the gap is {self.gap_:.1e}: {self.result_.message}", ConvergenceWarning, stacklevel=2)
        self._model = _without_rows(fitted)
        return self

    def transform(self, X: Any) -> Array:
        """Return the table with its missing values replaced; the others are returned as they are."""
        check_is_fitted(self)
        table: Any = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False, copy=True)
        missing = np.isnan(table)
        chosen = np.flatnonzero(missing.any(axis=1))
        if chosen.size:
            rows, columns = np.nonzero(~missing[chosen])
            values = _standardise(table[chosen], self.mean_, self.scale_)
            model, places = self._model, np.full(chosen.size, -1)
            if rows.size:
                model = fold_in(model, Ratings(rows, columns, values[rows, columns]), (None, None))
                places = model.users.positions(np.arange(chosen.size))
            filled = self.mean_ + self.scale_ * model.predict_all(places)
            table[missing] = filled[missing[chosen]]
        return table

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: NaN is what this is for."""
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(
        self,
        entries: Array,
        directions: FloatArray,
        accuracy: float,
        radius: float | str,
        start: WarmStart | None = None,
        dtype: Any = np.float64,
    ) -> FittedModel:
        """Return the model of the known entries, which favours the directions."""
        limit = self.max_seconds
        model = MatrixCompletion(
            radius,
            side_information=True,
            user_ridge=ROW_RIDGE,
            item_ridge=5.0,
            weight_power=0.0,
            user_strength=0.0,
            item_strength=1.0,
            clip=False,
            accuracy=validate.positive("accuracy", accuracy),
            random_state=self.random_state,
            max_seconds=None if limit is None else 0.5 * validate.nonnegative("max_seconds", limit),
        )
        parameters, (rows, columns) = check_parameters(model), np.nonzero(~np.isnan(entries))
        settings = replace(parameters.settings, item_features=directions, dtype=dtype)
        data = index_ratings(Ratings(rows, columns, entries[rows, columns]))
        fit = fit_data(data, replace(parameters, settings=settings), start)
        self.gap_, self.radius_, self.rank_ = fit.result.gap, fit.radius, fit.fitted.rank
        self.result_ = reduce_result(fit.result)
        return fit.fitted


def _standards(table: Array) -> tuple[FloatArray, FloatArray]:
    """Return the means of the columns and their standard deviations, 0 for a constant column.

    >>> _standards(np.array([[1.0, 5.0], [3.0, np.nan]]))
    (array([2., 5.]), array([1., 0.]))
    """
    mean, spread = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    return mean, np.where(spread > ROUNDING * np.abs(mean), spread, 0.0)


def _standardise(table: Array, mean: FloatArray, scale: FloatArray) -> Array:
    """Return the table in units of ``scale`` about the mean, NaN where it is missing; 0 in constant columns.

    >>> _standardise(np.array([[5.0, 7.0]]), np.array([1.0, 3.0]), np.array([2.0, 0.0]))
    array([[2., 0.]])
    """
    return (scale > 0.0) * (table - mean) / np.where(scale > 0.0, scale, 1.0)


def _correlate(entries: Array) -> FloatArray:
    """Return the correlations of standardised columns, each from the rows that know both columns."""
    known = ~np.isnan(entries)
    values = np.where(known, entries, 0.0)
    return values.T @ values / np.maximum(known.T.astype(np.float64) @ known, 1.0)


def _noise_levels(residual: Array) -> FloatArray:
    """Return the root mean square of the known residuals of every column, mixed with that of all."""
    squares = np.nanmean(residual**2, axis=0)
    levels = (1.0 - COMMON_NOISE) * squares + COMMON_NOISE * squares.mean()
    return np.sqrt(levels) if squares.any() else np.ones_like(squares)


def _directions(covariance: Array, strength: float) -> FloatArray:
    """Return g times the leading eigenvectors of a covariance, scaled by its standard deviations over their mean."""
    order = len(covariance)
    first = max(order - MOST_DIRECTIONS, 0)
    values, vectors = eigh(covariance, subset_by_index=[first, order - 1])
    mean = float(np.trace(covariance)) / order
    return strength * vectors * np.sqrt(np.maximum(values, 0.0) / (mean if mean > 0.0 else 1.0))


def _least_norm(matrix: FloatArray, directions: FloatArray) -> LowRank:
    """Return the Z of least nuclear norm with X = Z L^T for L = [I, F].

    >>> _least_norm(np.array([[3.0, 0.0]]), np.array([[0.75], [0.0]])).dense().round(2)
    array([[1.92, 0.  , 1.44]])
    """
    factor = np.linalg.cholesky(np.eye(len(directions)) + directions @ directions.T)
    right, sizes, left = np.linalg.svd(solve_triangular(factor, matrix.T, lower=True), full_matrices=False)
    own = solve_triangular(factor, right, lower=True, trans=1)
    return LowRank(left.T, np.concatenate([own, directions.T @ own]), sizes)


def _without_rows(model: FittedModel) -> FittedModel:
    """Return the model of the columns alone, into which every row is folded."""
    none = np.zeros(0, np.int64)
    return replace(
        model,
        users=Index(none),
        user_bias=model.user_bias[:0],
        left=model.left[:0],
        rated_starts=np.zeros(1, np.int64),
        rated_columns=none,
    )
