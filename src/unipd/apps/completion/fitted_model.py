"""The fitted model: predictions, recommendations, and models read from files."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.completion.ratings import Index, as_names, as_pairs, as_ratings
from unipd.errors import FileFormatError, InvalidInput, UnipdError

if TYPE_CHECKING:
    from unipd.run import Result

NEGLIGIBLE = 1e-3
"""Singular values below this share of the largest, and X below this share of the data, do not count for the rank."""
_CHUNK = 1 << 18


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

    @property
    def rank(self) -> int:
        """Number of singular values of X that are not negligible; 0 if X itself is negligible."""
        values = self.singular_values
        counted = values.size and values[0] > 0 and not self.negligible
        return int((values > NEGLIGIBLE * values[0]).sum()) if counted else 0

    def predict(self, users: Array, items: Array) -> FloatArray:
        """Return the predictions for pairs of names."""
        rows, columns = self.users.positions(users), self.items.positions(items)
        out = np.empty(rows.size)
        for first in range(0, rows.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            out[part] = self._at(rows[part], columns[part])
        return self.clip(out)

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


def clip_range(clip: tuple[float, float] | bool, values: FloatArray) -> tuple[float, float] | None:
    """Return the range of predictions for given training ratings.

    >>> clip_range(True, np.array([1.0, 5.0])), clip_range(False, np.array([1.0]))
    ((1.0, 5.0), None)
    """
    if isinstance(clip, tuple):
        return clip
    return (float(values.min()), float(values.max())) if clip else None


class NotFitted(UnipdError, ValueError, AttributeError):
    """The estimator was used before it was fitted."""


class Recommender:
    """Attributes, predictions, scores and recommendations of a model, fitted or loaded."""

    _fitted: FittedModel | None = None

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

    def rmse(self, X: Any, y: Any = None) -> float:
        """Return the root mean squared error on ratings, given as to ``fit``."""
        error, _ = self._errors(X, y)
        return float(np.sqrt(np.mean(error**2)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the coefficient of determination R^2 on ratings, as scikit-learn's regressors do."""
        error, truth = self._errors(X, y)
        spread = truth - truth.mean()
        total = float(spread @ spread)
        return 1.0 - float(error @ error) / total if total > 0.0 else float(not np.any(error))

    def recommend(self, user: Any, n: int = 10, *, seen: bool = False) -> tuple[Array, FloatArray]:
        """Return the ``n`` items with the highest predictions for a user, best first, and their predictions.

        Predictions are compared before they are clipped, because clipping ties the best items.

        Parameters
        ----------
        user
            The user; one unknown from training is recommended items by their biases.
        n
            Number of items.
        seen
            Whether to include items that the user has rated.
        """
        model = self._model()
        if np.ndim(user) != 0:
            raise InvalidInput("user", "one user (call recommend for each of several)", f"shape {np.shape(user)}")
        count = validate.integer("n", n, minimum=1)
        row = int(model.users.positions(as_names("user", np.asarray([user])))[0])
        scores = model.mean + model.item_bias
        if row >= 0:
            scores += model.user_bias[row] + model.right @ (model.singular_values * model.left[row])
            if not seen:
                scores[model.rated_columns[model.rated_starts[row] : model.rated_starts[row + 1]]] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(count, int(np.isfinite(scores).sum()))]
        return model.items.names[best], model.clip(scores[best])

    def _errors(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return the errors on ratings, and the ratings."""
        model, ratings = self._model(), as_ratings(X, y)
        return model.predict(ratings.users, ratings.items) - ratings.values, ratings.values


class LoadedModel(Recommender):
    """A completion model read from a file: it predicts and recommends like the estimator, but cannot be fitted."""

    def __init__(self, model: FittedModel, result: Result) -> None:
        self._publish(model, result)


def load_model(path: str | os.PathLike[str]) -> LoadedModel:
    """Read a model that :meth:`unipd.MatrixCompletion.save` or ``unipd complete --out`` wrote.

    Examples
    --------
    >>> import tempfile, unipd
    >>> model = unipd.MatrixCompletion(2.0).fit(([1, 1, 2], [5, 6, 5], [3.0, 4.0, 5.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load_model(model.save(f"{folder}/model.npz"))
    >>> bool(loaded.predict([(2, 6)]) == model.predict([(2, 6)])), loaded.recommend(2)[0]
    (True, array([6]))
    """
    from unipd.io.results import load

    saved = load(path)
    content: Any = saved.extras.get("completion")
    if not isinstance(content, dict):
        raise FileFormatError(str(path), "not the result of a completion model")
    try:
        limits = content["range"]
        converted: dict[str, Any] = {
            "users": Index(content["users"]),
            "items": Index(content["items"]),
            "range": None if limits is None else (float(limits[0]), float(limits[1])),
            **{name: np.asarray(content[name]) for name in ("rated_starts", "rated_columns")},
        }
        model = FittedModel(**{**content, **converted})
        loaded = LoadedModel(model, saved)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(str(path), f"not a completion model ({error})") from error
    if not _match_rated_items(model):
        raise FileFormatError(str(path), "the rated items do not match the model")
    return loaded


def _match_rated_items(model: FittedModel) -> bool:
    """Whether the rated items are those of as many users, and their columns those of items."""
    starts, columns = model.rated_starts, model.rated_columns
    if not all(part.ndim == 1 and part.dtype.kind in "iu" for part in (starts, columns)):
        return False
    fits = starts.size == len(model.users) + 1 and starts[0] == 0 and starts[-1] == columns.size
    return bool(fits and np.all(np.diff(starts) >= 0) and np.all((columns >= 0) & (columns < len(model.items))))
