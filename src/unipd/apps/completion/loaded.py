"""A model read from a file; it answers what the estimator answers."""

from __future__ import annotations

import os
from typing import Any

from unipd._typing import IntArray
from unipd.apps.completion.fitted import Fitted
from unipd.apps.completion.prediction import Answers
from unipd.apps.completion.rated import Rated
from unipd.errors import FileFormatError
from unipd.io.saved_result import SavedResult


class LoadedModel(Answers):
    """A completion model from a file: predictions, scores and recommendations as the estimator's, and no fit."""

    def __init__(self, model: Fitted, rated: Rated, result: SavedResult) -> None:
        self._fitted, self._rated = model, rated
        self.result_ = result
        """The result of the fit, as it was saved."""

    def _model(self) -> Fitted:
        return self._fitted

    def _rated_by(self, place: int) -> IntArray:
        return self._rated.by(place)


def load_fitted(path: str | os.PathLike[str]) -> LoadedModel:
    """Read a model that :meth:`unipd.MatrixCompletion.save` or ``unipd complete --out`` wrote.

    Examples
    --------
    >>> import tempfile, unipd
    >>> model = unipd.MatrixCompletion(2.0).fit(([1, 1, 2], [5, 6, 5], [3.0, 4.0, 5.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load_fitted(model.save(f"{folder}/model.npz"))
    >>> bool(loaded.predict([(2, 6)]) == model.predict([(2, 6)])), loaded.recommend(2)[0]
    (True, array([6]))
    """
    from unipd.io.results import load

    saved = load(path)
    content: Any = saved.extra.get("completion")
    if not isinstance(content, dict):
        raise FileFormatError(str(path), "a result, but not of a completion model")
    own, rated = dict[str, Any](content), Rated.taken_from(content)
    for name in Rated.NAMES:
        own.pop(name, None)
    model = Fitted.of_arrays(own)
    if not rated.fits(len(model.users), len(model.items)):
        raise FileFormatError(str(path), "what every user rated does not fit the model")
    return LoadedModel(model, rated, saved)
