"""What a model answers, fitted or read from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.attributes import FittedAttributes, ModelAttributes
from unipd.apps.completion.indexing import as_names
from unipd.apps.completion.observations import as_pairs, as_ratings
from unipd.errors import InvalidInput
from unipd.team import team


class Answers(ModelAttributes):
    """Predictions, scores and recommendations."""

    def _rated_by(self, place: int) -> IntArray:
        """Return the places of the items that the user at a place has rated."""
        raise NotImplementedError

    def predict(self, X: Any) -> FloatArray:
        """Return predicted ratings for pairs (user, item).

        Parameters
        ----------
        X
            Pairs: rows of an array or of a DataFrame, a list of pairs, or a tuple of two lists. Pairs with a user or
            an item that was not in training are predicted from the biases that are known.
        """
        model = self._model()
        return model.predict(*as_pairs(X))

    def rmse(self, X: Any, y: Any = None) -> float:
        """Return the root mean squared error on ratings, given as to ``fit``."""
        error, _ = self._errors(X, y)
        return float(np.sqrt(np.mean(error**2)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return R^2 on ratings, as scikit-learn's regressors do: 1 - squared error / variance."""
        error, truth = self._errors(X, y)
        spread = truth - truth.mean()
        total = float(spread @ spread)
        return 1.0 - float(error @ error) / total if total > 0.0 else float(not np.any(error))

    def recommend(self, user: Any, n: int = 10, *, seen: bool = False) -> tuple[Array, FloatArray]:
        """Return the ``n`` items with the highest predictions for a user, and these, best first.

        Parameters
        ----------
        user
            The user; one that was not in training gets the items that everybody likes.
        n
            How many.
        seen
            Whether items that the user has rated may be among them.
        """
        model = self._model()
        if np.ndim(user) != 0:
            raise InvalidInput("user", "one user (call recommend for each of several)", f"shape {np.shape(user)}")
        name = as_names("user", np.asarray([user]))
        place = int(model.users.places(name)[0])
        rated = np.empty(0, np.int64) if seen or place < 0 else self._rated_by(place)
        return model.recommend(name[0], n, rated)

    def _errors(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return the errors on ratings, and the ratings."""
        model, ratings = self._model(), as_ratings(X, y)
        return model.predict(ratings.users, ratings.items) - ratings.values, ratings.values


class Predicts(Answers, FittedAttributes):
    """What a :class:`~unipd.apps.completion.fitting.Fit` answers."""

    def _rated_by(self, place: int) -> IntArray:
        data = self._fit().data
        return team().joined(data.columns[data.rows == place])

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings.

        Iterations, calls, products and seconds are those of the final fit; with ``search_`` before their names those of
        the choice of the radius. ``total_seconds`` is the time that everything took.
        """
        fit = self._fit()
        return {
            **fit.result.summary(),
            "users": len(fit.data.users),
            "items": len(fit.data.items),
            "ratings": fit.count,
            "radius": fit.radius,
            "rank": fit.fitted.rank,
            "rmse_train": fit.training_error,
        }
