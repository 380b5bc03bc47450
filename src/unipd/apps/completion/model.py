"""The completion estimator without scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unipd.apps.completion.carrying import carried
from unipd.apps.completion.design import Settings
from unipd.apps.completion.features import aligned
from unipd.apps.completion.fitting import fit_data
from unipd.apps.completion.observations import as_ratings
from unipd.apps.completion.parameters import Parameters, checked
from unipd.apps.completion.placing import Data, placed, placed_in_team
from unipd.apps.completion.prediction import Predicts
from unipd.errors import InvalidInput
from unipd.io.ratings import Ratings, Shard
from unipd.team import team


class CompletionModel(Predicts):
    """Everything of :class:`unipd.MatrixCompletion`, which adds scikit-learn's base class where it is installed."""

    def __init__(
        self,
        radius: float | str | None = "auto",
        *,
        residual: float | None = None,
        side: bool = False,
        user_ridge: float = 8.0,
        item_ridge: float | None = None,
        weight_power: float | None = None,
        user_strength: float = 0.5,
        item_strength: float = 0.7,
        clip: bool | tuple[float, float] = True,
        method: str = "factored",
        accuracy: float = 1e-3,
        rank: int | None = None,
        validation_fraction: float = 0.1,
        random_state: Any = 0,
        max_seconds: float | None = None,
        callback: Callable[[Any], bool | None] | None = None,
        verbose: bool = False,
    ) -> None:
        self.radius = radius
        self.residual = residual
        self.side = side
        self.user_ridge = user_ridge
        self.item_ridge = item_ridge
        self.weight_power = weight_power
        self.user_strength = user_strength
        self.item_strength = item_strength
        self.clip = clip
        self.method = method
        self.accuracy = accuracy
        self.rank = rank
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, user_features: Any = None, item_features: Any = None) -> Any:
        """Fit to ratings and return the estimator.

        Parameters
        ----------
        X
            A SciPy sparse matrix; a tuple (users, items, ratings), or triples of these, one a row; a DataFrame with
            columns user, item and rating, or with users as its index, items as its columns and NaN; a real array with
            NaN for what is not known; or, with ``y``, pairs (user, item), one a row.
        y
            Ratings of the pairs.
        user_features, item_features
            With ``side=True``: features in the place of the mask of the ratings, as ``{name: numbers}``, a DataFrame
            by name, or a matrix whose row k belongs to the name k, with a row for every name.
        """
        given = checked(self)
        data = placed_in_team(X if isinstance(X, Shard) else as_ratings(X, y))
        settings = self._settings(given, data, user_features, item_features)
        self.fit_ = fit_data(data, given, settings, None, None)
        self._features = (user_features, item_features)
        self.n_features_in_ = 2
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Fit to more ratings, starting from the fit so far, and return the estimator.

        A new rating of a known pair replaces the old one; users and items may be new (without features, where these
        were given as a matrix that has no row for them). The radius stays. With ``residual``, and with methods other
        than "factored", the fit to all ratings starts afresh. Without a fit so far this is :meth:`fit`.
        """
        if "fit_" not in vars(self):
            return self.fit(X, y)
        if team().size > 1:
            raise InvalidInput("partial_fit", "one process (fit works on several)", f"{team().size} processes")
        given, before, more = checked(self), self._fit(), as_ratings(X, y)
        users, items = before.data.users.joined(more.users), before.data.items.joined(more.items)
        data = placed(_together(before.data.ratings(), more), users, items)
        settings = self._settings(given, data, *self._features, complete=False)
        start = None if before.start is None else carried(before.start, before.data, data)
        self.fit_ = fit_data(data, given, settings, start, before.radius)
        return self

    def save(self, path: str | os.PathLike[str]) -> Any:
        """Write the fitted model and its result to an .npz file and return the path."""
        from unipd.io.results import save

        return save(self._fit().result, path, extra={"completion": self._fit().arrays()})

    def _settings(
        self, given: Parameters, data: Data, user_features: Any, item_features: Any, *, complete: bool = True
    ) -> Settings:
        settings = given.settings
        named = (("user_features", user_features, data.users), ("item_features", item_features, data.items))
        for name, features, index in named:
            if features is None:
                continue
            if not self.side:
                raise InvalidInput(name, "none without side=True", type(features).__name__)
            settings = replace(settings, **{name: aligned(name, features, index, complete=complete)})
        return settings


def _together(first: Ratings, second: Ratings) -> Ratings:
    pairs = zip((first.users, first.items, first.values), (second.users, second.items, second.values), strict=True)
    users, items, values = (np.concatenate(pair) for pair in pairs)
    return Ratings(users, items, values)
