"""The fitted model: predictions, recommendations, and how good they are (RMSE, MAE, NDCG, recall, MAP)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.completion.fold_in import FoldIn, fold_in
from unipd.apps.completion.ratings import Index, as_names, as_pairs, as_ratings, join_ratings
from unipd.errors import InvalidInput, UnipdError
from unipd.io.ratings import Ratings

if TYPE_CHECKING:
    from unipd.run import Result

NEGLIGIBLE = 1e-3
"""Singular values below this share of the largest, and X below this share of the data, do not count for the rank."""
CHUNK = 1 << 18
"""Numbers in temporary arrays of predictions."""
METRICS = ("rmse", "mae", "ndcg", "recall", "map")
"""Names of the metrics, in the order in which they are reported."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel(ReprMixin):
    """r_ui = mean + b_u + c_i + (U diag(s) V^T)_ui, clipped to a range.

    A user or item that is unknown from training has bias 0 and no row in X.
    """

    users: Index
    items: Index
    mean: float
    user_bias: FloatArray
    item_bias: FloatArray
    left: FloatArray
    """U with orthonormal columns, a row for each user."""
    singular_values: FloatArray
    right: FloatArray
    """V with orthonormal columns, a row for each item."""
    range: tuple[float, float] | None
    """Smallest and largest prediction; None for no clipping."""
    rated_starts: IntArray
    """Where the rated items of every user begin in ``rated_columns``; the last entry is their total number."""
    rated_columns: IntArray
    """Columns of the items that the users have rated, user by user."""
    negligible: bool
    """Whether X is negligible compared with the spread of the ratings."""
    fold: FoldIn
    """How new users and items are fitted."""

    @property
    def rank(self) -> int:
        """Number of singular values of X that are not negligible; 0 if X itself is negligible."""
        values = self.singular_values
        counted = values.size and values[0] > 0 and not self.negligible
        return int((values > NEGLIGIBLE * values[0]).sum()) if counted else 0

    def predict(self, users: Array, items: Array) -> FloatArray:
        """Return the predictions for pairs of names."""
        return self.predict_at(self.users.positions(users), self.items.positions(items))

    def predict_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the predictions for rows and columns; -1 for what is unknown."""
        out = np.empty(rows.size)
        step = max(1, CHUNK // max(1, self.singular_values.size))
        for first in range(0, rows.size, step):
            part = slice(first, first + step)
            out[part] = self._at(rows[part], columns[part])
        return self.clip(out)

    def predict_all(self, rows: IntArray, *, seen: bool = True) -> FloatArray:
        """Return the predictions, not clipped, of all items for users: -inf for rated ones unless ``seen``."""
        known = np.flatnonzero(rows >= 0)
        out = np.tile(self.mean + self.item_bias, (rows.size, 1))
        users = rows[known]
        out[known] += (self.left[users] * self.singular_values) @ self.right.T + self.user_bias[users, None]
        if not seen:
            starts, sizes = self.rated_starts[users], np.diff(self.rated_starts)[users]
            places = np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
            out[np.repeat(known, sizes), self.rated_columns[places]] = -np.inf
        return out

    def best_items(self, rows: IntArray, count: int, *, seen: bool = False) -> tuple[IntArray, FloatArray]:
        """Return the columns and predictions, not clipped, of the best items of users; NaN where none is left.

        A row of -1 is a user without biases and factors. Of equal predictions the first items are the best.
        """
        count = min(count, len(self.items))
        best, scores = np.empty((rows.size, count), np.int64), np.empty((rows.size, count))
        step = max(1, CHUNK // len(self.items))
        for first in range(0, rows.size, step):
            part = slice(first, first + step)
            predicted = self.predict_all(rows[part], seen=seen)
            best[part] = _largest(predicted, count)
            scores[part] = np.take_along_axis(predicted, best[part], axis=1)
        return best, np.where(np.isfinite(scores), scores, np.nan)

    def clip(self, values: FloatArray) -> FloatArray:
        """Return predictions within the range."""
        return values if self.range is None else np.clip(values, *self.range)

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays and numbers, for a file."""
        return {
            **vars(self),
            "users": self.users.names,
            "items": self.items.names,
            "range": None if self.range is None else list(self.range),
            "rated_columns": self.rated_columns.astype(np.int32),
            "fold": self.fold.arrays(),
        }

    def _at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        user, item = rows >= 0, columns >= 0
        out = np.full(rows.size, self.mean)
        out[user] += self.user_bias[rows[user]]
        out[item] += self.item_bias[columns[item]]
        both = user & item
        left = self.left[rows[both]] * self.singular_values
        out[both] += np.einsum("ij,ij->i", left, self.right[columns[both]])
        return out


def _largest(scores: FloatArray, count: int) -> IntArray:
    """Return the columns of the largest entries of every row, largest first and the first among equals.

    >>> _largest(np.array([[1.0, 3.0, 3.0, 2.0]]), 2)
    array([[1, 2]])
    """
    best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    best.sort(axis=1)
    values = np.take_along_axis(scores, best, axis=1)
    best = np.take_along_axis(best, np.argsort(-values, axis=1, kind="stable"), axis=1)
    tied = np.flatnonzero((scores >= values.min(axis=1)[:, None]).sum(axis=1) > count)
    best[tied] = np.argsort(-scores[tied], axis=1, kind="stable")[:, :count]
    return best


def clip_range(clip: tuple[float, float] | bool, values: FloatArray) -> tuple[float, float] | None:
    """Return the range of predictions for given training ratings.

    >>> clip_range(True, np.array([1.0, 5.0])), clip_range(False, np.array([1.0]))
    ((1.0, 5.0), None)
    """
    if isinstance(clip, tuple):
        return clip
    return (float(values.min()), float(values.max())) if clip else None


def check_metrics(argument: str, names: Any) -> tuple[str, ...]:
    """Return the names of metrics, from a sequence or a text with commas; an unknown one raises.

    >>> check_metrics("metrics", "ndcg, rmse")
    ('ndcg', 'rmse')
    """
    chosen = tuple(name.strip() for name in (names.split(",") if isinstance(names, str) else names))
    unknown = [name for name in chosen if name not in METRICS]
    if unknown or not chosen:
        raise InvalidInput(argument, f"names among {', '.join(METRICS)}", ", ".join(unknown) or "none")
    return chosen


def prediction_metrics(error: FloatArray) -> dict[str, float]:
    """Return the root mean squared and the mean absolute error.

    >>> prediction_metrics(np.array([3.0, -4.0]))["mae"]
    3.5
    """
    return {"rmse": float(np.sqrt(np.mean(error**2))), "mae": float(np.mean(np.abs(error)))}


def ranking_metrics(best: IntArray, rows: IntArray, columns: IntArray, counts: IntArray) -> dict[str, float]:
    """Return NDCG, recall and MAP of lists of items, averaged over users; relevance is 0 or 1.

    With k items in a list, hits h_1, ..., h_k in {0, 1} and c relevant items: NDCG is sum h_i / log2(i + 1) over that
    of min(k, c) hits at the top, recall is sum h_i / c, and average precision is the mean over min(k, c) of the
    precision at every hit.

    Parameters
    ----------
    best
        Columns of the items in the list of every user, best first; -1 for none.
    rows, columns
        The relevant pairs: the place of the user in ``best``, and the item's column.
    counts
        Number of relevant items of every user (those that no list can contain too), at least 1.

    Examples
    --------
    >>> best = np.array([[5, 7], [5, 6]])
    >>> found = ranking_metrics(best, np.array([0, 1]), np.array([7, 5]), np.array([1, 1]))
    >>> round(found["ndcg"], 3), found["recall"], found["map"]
    (0.815, 1.0, 0.75)
    """
    width = int(max(best.max(initial=0), columns.max(initial=0))) + 1
    relevant = np.sort(rows * np.int64(width) + columns)
    keys = np.arange(best.shape[0])[:, None] * np.int64(width) + best
    place = np.minimum(np.searchsorted(relevant, keys), max(relevant.size - 1, 0))
    hits = (best >= 0) & (relevant[place] == keys) if relevant.size else np.zeros(best.shape, bool)
    discounts = 1.0 / np.log2(np.arange(2, best.shape[1] + 2))
    most = np.minimum(counts, best.shape[1])
    ideal = np.cumsum(discounts)[most - 1]
    precision = np.cumsum(hits, axis=1) / np.arange(1, best.shape[1] + 1)
    return {
        "ndcg": float(np.mean(hits @ discounts / ideal)),
        "recall": float(np.mean(hits.sum(axis=1) / counts)),
        "map": float(np.mean((precision * hits).sum(axis=1) / most)),
    }


class NotFitted(UnipdError, ValueError, AttributeError):
    """The estimator was used before it was fitted."""


class Recommender:
    """Attributes, predictions, scores and recommendations of a model, fitted or loaded."""

    _fitted: FittedModel | None = None
    _folded: Ratings | None = None
    """Ratings of users and items that were folded in."""

    def _publish(self, model: FittedModel, result: Result) -> None:
        """Make a model and its result the attributes of this object; :class:`unipd.MatrixCompletion` describes them."""
        self._fitted, self.result_ = model, result
        self.users_, self.items_ = model.users.names, model.items.names
        self.mean_, self.user_bias_, self.item_bias_ = model.mean, model.user_bias, model.item_bias
        self.user_factors_, self.singular_values_, self.item_factors_ = model.left, model.singular_values, model.right
        self.rank_, self.range_ = model.rank, model.range

    def _model(self) -> FittedModel:
        """Return the model, or raise; if scikit-learn is loaded, the error is also its NotFittedError."""
        if self._fitted is not None:
            return self._fitted
        kind: Any = NotFitted
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError

            kind = type("NotFitted", (NotFitted, NotFittedError), {})
        raise kind(f"this {type(self).__name__} is not fitted yet: call fit first")

    def predict(self, X: Any) -> FloatArray:
        """Return predicted ratings for pairs (user, item).

        Parameters
        ----------
        X
            Pairs: rows of an array or of a DataFrame, a list of pairs, or a tuple of two lists. Pairs with a user or
            an item unknown from training are predicted from the known biases.
        """
        return self._model().predict(*as_pairs(X))

    def count_unknown(self, X: Any) -> int:
        """Return the number of pairs with a user or an item that the model does not know."""
        model, (users, items) = self._model(), as_pairs(X)
        return int(np.sum((model.users.positions(users) < 0) | (model.items.positions(items) < 0)))

    def fold_in(self, X: Any = None, y: Any = None, *, user_features: Any = None, item_features: Any = None) -> Any:
        """Add new users and items to the model without refitting it, and return the model.

        Each new user is fitted to the given ratings of known items in closed form, with all items as they are: the row
        that :meth:`fit` gives to a user with these ratings, up to the effect that the ratings have on the items. Then
        new items are fitted likewise to their ratings by known and new users. Factors of folded rows are not
        orthogonal to the others.

        Parameters
        ----------
        X, y
            Ratings as to ``fit``, each by a new user or of a new item; None with features alone.
        user_features, item_features
            Features of new users and items as ``{name: numbers}`` or a DataFrame, for a model with such features; those
            without ratings are predicted from their features.
        """
        model = self._model()
        none = Ratings(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        ratings = none if X is None else as_ratings(X, y)
        self._publish(fold_in(model, ratings, (user_features, item_features)), self.result_)
        if ratings is not none:
            self._folded = ratings if self._folded is None else join_ratings(self._folded, ratings)
        return self

    def rmse(self, X: Any, y: Any = None) -> float:
        """Return the root mean squared error on ratings, given as to ``fit``.

        Parameters
        ----------
        X, y
            Pairs and their ratings, given as to ``fit``.
        """
        error, _ = self._errors(X, y)
        return float(np.sqrt(np.mean(error**2)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the coefficient of determination R^2 on ratings, as scikit-learn's regressors do.

        Parameters
        ----------
        X, y
            Pairs and their ratings, given as to ``fit``.
        """
        error, truth = self._errors(X, y)
        spread = truth - truth.mean()
        total = float(spread @ spread)
        return 1.0 - float(error @ error) / total if total > 0.0 else float(not np.any(error))

    def evaluate(
        self, X: Any, y: Any = None, *, metrics: Any = METRICS, top: int = 10, relevant: float | None = None
    ) -> dict[str, float]:
        """Return metrics on test ratings, given as to ``fit``.

        "rmse" and "mae" measure predictions. "ndcg", "recall" and "map" measure, for every user with a relevant test
        item, the ``top`` items that :meth:`recommend` returns without those seen in training; a mean over these users
        is returned.

        Parameters
        ----------
        X, y
            Test ratings.
        metrics
            Names of metrics, all by default.
        top
            Number of recommended items.
        relevant
            Ratings from which an item is relevant; None for all items of the test.
        """
        names, ratings = check_metrics("metrics", metrics), as_ratings(X, y)
        error = self._model().predict(ratings.users, ratings.items) - ratings.values
        found = prediction_metrics(error)
        if set(names) - set(found):
            chosen = (
                ratings if relevant is None else ratings.where(ratings.values >= validate.number("relevant", relevant))
            )
            if not len(chosen):
                raise InvalidInput("relevant", "a threshold that some test ratings reach", f"{relevant:g}")
            found |= self._rank(chosen, validate.integer("top", top, minimum=1))
        return {name: found[name] for name in names}

    def _rank(self, relevant: Ratings, top: int) -> dict[str, float]:
        """Return the metrics of recommendations to the users of relevant ratings."""
        model, index = self._model(), Index(relevant.users)
        best, scores = model.best_items(model.users.positions(index.names), top)
        places, columns = index.positions(relevant.users), model.items.positions(relevant.items)
        pairs = np.unique(np.column_stack([places, columns])[columns >= 0], axis=0)
        unknown = np.unique(relevant.items[columns < 0], return_inverse=True)[1].ravel()
        unknown = np.unique(np.column_stack([places[columns < 0], unknown]), axis=0)
        counts = np.bincount(np.concatenate([pairs[:, 0], unknown[:, 0]]), minlength=len(index))
        return ranking_metrics(np.where(np.isnan(scores), -1, best), pairs[:, 0], pairs[:, 1], counts)

    def recommend(self, user: Any, n: int = 10, *, seen: bool = False) -> tuple[Array, FloatArray]:
        """Return the ``n`` items with the highest predictions for a user, best first, and their predictions.

        Predictions are compared before they are clipped, because clipping ties the best items.

        Parameters
        ----------
        user
            The user, or a list of users; one unknown from training is recommended items by their biases. For a list,
            items and predictions have a row for every user, and where a user has fewer than ``n`` items left, the
            prediction is NaN.
        n
            Number of items.
        seen
            Whether to include items that the user has rated.
        """
        model, count = self._model(), validate.integer("n", n, minimum=1)
        if np.ndim(user) > 1:
            raise InvalidInput("user", "a user or a list of users", f"shape {np.shape(user)}")
        names = as_names("user", np.asarray([user]) if np.ndim(user) == 0 else user)
        best, scores = model.best_items(model.users.positions(names), count, seen=seen)
        if np.ndim(user):
            return model.items.names[best], model.clip(scores)
        known = ~np.isnan(scores[0])
        return model.items.names[best[0, known]], model.clip(scores[0, known])

    def _errors(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return the errors on ratings, and the ratings."""
        model, ratings = self._model(), as_ratings(X, y)
        return model.predict(ratings.users, ratings.items) - ratings.values, ratings.values
