"""The fitted model: predictions, recommendations, and how good they are (RMSE, MAE, NDCG, recall, MAP)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import lapack

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.completion.problem import CompletionProblem, orthogonal_factors
from unipd.apps.completion.ratings import (
    Index,
    IndexedRatings,
    align_features,
    are_pairs,
    as_pairs,
    as_ratings,
    feature_names,
    index_ratings,
    join_ratings,
)
from unipd.errors import InvalidInput, UnipdError
from unipd.io.ratings import Ratings, as_names

if TYPE_CHECKING:
    from unipd.run import Result

ROUNDING = 1e-12
"""Singular values of Z below this share of the largest are rounding."""

NEGLIGIBLE = 1e-3
"""Singular values below this share of the largest, and X below this share of the data, do not count for the rank."""
CHUNK = 1 << 18
"""Numbers in temporary arrays of predictions."""
METRICS = ("rmse", "mae", "ndcg", "recall", "map")
"""Names of the metrics, in the order in which they are reported."""
RANKING_METRICS = METRICS[2:]
"""Those of recommendations: scores of implicit feedback do not predict ratings."""


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
        biases, factors = (self.user_bias, self.item_bias), (self.left, self.right * self.singular_values)
        return self.clip(predict_pairs(self.mean, biases, factors, rows, columns))

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


def predict_pairs(mean: float, biases: Any, factors: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return mean + b_u + c_i + <u, v> for rows and columns; -1 is one without bias and factor."""
    has_user, has_item = rows >= 0, columns >= 0
    out = mean + has_user * biases[0][rows] + has_item * biases[1][columns]
    step = max(1, CHUNK // factors[0].shape[1])
    for first in range(0, rows.size, step):
        part = slice(first, first + step)
        products = np.einsum("ij,ij->i", factors[0][rows[part]], factors[1][columns[part]])
        out[part] += (has_user[part] & has_item[part]) * products
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
        ratings = none if X is None else self._ratings(X, y)
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
        self, X: Any, y: Any = None, *, metrics: Any = None, top: int = 10, relevant: float | None = None
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
            Names of metrics; by default all, or those of recommendations for a model of implicit feedback, whose
            scores are no ratings.
        top
            Number of recommended items.
        relevant
            Ratings from which an item is relevant; None for all items of the test.
        """
        default = RANKING_METRICS if self._model().fold.unseen_weight else METRICS
        names, ratings = check_metrics("metrics", default if metrics is None else metrics), self._ratings(X, y)
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

    def _ratings(self, X: Any, y: Any) -> Ratings:
        """Return ratings; pairs that were seen, without weights, have the mean weight of those of the fit."""
        fold = self._model().fold
        if y is None and fold.unseen_weight and are_pairs(X):
            users, items = as_pairs(X)
            return Ratings(users, items, np.full(users.size, fold.mean_value))
        return as_ratings(X, y)

    def _errors(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return the errors on ratings, and the ratings."""
        model, ratings = self._model(), self._ratings(X, y)
        return model.predict(ratings.users, ratings.items) - ratings.values, ratings.values


@dataclass(frozen=True, eq=False)
class SideModel:
    """How a row of one side is fitted, given the other side."""

    basis: FloatArray
    """T with U = (orthonormal factor) T, for the rows u of this side."""
    ridge: float
    """Ridge of the bias."""
    power: float
    """Power of the counts in D."""
    mean_count: float
    """Mean number of ratings of a rated row."""
    pattern: bool
    """Whether the features are the pattern of the ratings."""
    features: FloatArray | None
    """g times the rows of P that belong to the features; None without side information."""

    def with_features(self, spread: Callable[[FloatArray], FloatArray]) -> SideModel:
        """Return the side with rows of the pattern's features for new names, too."""
        return replace(self, features=spread(self.features)) if self.pattern and self.features is not None else self

    def scale(self, count: float) -> float:
        """Return D^(-1/2) of a row with this number of ratings."""
        return (count / self.mean_count) ** (-0.5 * self.power) if count else 1.0


@dataclass(frozen=True, eq=False)
class FoldIn:
    """Both sides, and the multiplier of the radius."""

    multiplier: float
    user: SideModel
    item: SideModel
    unseen_weight: float = 0.0
    """Weight of unseen pairs, for implicit feedback; 0 for ratings."""
    mean_value: float = 1.0
    """Mean weight of a seen pair, which the others are relative to."""

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays and numbers, for a file."""
        return {**vars(self), "user": dict(vars(self.user)), "item": dict(vars(self.item))}

    @staticmethod
    def from_arrays(content: dict[str, Any]) -> FoldIn:
        """Return what :meth:`arrays` wrote."""
        converted: dict[str, Any] = {name: SideModel(**content[name]) for name in ("user", "item")}
        return FoldIn(**{**content, **converted})


def balanced_factors(point: Any) -> tuple[FloatArray, FloatArray]:
    """Return P and Q with Z = P Q^T and ||Z||_* = 1/2 (||P||^2 + ||Q||^2), from the singular value decomposition."""
    left, values, right = orthogonal_factors(point.left * point.weights, point.right)
    kept = values > ROUNDING * max(float(values[0]), 1e-300)
    kept[0] = True
    roots = np.sqrt(values[kept])
    return left[:, kept] * roots, right[:, kept] * roots


def build_fold_in(
    completion: CompletionProblem, blocks: tuple[Any, ...], factors: tuple[Array, Array], bases: tuple[Array, Array]
) -> FoldIn:
    """Return what folds rows into the model of a point (Z, b, c) with balanced factors (P, Q)."""
    settings, (matrix, users, items) = completion.settings, blocks
    residual = completion.target - completion.biases_at_ratings(users, items) - completion.sampled.image(matrix)
    size = max(float(np.sum(factors[0] ** 2)), 1e-300)
    sides = []
    for factor, side, basis, counts, ridge, given in (
        (factors[0], completion.left, bases[0], completion.user_counts, settings.user_ridge, settings.user_features),
        (factors[1], completion.right, bases[1], completion.item_counts, settings.item_ridge, settings.item_features),
    ):
        strength = settings.user_strength if side is completion.left else settings.item_strength
        features = None if side.is_diagonal else strength * factor[side.shape[0] :]
        mean_count = float(counts[counts > 0].mean())
        sides.append(SideModel(basis, ridge, settings.weight_power, mean_count, given is None, features))
    return FoldIn(completion.multiplier(matrix, -settings.scale * residual, size), *sides)


def fold_in(model: FittedModel, ratings: Ratings, features: tuple[Any, Any]) -> FittedModel:
    """Return the model with the new users and items of ratings and features.

    Users are fitted first, to their ratings of known items; then items, to their ratings by all users.
    """
    names: list[Array | None] = []
    for argument, given, side in zip(
        ("user_features", "item_features"), features, (model.fold.user, model.fold.item), strict=True
    ):
        if given is not None and (side.features is None or side.pattern):
            raise InvalidInput(argument, "None, since this model was fitted without them", type(given).__name__)
        names.append(feature_names(argument, given))
    users, items = model.users.union(ratings.users, names[0]), model.items.union(ratings.items, names[1])
    data = index_ratings(ratings, users, items)
    old_users, old_items = (new.positions(old.names) for new, old in ((users, model.users), (items, model.items)))
    is_old_user, is_old_item = np.zeros(len(users), bool), np.zeros(len(items), bool)
    is_old_user[old_users], is_old_item[old_items] = True, True
    if np.any(is_old_user[data.rows] & is_old_item[data.columns]):
        raise InvalidInput("X", "new users or new items (partial_fit adds ratings of known pairs)", "both known")
    model = _widen(model, data, (old_users, old_items))
    model = _fold_side(model, data.where(is_old_item[data.columns]), ~is_old_user, features[0], is_user=True)
    return _fold_side(model, data, ~is_old_item, features[1], is_user=False)


def _widen(model: FittedModel, data: IndexedRatings, places: tuple[IntArray, IntArray]) -> FittedModel:
    """Return the model with rows of zeros for new users and items, and the new pairs among the rated ones."""
    rows = np.repeat(places[0], np.diff(model.rated_starts))
    rows = np.concatenate([rows, data.rows])
    columns = np.concatenate([places[1][model.rated_columns], data.columns])
    order = np.lexsort((columns, rows))
    counts = np.bincount(rows, minlength=len(data.users))
    sizes = (len(data.users), len(data.items))

    def spread(side: int, values: FloatArray) -> FloatArray:
        out: Any = np.zeros((sizes[side], *values.shape[1:]))
        out[places[side]] = values
        return out

    fold = model.fold
    return replace(
        model,
        users=data.users,
        items=data.items,
        user_bias=spread(0, model.user_bias),
        item_bias=spread(1, model.item_bias),
        left=spread(0, model.left),
        right=spread(1, model.right),
        fold=replace(
            fold,
            user=fold.user.with_features(lambda rows: spread(1, rows)),
            item=fold.item.with_features(lambda rows: spread(0, rows)),
        ),
        rated_starts=np.append(0, np.cumsum(counts)).astype(np.int64),
        rated_columns=columns[order],
    )


def _fold_side(model: FittedModel, data: IndexedRatings, chosen: Array, features: Any, *, is_user: bool) -> FittedModel:
    """Return the model with the chosen rows of one side fitted to the ratings."""
    if not chosen.any():
        return model
    fold, index = model.fold, (data.users if is_user else data.items)
    side, other = (fold.user, fold.item) if is_user else (fold.item, fold.user)
    rows, columns = (data.rows, data.columns) if is_user else (data.columns, data.rows)
    factor, bias = (
        (model.left.copy(), model.user_bias.copy()) if is_user else (model.right.copy(), model.item_bias.copy())
    )
    across = (model.right if is_user else model.left) @ other.basis
    target = data.values - model.mean - (model.item_bias if is_user else model.user_bias)[columns]
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(len(index) + 1))
    argument = "user_features" if is_user else "item_features"
    given = None if features is None else align_features(argument, features, index, complete=False)
    to_basis = np.linalg.pinv(side.basis)
    zero, gram = fold.unseen_weight, fold.unseen_weight * (across.T @ across)
    for row in np.flatnonzero(chosen):
        places = order[bounds[row] : bounds[row + 1]]
        if zero:
            penalty = fold.multiplier / side.scale(places.size + zero * len(across)) ** 2
            weights = data.values[places] / fold.mean_value
            factor[row] = solve_seen_row(gram, across[columns[places]], weights, zero, penalty) @ to_basis
            continue
        vectors, scale = across[columns[places]], side.scale(places.size)
        offset = _feature_offset(side, columns[places], None if given is None else given[[row]], across.shape[1])
        weights, bias[row] = _solve_row(scale * vectors, target[places] - vectors @ offset, fold.multiplier, side.ridge)
        factor[row] = (offset + scale * weights) @ to_basis
    return replace(model, left=factor, user_bias=bias) if is_user else replace(model, right=factor, item_bias=bias)


def _feature_offset(side: SideModel, rated: IntArray, given: Any, rank: int) -> FloatArray:
    """Return the part of a row that its features determine, g F P; items new in the pattern say nothing."""
    if side.features is None or (side.pattern and rated.size == 0) or (not side.pattern and given is None):
        return np.zeros(rank)
    if side.pattern:
        return side.features[rated].sum(axis=0) / np.sqrt(rated.size)
    if given.shape[1] != side.features.shape[0]:
        raise InvalidInput("features", f"{side.features.shape[0]} columns, as in training", str(given.shape[1]))
    return np.asarray(given @ side.features).ravel()


def solve_seen_row(
    gram: Array, vectors: Array, weights: FloatArray, unseen_weight: float, penalty: float
) -> FloatArray:
    """Return argmin of 1/2 sum w_i (1 - <u, v_i>)^2 + (w_0/2) sum over the unseen of <u, v>^2 + (penalty/2) ||u||^2.

    ``gram`` is w_0 times the sum of v v^T over all items, ``vectors`` are the v_i of the seen ones.

    >>> solve_seen_row(np.array([[1.0]]), np.array([[1.0]]), np.array([2.0]), 1.0, 2.0)
    array([0.5])
    """
    system = gram + (vectors.T * (weights - unseen_weight)) @ vectors
    system.flat[:: gram.shape[0] + 1] += penalty
    return _solve_positive(system, weights @ vectors)


def _solve_positive(matrix: Array, right: Array) -> FloatArray:
    """Return the solution of a system with a positive definite matrix; for small ones SciPy's checks would dominate."""
    solve: Any = lapack.dposv  # pyright: ignore[reportAttributeAccessIssue]
    return solve(matrix, right)[1]


def _solve_row(vectors: Array, target: FloatArray, multiplier: float, ridge: float) -> tuple[FloatArray, float]:
    """Return (p, b) that minimise 1/2 ||t - b - W p||^2 + (mu/2) ||p||^2 + (ridge/2) b^2.

    >>> weights, bias = _solve_row(np.ones((1, 1)), np.array([3.0]), 1.0, 1.0)
    >>> weights.round(12), round(bias, 12)
    (array([1.]), 1.0)
    """
    count, rank = vectors.shape
    if count == 0:
        return np.zeros(rank), 0.0
    if count <= rank:
        gram = vectors @ vectors.T / multiplier + 1.0 / ridge
        gram.flat[:: count + 1] += 1.0
        dual = _solve_positive(gram, target)
        return vectors.T @ dual / multiplier, float(dual.sum()) / ridge
    design = np.ones((count, rank + 1))
    design[:, :-1] = vectors
    normal = design.T @ design
    normal.flat[: -1 : rank + 2] += multiplier
    normal[-1, -1] += ridge
    solution = _solve_positive(normal, design.T @ target)
    return solution[:-1], float(solution[-1])
