"""What a fitted estimator answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.completion.advice import message
from unipd.apps.completion.attributes import FittedAttributes
from unipd.apps.completion.indexing import as_names
from unipd.apps.completion.observations import as_pairs, as_ratings
from unipd.team import team


class Predicts(FittedAttributes):
    """Predictions, scores and recommendations of a :class:`~unipd.apps.completion.fitting.Fit`."""

    def predict(self, X: Any) -> FloatArray:
        """Return predicted ratings for pairs (user, item).

        Parameters
        ----------
        X
            Pairs: rows of an array or of a DataFrame, a list of pairs, or a tuple of two lists. Pairs with a user or
            an item that was not in training are predicted from the biases that are known.
        """
        fit = self._fit()
        return fit.fitted.predict(*as_pairs(X))

    def rmse(self, X: Any, y: Any = None) -> float:
        """Return the root mean squared error on ratings, given as in :meth:`fit`."""
        fit, ratings = self._fit(), as_ratings(X, y)
        error = fit.fitted.predict(ratings.users, ratings.items) - ratings.values
        return float(np.sqrt(np.mean(error**2)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return R^2 on ratings, as scikit-learn's regressors do: 1 - squared error / variance."""
        fit, ratings = self._fit(), as_ratings(X, y)
        error = fit.fitted.predict(ratings.users, ratings.items) - ratings.values
        spread = ratings.values - ratings.values.mean()
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
        fit = self._fit()
        name = as_names("user", np.asarray([user]))
        rated = np.empty(0, np.int64)
        place = int(fit.data.users.places(name)[0])
        if place >= 0 and not seen:
            rated = fit.data.columns[fit.data.rows == place]
        rated = team().joined(rated)
        return fit.fitted.recommend(name[0], n, rated)

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings; the work is that of the whole fit."""
        fit = self._fit()
        runs: list[Any] = [*fit.path, fit.result]
        return {
            **fit.result.summary(),
            "message": message(fit.result),
            "iterations": sum(run.iterations for run in runs),
            "oracle_calls": sum(run.counts.oracle_calls for run in runs),
            "matvecs": sum(run.counts.matvecs for run in runs),
            "seconds": fit.seconds,
            "users": len(fit.data.users),
            "items": len(fit.data.items),
            "ratings": fit.count,
            "radius": fit.radius,
            "rank": fit.fitted.rank,
            "rmse_train": fit.training_error,
        }
